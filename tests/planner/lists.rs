//! Lists as far as they are asked for: a number of entries, a kind, a name and times, with the exact arguments.

use toolwire::planner::Step;

use super::offered::Bench;

/// The arguments of each call for a message behind others.
fn calls(bench: &Bench, earlier: &[&str], said: &str) -> Vec<String> {
    let Step::Call(calls) = bench.decide(earlier, said).step else { return Vec::new() };
    let shown = |(name, value): (&String, &serde_json::Value)| {
        format!(" {name}={}", value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    };
    calls.iter().map(|it| it.tool.clone() + &it.arguments.iter().map(shown).collect::<String>()).collect()
}

#[test]
fn a_list_is_limited_to_what_is_said() {
    let bench = Bench::new();
    for (earlier, said, expected) in [
        ("", "When did I last buy Apple?", "get_activity limit=1 side=BUY symbol=AAPL"),
        ("", "my last deposit", "get_transfers limit=1 type=deposit"),
        ("", "the most recent sale", "get_activity limit=1 side=SELL"),
        ("", "my last deposits", "get_transfers type=deposit"),
        ("", "trades in Sept '24", "get_activity since=2024-09-01 until=2024-09-30"),
        ("", "trades on 12 June '24", "get_activity since=2024-06-12 until=2024-06-12"),
        ("", "trades in June that I made", "get_activity since=2025-06-01 until=2025-06-30"),
        ("", "trades in nov 24", "get_activity since=2025-11-24 until=2025-11-24"),
        ("", "last 2 withdrawals", "get_transfers limit=2 type=withdrawal"),
        ("", "what did I buy and sell in December", "get_activity since=2025-12-01 until=2025-12-31"),
        ("", "Show my deposits and withdrawals", "get_transfers"),
        ("show my trades", "what about Apple?", "get_activity symbol=AAPL"),
        ("price of Apple", "show my trades", "get_activity"),
        ("", "trades between March and June 2024", "get_activity since=2024-03-01 until=2024-06-30"),
        ("", "deposits after October 2025", "get_transfers since=2025-11-01 type=deposit"),
        ("", "trades from November to March 2025", "get_activity since=2024-11-01 until=2025-03-31"),
        ("", "show 2 deposits", "get_transfers limit=2 type=deposit"),
        ("", "show my last 5 trades", "get_activity limit=5"),
        ("", "what did I sell in Q3 2025", "get_activity side=SELL since=2025-07-01 until=2025-09-30"),
        ("", "what did I sell in 2025 Q3", "get_activity side=SELL since=2025-07-01 until=2025-09-30"),
        (
            "",
            "what did I sell in the third quarter of 2025",
            "get_activity side=SELL since=2025-07-01 until=2025-09-30",
        ),
        ("", "what did I sell in Q3 of 2025", "get_activity side=SELL since=2025-07-01 until=2025-09-30"),
        ("", "my trades in H1 2025", "get_activity since=2025-01-01 until=2025-06-30"),
        ("", "my trades in 2025", "get_activity since=2025-01-01 until=2025-12-31"),
    ] {
        let earlier: &[_] = if earlier.is_empty() { &[] } else { &[earlier] };
        assert_eq!(calls(&bench, earlier, said), [expected], "{earlier:?} {said}");
    }
}

#[test]
fn what_a_list_cannot_be_limited_to_is_asked() {
    let bench = Bench::new();
    for (earlier, said) in [
        ("", "deposits above $2000"),
        ("", "withdrawals under 2000"),
        ("", "only my stocks, no funds"),
        ("", "last year deposits"),
        ("", "show my 3 biggest deposits"),
        ("what did I buy in 2024", "and sold?"),
        ("show my trades", "only between March and June 2025"),
        ("", "sales before 1 August 2025"),
        ("", "everything I bought before March 2025"),
        ("", "buys of VTI up to 2025"),
        ("", "trades from June 2025 to March 2024"),
        ("", "first 3 trades"),
        ("", "show the first 3 trades"),
        ("", "list 4 recent withdrawals"),
        ("", "show my first 3 trades"),
        ("", "show deposits over 500"),
        ("", "show my deposits of 500"),
        ("what did I buy in September 2024", "and in October?"),
        ("what did I buy in September 2024", "what about November?"),
        ("what did I buy in September 2024", "and in October 2023?"),
        ("my deposits in 2024", "only those of March"),
        ("what did I buy in September", "and in October?"),
        ("Show my recent trades", "only those of December"),
    ] {
        let earlier: &[_] = if earlier.is_empty() { &[] } else { &[earlier] };
        let step = bench.decide(earlier, said).step;
        assert!(matches!(step, Step::Offer { .. } | Step::Clarify(_)), "{earlier:?} {said}: {step:?}");
    }
}
