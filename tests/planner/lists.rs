//! Lists as far as they are asked for: both ends of a ranking, a number of entries, and times.

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
fn both_ends_of_a_ranking_are_two_calls() {
    let bench = Bench::new();
    let both = ["rank_portfolio direction=best", "rank_portfolio direction=worst"];
    for said in [
        "top gainer and top loser in my portfolio",
        "most and least profitable stock",
        "the most and the least profitable of my stocks",
        "My most profitable and least profitable position",
        "my biggest winner and biggest loser",
        "What are my best and worst stocks?",
    ] {
        assert_eq!(calls(&bench, &[], said), both, "{said}");
    }
    for (said, expected) in [
        ("top losers in my portfolio", "rank_portfolio direction=worst"),
        ("my most profitable stock", "rank_portfolio direction=best"),
        ("my least profitable stock", "rank_portfolio direction=worst"),
        ("holdings from worst to best", "rank_portfolio direction=worst"),
    ] {
        assert_eq!(calls(&bench, &[], said), [expected], "{said}");
    }
}
