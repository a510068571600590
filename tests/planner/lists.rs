//! Lists as far as they are asked for: both ends of a ranking, a number of entries, and times.

use toolwire::planner::{Exchange, Step};

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

#[test]
fn a_number_before_what_it_counts_is_how_many_are_shown() {
    let bench = Bench::new();
    for (said, expected) in [
        ("show 2 deposits", "get_transfers limit=2 type=deposit"),
        ("first 3 trades", "get_activity limit=3"),
        ("show the first 3 trades", "get_activity limit=3"),
        ("list 4 recent withdrawals", "get_transfers limit=4 type=withdrawal"),
        ("show my last 5 trades", "get_activity limit=5"),
        // The oldest ones, which the tool cannot be asked for.
        ("show my first 3 trades", "get_activity"),
        ("show deposits over 500", "get_transfers type=deposit"),
        ("show my deposits of 500", "get_transfers type=deposit"),
    ] {
        assert_eq!(calls(&bench, &[], said), [expected], "{said}");
    }
}

#[test]
fn a_quarter_and_a_half_of_a_year_are_dates() {
    let bench = Bench::new();
    for said in [
        "what did I sell in Q3 2025",
        "what did I sell in 2025 Q3",
        "what did I sell in the third quarter of 2025",
        "what did I sell in Q3 of 2025",
    ] {
        let expected = "get_activity side=SELL since=2025-07-01 until=2025-09-30";
        assert_eq!(calls(&bench, &[], said), [expected], "{said}");
    }
    let expected = "get_activity since=2025-01-01 until=2025-06-30";
    assert_eq!(calls(&bench, &[], "my trades in H1 2025"), [expected]);
    let expected = "get_activity since=2025-01-01 until=2025-12-31";
    assert_eq!(calls(&bench, &[], "my trades in 2025"), [expected]);
}

#[test]
fn a_month_behind_a_time_that_has_ended_is_of_its_year() {
    let bench = Bench::new();
    let september = "what did I buy in September 2024";
    for (earlier, said, expected) in [
        (september, "and in October?", "get_activity side=BUY since=2024-10-01 until=2024-10-31"),
        (september, "what about November?", "get_activity side=BUY since=2024-11-01 until=2024-11-30"),
        (september, "and in October 2023?", "get_activity side=BUY since=2023-10-01 until=2023-10-31"),
        (
            "my deposits in 2024",
            "only those of March",
            "get_transfers since=2024-03-01 type=deposit until=2024-03-31",
        ),
        (
            "what did I buy in September",
            "and in October?",
            "get_activity side=BUY since=2025-10-01 until=2025-10-31",
        ),
        ("Show my recent trades", "only those of December", "get_activity since=2025-12-01 until=2025-12-31"),
    ] {
        assert_eq!(calls(&bench, &[earlier], said), [expected], "{earlier} {said}");
    }
}

/// One kind, or one name. All kinds are as good as none.
#[test]
fn a_list_is_narrowed_to_a_kind_and_a_name() {
    let bench = Bench::new();
    for (earlier, said, expected) in [
        ("", "When did I last buy Apple?", "get_activity limit=1 side=BUY symbol=AAPL"),
        ("", "my last deposit", "get_transfers limit=1 type=deposit"),
        ("", "the most recent sale", "get_activity limit=1 side=SELL"),
        ("", "my last deposits", "get_transfers type=deposit"),
        ("", "trades in Sept '24", "get_activity since=2024-09-01 until=2024-09-30"),
        ("", "deposits above $2000", "get_transfers type=deposit"),
        ("", "withdrawals under 2000", "get_transfers type=withdrawal"),
        ("", "only my stocks, no funds", "get_positions_list asset_class=stocks"),
        ("", "trades on 12 June '24", "get_activity since=2024-06-12 until=2024-06-12"),
        ("", "trades in June that I made", "get_activity since=2025-06-01 until=2025-06-30"),
        ("", "trades in nov 24", "get_activity since=2025-11-24 until=2025-11-24"),
        ("", "last year deposits", "get_transfers since=2025-01-01 type=deposit until=2025-12-31"),
        ("", "last 2 withdrawals", "get_transfers limit=2 type=withdrawal"),
        ("", "show my 3 biggest deposits", "get_transfers limit=3 type=deposit"),
        ("", "what did I buy and sell in December", "get_activity since=2025-12-01 until=2025-12-31"),
        ("", "Show my deposits and withdrawals", "get_transfers"),
        ("what did I buy in 2024", "and sold?", "get_activity side=SELL since=2024-01-01 until=2024-12-31"),
        ("show my trades", "what about Apple?", "get_activity symbol=AAPL"),
        (
            "show my trades",
            "only between March and June 2025",
            "get_activity since=2025-03-01 until=2025-06-30",
        ),
        // It is about no earlier name.
        ("price of Apple", "show my trades", "get_activity"),
        ("", "trades between March and June 2024", "get_activity since=2024-03-01 until=2024-06-30"),
        ("", "sales before 1 August 2025", "get_activity side=SELL until=2025-07-31"),
        ("", "everything I bought before March 2025", "get_activity side=BUY until=2025-02-28"),
        ("", "deposits after October 2025", "get_transfers since=2025-11-01 type=deposit"),
        ("", "buys of VTI up to 2025", "get_activity side=BUY symbol=VTI until=2025-12-31"),
        // It is said as it is, and the tool rejects it.
        ("", "trades from June 2025 to March 2024", "get_activity since=2025-06-01 until=2024-03-31"),
        ("", "trades from November to March 2025", "get_activity since=2024-11-01 until=2025-03-31"),
    ] {
        let earlier: &[_] = if earlier.is_empty() { &[] } else { &[earlier] };
        assert_eq!(calls(&bench, earlier, said), [expected], "{earlier:?} {said}");
    }
}

#[test]
fn kinds_and_names_that_a_list_is_not_narrowed_to_are_told() {
    let bench = Bench::new();
    let wanted = |said: &str| {
        let Step::Call(calls) = bench.plan(&[] as &[Exchange], said).step else { panic!("{said}") };
        let wanted = bench.left_out(said, &calls).wanted;
        wanted.into_iter().map(|it| format!("{}={}", it.said, it.values.join(","))).collect::<Vec<_>>()
    };
    for (said, expected) in [
        ("Show my pending deposits", &["pending=pending"][..]),
        ("When did I last buy Apple?", &[]),
        ("Show my buys and sells", &[]),
        ("Show my deposits and withdrawals", &[]),
        ("Show my recent trades", &[]),
        ("transfers on 12 January 2026", &[]),
        ("Which bonds do I hold?", &[]),
        ("Which of my stocks did best?", &[]),
    ] {
        assert_eq!(wanted(said), expected, "{said}");
    }
}
