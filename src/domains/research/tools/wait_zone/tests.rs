//! The profiles of the specification, by table: what hits, what only equals, and in which words.

use super::*;

fn zone(profile: &str) -> WaitZone {
    WaitZone::from(&settings::Profiles::default().wait_zone[profile])
}

fn observed(rsi: f64, sma50: f64, sma200: f64) -> Observation {
    Observation {
        rsi_14: Some(rsi),
        price_vs_sma50_pct: Some(sma50),
        price_vs_sma200_pct: Some(sma200),
        days: 300,
    }
}

#[test]
fn each_profile_waits_for_its_own_reasons() {
    let table: [(&str, Observation, &[&str]); 17] = [
        ("value", observed(38.0, 5.0, 5.0), &[]),
        ("value", observed(72.0, 18.0, 5.0), &["RSI 72 > 40 (not value)", "+18% above SMA50 (extended)"]),
        ("value", observed(40.0, 15.0, 40.0), &[]),
        ("value", observed(40.3, 0.0, 0.0), &["RSI 40.3 > 40 (not value)"]),
        ("value", observed(40.5, 0.0, 0.0), &["RSI 40.5 > 40 (not value)"]),
        ("value", observed(40.6, 0.0, 0.0), &["RSI 41 > 40 (not value)"]),
        ("value", observed(30.0, 15.2, 0.0), &["+15.2% above SMA50 (extended)"]),
        ("value", observed(30.0, 0.0, 41.0), &["+41% above SMA200 (very extended)"]),
        ("value", observed(30.0, -20.0, -30.0), &[]),
        ("core", observed(75.0, 20.0, 40.0), &[]),
        (
            "core",
            observed(76.0, 21.0, 41.0),
            &["RSI 76 > 75 (overbought)", "+21% above SMA50 (extended)", "+41% above SMA200 (very extended)"],
        ),
        ("core", observed(50.0, 0.0, -5.0), &["5% below SMA200 (downtrend)"]),
        ("core", observed(50.0, 0.0, -0.2), &["0.2% below SMA200 (downtrend)"]),
        ("core", observed(50.0, 0.0, 0.0), &[]),
        ("momentum", observed(82.0, 30.0, 500.0), &[]),
        (
            "momentum",
            observed(82.4, 30.4, 1.0),
            &["RSI 82.4 > 82 (overbought)", "+30.4% above SMA50 (extended)"],
        ),
        ("momentum", observed(50.0, 0.0, -5.0), &["5% below SMA200 (downtrend)"]),
    ];
    for (profile, observed, reasons) in table {
        assert_eq!(zone(profile).reasons(&observed), reasons, "{profile} {observed:?}");
    }
}

#[test]
fn what_is_not_known_counts_as_wait() {
    let young = Observation { price_vs_sma200_pct: None, days: 137, ..observed(30.0, 0.0, 0.0) };
    let too_young = "insufficient history: SMA200 needs 200 days of prices, there are 137";
    assert_eq!(zone("value").reasons(&young), [too_young]);
    assert_eq!(zone("core").reasons(&young), [too_young], "once, although two rules look at it");
    let hot = Observation { rsi_14: Some(90.0), days: 20, ..Observation::default() };
    let reasons = [
        "RSI 90 > 40 (not value)",
        "insufficient history: SMA50 needs 50 days of prices, there are 20",
        "insufficient history: SMA200 needs 200 days of prices, there are 20",
    ];
    assert_eq!(zone("value").reasons(&hot), reasons);
}

#[test]
fn what_no_rule_looks_at_need_not_be_known() {
    let only_rsi =
        WaitZone::from(&settings::WaitZone { max_rsi: Some(37.5), ..settings::WaitZone::default() });
    let observed = |rsi| Observation { rsi_14: Some(rsi), ..Observation::default() };
    assert_eq!(only_rsi.reasons(&observed(37.5)), [""; 0]);
    assert_eq!(only_rsi.reasons(&observed(37.6)), ["RSI 38 > 37.5 (not value)"]);
}
