//! The settings of the research tools, under their real names.

use super::*;
use crate::sources::specs;
use toolwire_config::{ConfigError, Flags, Loaded, print, testing};
use toolwire_sources::upstream::source::SourceSpec;

const APPLICATION: [(&str, &str); 3] = [
    ("TOOLWIRE_REDDIT_CLIENT_ID", "an-id"),
    ("TOOLWIRE_REDDIT_CLIENT_SECRET", "s3cret-of-the-app"),
    ("TOOLWIRE_REDDIT_USER_NAME", "riley"),
];

fn loaded(file: &str, variables: &[(&str, &str)], mode: Option<&str>) -> Result<Loaded, ConfigError> {
    let sources = specs::ALL.map(|spec| ("research", spec)).into();
    let sections = [upstream::settings::section(sources), section().of("research")];
    testing::load_text(file, variables, Flags::default().set("sources.mode", mode), &sections)
}

#[track_caller]
fn refused(file: &str, variables: &[(&str, &str)]) -> String {
    loaded(file, variables, None).unwrap_err().to_string()
}

#[test]
fn profiles_stand_in_the_file_over_the_built_in_ones() {
    let file = "[wait_zone.value]\nmax_rsi = 35\n[wait_zone.deep_value]\nmax_rsi = 30\nwait_below_sma200 = true\n\
        [forbidden.strict]\nmin_roe_pct = 15.5\ndeny = ['YESBANK']";
    let first = loaded(file, &[], None).unwrap();
    let profiles = &first.config.part::<Settings>().profiles;
    let names: Vec<_> = profiles.wait_zone.keys().collect();
    assert_eq!(names, ["core", "deep_value", "momentum", "value"]);
    let value = profiles.wait_zone["value"];
    assert_eq!((value.max_rsi, value.max_above_sma50_pct), (Some(35.0), None), "replaced whole");
    assert_eq!(profiles.forbidden["strict"].deny, ["YESBANK"]);
    let second = loaded(&print(&first), &[], None).unwrap();
    assert_eq!(second.config.part::<Settings>().profiles, *profiles, "what is printed is understood again");
}

#[test]
fn a_profile_that_means_nothing_is_refused() {
    let error = |file: &str| refused(file, &[]);
    assert!(error("[wait_zone.value]\nmax_rsy = 35").contains("Did you mean max_rsi?"));
    assert!(
        error("[wait_zone.value]\nmax_rsi = 'high'").contains("wait_zone.value.max_rsi: expected a number")
    );
    assert!(error("[wait_zone]\nmax_rsi = 40").contains("wait_zone.max_rsi: expected a table"));
    assert!(error("[wait_zone.none]\nwait_below_sma200 = false").contains("wait_zone.none: has no rule"));
    assert!(error("[forbidden.none]\ndeny = []").contains("forbidden.none: has no rule"));
    assert!(error("[wait_zone.'Big Value']\nmax_rsi = 40").contains("expected a name such as deep_value"));
    assert!(error("[wait_zones.value]\nmax_rsi = 40").contains("wait_zones: unknown setting"));
    assert!(error("[forbidden.strict]\nmax_pe = inf").contains("toolwire.toml:2: forbidden.strict.max_pe"));
}

#[test]
fn screens_and_credentials_are_read_and_the_secret_is_hidden() {
    let file =
        "[[sources.screener.screens]]\nuser_id = 'riley'\nscreen_id = 'default'\npath = 'screens/1/mine/'";
    let first = loaded(file, &APPLICATION, Some("live")).unwrap();
    assert_eq!(first.warnings, []);
    assert_eq!(first.config.part::<Settings>().screens[0].path, "screens/1/mine/");
    let printed = print(&first);
    assert!(!printed.contains("s3cret-of-the-app"), "{printed}");
    assert!(printed.contains("# TOOLWIRE_REDDIT_CLIENT_SECRET = \"[hidden]\""), "{printed}");
    let again = loaded(&printed, &APPLICATION, None).unwrap().config;
    assert_eq!(format!("{again:?}"), format!("{:?}", first.config));
}

#[test]
fn a_screen_is_one_of_the_known_ones() {
    let screen = "[[sources.screener.screens]]\nuser_id = 'a'\nscreen_id = 'mine'\npath = 'x'";
    let error = refused(screen, &[]);
    assert!(error.contains("sources.screener.screens.0: screen_id must be one of"), "{error}");
    let error = refused("[[sources.screener.screens]]\nuser_id = 'a'", &[]);
    assert!(error.contains("screen_id is missing") && error.contains("path is missing"), "{error}");
}

#[test]
fn an_application_is_known_whole_or_not_at_all() {
    let error = refused("", &APPLICATION[..2]);
    assert!(error.starts_with("variable TOOLWIRE_REDDIT_USER_NAME: is not set"), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    let spaced = [APPLICATION[0], ("TOOLWIRE_REDDIT_CLIENT_SECRET", "s3cret of the app"), APPLICATION[2]];
    let error = refused("", &spaced);
    assert!(error.contains("without spaces") && !error.contains("s3cret of the app"), "{error}");
}

#[test]
fn what_only_a_live_source_needs_is_refused_while_it_is_embedded_but_for_credentials() {
    let file =
        "[[sources.screener.screens]]\nuser_id = 'riley'\nscreen_id = 'default'\npath = 'screens/1/mine/'";
    let error = refused(file, &APPLICATION);
    assert!(error.contains("toolwire.toml:1: sources.screener.screens: have no effect"), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    let warnings = loaded(file, &APPLICATION, Some("embedded")).unwrap().warnings;
    let places: Vec<_> = warnings.iter().map(|warning| warning.at.as_str()).collect();
    let [screens, reddit] = places.as_slice() else { panic!("{warnings:?}") };
    assert!(screens.ends_with("toolwire.toml:1: sources.screener.screens"), "{screens}");
    assert_eq!(*reddit, "variable TOOLWIRE_REDDIT_CLIENT_ID");
}

#[test]
fn the_limits_are_those_of_the_specification() {
    let usual = specs::ALL.map(|SourceSpec { name, budget, .. }| {
        (name, budget.max_requests, budget.window.as_secs(), budget.min_delay.as_millis())
    });
    let expected = [
        ("yahoo", 60, 60, 1_000),
        ("valuepickr", 12, 60, 5_000),
        ("reddit", 30, 60, 2_000),
        ("news", 12, 60, 5_000),
        ("screener", 6, 60, 10_000),
        ("nse", 3, 1, 350),
    ];
    assert_eq!(usual, expected);
}

#[test]
fn a_user_agent_reaches_every_source_that_needs_no_name_of_its_own() {
    let of_their_own: Vec<_> =
        specs::ALL.iter().filter(|spec| spec.names_itself).map(|spec| spec.name).collect();
    assert_eq!(of_their_own, ["reddit", "screener"]);
    let variable = [("TOOLWIRE_SOURCES_USER_AGENT", "x")];
    for (mode, has_effect) in [("reddit", false), ("screener", false), ("nse", true), ("news", true)] {
        let file = format!("[sources]\nmode = 'embedded,{mode}=live'");
        assert_eq!(loaded(&file, &variable, None).is_ok(), has_effect, "{mode}");
    }
}
