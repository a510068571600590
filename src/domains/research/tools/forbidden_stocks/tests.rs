//! The rules by table: what violates, what only equals, what is not known.

use super::*;

fn sound() -> Facts {
    Facts {
        market_cap_cr: Some(500.0),
        pe: Some(80.0),
        roe_pct: Some(8.0),
        debt_to_equity: Some(2.0),
        price: Some(20.0),
        turnover_cr: Some(1.0),
        rsi_14: Some(80.0),
    }
}

fn default_rules() -> Forbidden {
    Forbidden::from(&settings::Profiles::default().forbidden["default"])
}

/// The rule and the words of each finding.
fn found(rules: &Forbidden, symbol: &str, facts: &Facts) -> Vec<String> {
    let in_words = |finding| match finding {
        Finding::Denied => "denied".to_owned(),
        Finding::Violated { bound, observed } => {
            format!("{}: {}", bound.rule.into_str(), bound.reason(observed))
        }
        Finding::Unknown(rule) => format!("{}: unknown", rule.into_str()),
    };
    rules.findings(symbol, facts).map(in_words).collect()
}

#[test]
fn thresholds_themselves_pass() {
    assert_eq!(found(&default_rules(), "X", &sound()), [""; 0]);
}

#[test]
fn each_rule_is_violated_beyond_its_threshold() {
    let table = [
        (
            Facts { market_cap_cr: Some(499.6), ..sound() },
            "min_market_cap_cr: market capitalisation 499.6 < 500 crore rupees",
        ),
        (Facts { pe: Some(-4.2), ..sound() }, "min_pe: P/E -4.2 ≤ 0"),
        (Facts { pe: Some(0.0), ..sound() }, "min_pe: P/E 0 ≤ 0"),
        (Facts { pe: Some(92.0), ..sound() }, "max_pe: P/E 92 > 80"),
        (Facts { roe_pct: Some(-3.0), ..sound() }, "min_roe_pct: return on equity -3 < 8%"),
        (Facts { debt_to_equity: Some(2.1), ..sound() }, "max_debt_to_equity: debt to equity 2.1 > 2"),
        (Facts { price: Some(7.25), ..sound() }, "min_price: price 7.2 < 20 rupees"),
        (Facts { turnover_cr: Some(0.3), ..sound() }, "min_turnover_cr: daily turnover 0.3 < 1 crore rupees"),
        (Facts { rsi_14: Some(80.1), ..sound() }, "max_rsi: RSI 80.1 > 80"),
    ];
    for (facts, expected) in table {
        assert_eq!(found(&default_rules(), "X", &facts), [expected]);
    }
}

#[test]
fn what_is_not_known_is_unknown_and_never_passed() {
    let expected = [
        "min_market_cap_cr: unknown",
        "min_pe: unknown",
        "max_pe: unknown",
        "min_roe_pct: unknown",
        "max_debt_to_equity: unknown",
        "min_price: unknown",
        "min_turnover_cr: unknown",
        "max_rsi: unknown",
    ];
    assert_eq!(found(&default_rules(), "X", &Facts::default()), expected);
}

#[test]
fn a_denied_symbol_is_denied_in_any_spelling() {
    let table =
        settings::Forbidden { deny: vec![" yesbank.ns ".to_owned()], ..settings::Forbidden::default() };
    let rules = Forbidden::from(&table);
    assert_eq!(found(&rules, "YESBANK", &Facts::default()), ["denied"]);
    assert_eq!(found(&rules, "RELIANCE", &Facts::default()), [""; 0], "rules that are left out ask nothing");
}

#[test]
fn rules_on_fundamentals_are_told_from_others() {
    let names: Vec<_> = default_rules().fundamental_rules().collect();
    assert_eq!(names, ["min_market_cap_cr", "min_pe", "max_pe", "min_roe_pct", "max_debt_to_equity"]);
    assert!(default_rules().asks_for_turnover());
}
