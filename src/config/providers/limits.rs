//! How much may be asked of a provider: keys of `[providers.NAME]`, named as those of a source are.

use std::time::Duration;

use crate::{fields::Fields, value::Value};

/// The window where none is set.
const WINDOW: Duration = Duration::from_mins(1);

const OF_USER: [&str; 3] = ["max_requests", "window", "min_delay"];
const OF_ALL: [&str; 3] = ["ceiling_max_requests", "ceiling_window", "ceiling_min_delay"];

/// Limits of calls to a provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProviderLimits {
    /// Calls of each user. Default none but those of all.
    pub per_user: Option<RequestLimit>,
    /// Calls of all users together. Default none.
    pub all: Option<RequestLimit>,
}

/// The maximum number of calls in each window, and the gap between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestLimit {
    /// `max_requests`, `ceiling_max_requests`.
    pub max_requests: u32,
    /// `window`, `ceiling_window`. Default `1m`.
    pub window: Duration,
    /// `min_delay`, `ceiling_min_delay`. Default none.
    pub min_delay: Duration,
}

impl ProviderLimits {
    pub(super) fn read(entry: &mut Fields) -> Self {
        Self { per_user: RequestLimit::read(entry, OF_USER), all: RequestLimit::read(entry, OF_ALL) }
    }

    pub(super) fn to_pairs(self) -> Vec<(&'static str, String)> {
        let of_user = self.per_user.map(|it| it.to_pairs(OF_USER));
        of_user.into_iter().chain(self.all.map(|it| it.to_pairs(OF_ALL))).flatten().collect()
    }
}

impl RequestLimit {
    fn read(entry: &mut Fields, [number, window, delay]: [&'static str; 3]) -> Option<Self> {
        let max_requests = entry.optional::<u32>(number);
        let (length, min_delay) = (entry.optional::<Duration>(window), entry.optional::<Duration>(delay));
        let is_limited = entry.has(number);
        for name in [window, delay] {
            if !is_limited && entry.has(name) {
                entry.problem(format!("{name} has no effect without {number}; set it too, or remove {name}"));
            }
        }
        for (name, is_zero) in
            [(number, max_requests == Some(0)), (window, length.is_some_and(|it| it.is_zero()))]
        {
            if is_zero {
                entry.problem(format!("{name} must be more than zero: nothing could be asked"));
            }
        }
        Some(Self {
            max_requests: max_requests?,
            window: length.unwrap_or(WINDOW),
            min_delay: min_delay.unwrap_or_default(),
        })
    }

    fn to_pairs(self, [number, window, delay]: [&'static str; 3]) -> [(&'static str, String); 3] {
        [
            (number, self.max_requests.to_toml()),
            (window, self.window.to_toml()),
            (delay, self.min_delay.to_toml()),
        ]
    }
}
