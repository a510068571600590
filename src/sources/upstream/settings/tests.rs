//! Sources that a toy domain brings, as they are set.

use std::time::Duration;

use super::*;
use crate::upstream::{limiter::Budget, source::Address};
use toolwire_config::{ConfigError, Flags, Loaded, print, testing};

const MINUTE: Duration = Duration::from_mins(1);
const FORUM: SourceSpec = SourceSpec {
    name: "forum",
    title: "The Forum",
    addresses: &[Address::new("base_url", "https://forum.example.com/")],
    budget: Budget { max_requests: 12, window: MINUTE, min_delay: Duration::from_secs(5) },
    timeout: Duration::from_secs(10),
    names_itself: false,
    takes_users_credentials: false,
};
const PRICES: SourceSpec = SourceSpec {
    name: "prices",
    addresses: &[
        Address::new("base_url", "https://prices.example.com/"),
        Address::new("cookie_url", "https://cookies.example.com/"),
    ],
    budget: Budget { max_requests: 60, ..FORUM.budget },
    names_itself: true,
    takes_users_credentials: false,
    ..FORUM
};

fn loaded(file: &str, variables: &[(&str, &str)], mode: Option<&str>) -> Result<Loaded, ConfigError> {
    let sources = section(vec![("toys", FORUM), ("toys", PRICES)]);
    testing::load_text(file, variables, Flags::default().set("sources.mode", mode), &[sources])
}

#[track_caller]
fn refused(file: &str, variables: &[(&str, &str)], mode: Option<&str>) -> String {
    loaded(file, variables, mode).unwrap_err().to_string()
}

#[test]
fn sources_are_set_like_everything_else() {
    let file = "[sources.forum]\nmin_delay = '250ms'";
    let variables = [
        ("TOOLWIRE_SOURCES_PRICES_BASE_URL", "http://127.0.0.1:9/prices"),
        ("TOOLWIRE_SOURCES_PRICES_MAX_REQUESTS", "7"),
        ("TOOLWIRE_SOURCES_COOL_DOWN_BLOCKED", "1h"),
    ];
    let first = loaded(file, &variables, Some("embedded,prices=live")).unwrap();
    let settings = first.config.part::<Settings>();
    assert!(!settings.is_embedded("prices") && settings.is_embedded("forum"));
    assert_eq!(settings.address(&PRICES, "base_url").as_str(), "http://127.0.0.1:9/prices/");
    assert_eq!(settings.address(&PRICES, "cookie_url").as_str(), "https://cookies.example.com/");
    assert_eq!(settings.budgets(&PRICES).per_user.max_requests, 7);
    assert_eq!(settings.budgets(&FORUM).per_user.min_delay, Duration::from_millis(250));
    assert_eq!(settings.cool_down.blocked, Duration::from_hours(1));
    let again = loaded(&print(&first), &[], None).unwrap();
    assert_eq!(format!("{:?}", again.config), format!("{:?}", first.config));
}

#[test]
fn what_no_source_can_be_set_to_is_refused() {
    let error = refused("", &[], Some("lives"));
    assert!(error.starts_with("flag --sources: expected embedded or live"), "{error}");
    let error = refused("", &[("TOOLWIRE_SOURCES_FORUM_BASE_URL", "forum")], None);
    assert!(error.starts_with("variable TOOLWIRE_SOURCES_FORUM_BASE_URL: expected an address"), "{error}");
    let error =
        refused("[sources.prices]\nwindow = '0s'\ntimeout = '0s'\n[sources.price]\nwindow='1s'", &[], None);
    assert_eq!(error.lines().count(), 3, "{error}");
    let error = refused("[sources]\nuser_agent = ''\n[sources.cool_down]\nblocked = '9999h'", &[], None);
    assert!(error.contains("visible ASCII") && error.contains("toolwire.toml:4: "), "{error}");
}

#[test]
fn a_live_source_has_its_own_limits_and_an_embedded_one_more_room() {
    let mut settings = Settings { mode: Modes::parse("live", &[]).unwrap(), ..Settings::default() };
    let live = Budget { max_requests: 12, window: MINUTE, min_delay: Duration::from_secs(5) };
    assert_eq!(settings.budgets(&FORUM), Budgets { per_user: live, ceiling: live });
    settings.mode = Modes::default();
    let embedded = Budget { max_requests: 120, window: MINUTE, min_delay: Duration::ZERO };
    assert_eq!(settings.budgets(&FORUM), Budgets { per_user: embedded, ceiling: embedded });
    let set = SourceSettings { min_delay: Some(Duration::from_millis(7)), ..SourceSettings::default() };
    settings.sources.insert("forum".to_owned(), set);
    let spaced = Budget { min_delay: Duration::from_millis(7), ..embedded };
    assert_eq!(settings.budgets(&FORUM), Budgets { per_user: spaced, ceiling: embedded });
}

#[test]
fn two_domains_that_bring_the_same_source_are_both_named() {
    let sources = section(vec![("toys", FORUM), ("games", FORUM)]);
    let error = testing::load_text("", &[], Flags::default(), &[sources]).unwrap_err().to_string();
    assert_eq!(
        error,
        "the domain toys and the domain games: both bring the source forum; it can belong to one only"
    );
}

#[test]
fn what_has_no_effect_is_refused_and_only_reported_where_a_flag_is_why() {
    let variables =
        [("TOOLWIRE_SOURCES_PRICES_BASE_URL", "http://127.0.0.1:9/"), ("TOOLWIRE_SOURCES_USER_AGENT", "x")];
    let file = "[sources.cool_down]\nblocked = '1h'";
    let error = refused(file, &variables, None);
    assert_eq!(error.matches("has no effect").count(), 3, "{error}");
    assert!(error.contains("toolwire.toml:2: sources.cool_down.blocked"), "{error}");
    assert!(error.contains("embedded,prices=live"), "{error}");
    let warnings = |mode| loaded(file, &variables, Some(mode)).unwrap().warnings;
    assert_eq!(warnings("embedded").len(), 3);
    assert_eq!(warnings("live"), []);
    let [warning] = warnings("embedded,prices=live").try_into().unwrap();
    assert_eq!(warning.at, "variable TOOLWIRE_SOURCES_USER_AGENT", "prices says itself who asks");
    assert!(refused("[sources]\nmode = 'embedded,prices=live'", &variables[1..], None).contains("no effect"));
}

#[test]
fn a_configuration_as_printed_is_loaded_without_warnings() {
    let printed = print(&loaded("", &[], None).unwrap());
    assert_eq!(loaded(&printed, &[], None).unwrap().warnings, []);
}
