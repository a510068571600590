//! The settings of each source: its addresses, its limits, its time-out. The same words for all of them.
//!
//! A macro rather than a shared part that is flattened in: numbers from variables are not understood there.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use url::Url;

use super::{Budget, Screen, base_url};
use crate::config::{duration, setting::Setting};

/// One source: its table, the middle of its variables, its limits (requests, window, spacing), its addresses.
macro_rules! source {
    (
        $(#[$doc:meta])*
        $name:ident = [$key:literal, $variable:literal], ($most:literal, $window:expr, $delay:expr);
        $($what:literal $url:ident [$suffix:literal] = $default:literal;)+
        $($(#[$attribute:meta])* + $extra:ident: $type:ty;)*
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $(
                #[doc = concat!($what, ". `TOOLWIRE_SOURCES_", $variable, $suffix, "`, default `", $default, "`.")]
                #[serde(deserialize_with = "base_url::deserialize")]
                pub $url: Url,
            )+
            #[doc = concat!("Requests of one user in each window. `TOOLWIRE_SOURCES_", $variable, "_MAX_REQUESTS`, default ", $most, " for a live source and ten times that for an embedded one.")]
            pub max_requests: Option<u32>,
            #[doc = concat!("The user's window. `TOOLWIRE_SOURCES_", $variable, "_WINDOW`.")]
            #[serde(with = "duration")]
            pub window: Duration,
            #[doc = concat!("The least time between two requests of one user. `TOOLWIRE_SOURCES_", $variable, "_MIN_DELAY`, default spec 004's for a live source and none for an embedded one.")]
            #[serde(with = "duration::optional")]
            pub min_delay: Option<Duration>,
            #[doc = concat!("Requests of all users in each window. `TOOLWIRE_SOURCES_", $variable, "_CEILING_MAX_REQUESTS`, default as `max_requests`'.")]
            pub ceiling_max_requests: Option<u32>,
            #[doc = concat!("The window of all users. `TOOLWIRE_SOURCES_", $variable, "_CEILING_WINDOW`.")]
            #[serde(with = "duration")]
            pub ceiling_window: Duration,
            #[doc = concat!("The least time between two requests of any users. `TOOLWIRE_SOURCES_", $variable, "_CEILING_MIN_DELAY`, default as `min_delay`'s.")]
            #[serde(with = "duration::optional")]
            pub ceiling_min_delay: Option<Duration>,
            #[doc = concat!("The bound on one attempt. `TOOLWIRE_SOURCES_", $variable, "_TIMEOUT`, default the connector's own.")]
            #[serde(with = "duration::optional")]
            pub timeout: Option<Duration>,
            $($(#[$attribute])* pub $extra: $type,)*
        }

        impl $name {
            pub(super) const SETTINGS: &[Setting] = &[
                $(Setting::new(
                    concat!("sources.", $key, ".", stringify!($url)),
                    concat!("TOOLWIRE_SOURCES_", $variable, $suffix),
                ),)+
                source!(@setting $key, $variable, "max_requests", "_MAX_REQUESTS"),
                source!(@setting $key, $variable, "window", "_WINDOW"),
                source!(@setting $key, $variable, "min_delay", "_MIN_DELAY"),
                source!(@setting $key, $variable, "ceiling_max_requests", "_CEILING_MAX_REQUESTS"),
                source!(@setting $key, $variable, "ceiling_window", "_CEILING_WINDOW"),
                source!(@setting $key, $variable, "ceiling_min_delay", "_CEILING_MIN_DELAY"),
                source!(@setting $key, $variable, "timeout", "_TIMEOUT"),
            ];

            /// What is set of its limits.
            pub fn budget(&self) -> Budget {
                Budget {
                    max_requests: self.max_requests,
                    window: self.window,
                    min_delay: self.min_delay,
                    ceiling_max_requests: self.ceiling_max_requests,
                    ceiling_window: self.ceiling_window,
                    ceiling_min_delay: self.ceiling_min_delay,
                    timeout: self.timeout,
                    usual_requests: $most,
                    usual_delay: $delay,
                }
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    $($url: base_url::parse($default).expect("a literal address"),)+
                    max_requests: None,
                    window: $window,
                    min_delay: None,
                    ceiling_max_requests: None,
                    ceiling_window: $window,
                    ceiling_min_delay: None,
                    timeout: None,
                    $($extra: <$type>::default(),)*
                }
            }
        }
    };
    (@setting $key:literal, $variable:literal, $name:literal, $suffix:literal) => {
        Setting::new(
            concat!("sources.", $key, ".", $name),
            concat!("TOOLWIRE_SOURCES_", $variable, $suffix),
        )
    };
}

const MINUTE: Duration = Duration::from_mins(1);

source! {
    /// Yahoo Finance: `[sources.yahoo]`.
    Yahoo = ["yahoo", "YAHOO"], (60, MINUTE, Duration::from_secs(1));
    "The host of charts and figures" base_url["_BASE_URL"] = "https://query1.finance.yahoo.com/";
    "The host that gives the cookie" cookie_url["_COOKIE_URL"] = "https://fc.yahoo.com/";
}

source! {
    /// `ValuePickr`: `[sources.valuepickr]`.
    ValuePickr = ["valuepickr", "VALUEPICKR"], (12, MINUTE, Duration::from_secs(5));
    "The forum" base_url["_BASE_URL"] = "https://forum.valuepickr.com/";
}

source! {
    /// Reddit: `[sources.reddit]`.
    Reddit = ["reddit", "REDDIT"], (30, MINUTE, Duration::from_secs(2));
    "The host of the API" base_url["_BASE_URL"] = "https://oauth.reddit.com/";
    "The host that gives tokens" token_url["_TOKEN_URL"] = "https://www.reddit.com/";
}

source! {
    /// The news: `[sources.news]`.
    News = ["news", "NEWS"], (12, MINUTE, Duration::from_secs(5));
    "`MoneyControl`" moneycontrol_url["_MONEYCONTROL_URL"] = "https://www.moneycontrol.com/";
    "Economic Times" economic_times_url["_ECONOMIC_TIMES_URL"] = "https://economictimes.indiatimes.com/";
    "Google News" google_url["_GOOGLE_URL"] = "https://news.google.com/";
}

source! {
    /// Screener.in: `[sources.screener]`.
    Screener = ["screener", "SCREENER"], (6, MINUTE, Duration::from_secs(10));
    "The site" base_url["_BASE_URL"] = "https://www.screener.in/";
    /// Users' own screens. In the file only.
    #[serde(skip_serializing)]
    + screens: Vec<Screen>;
}

source! {
    /// NSE: `[sources.nse]`.
    Nse = ["nse", "NSE"], (3, Duration::from_secs(1), Duration::from_millis(350));
    "The site" base_url["_BASE_URL"] = "https://www.nseindia.com/";
    "The archives that hold filings" archives_url["_ARCHIVES_URL"] = "https://nsearchives.nseindia.com/";
}
