//! Wordings of many kinds, a mechanism each: prices of either market, misspelt words, Hinglish, two wishes.

use serde_json::Value;
use toolwire::planner::{PlannedCall, Step};

use super::offered::Bench;

/// The calls for a message, each as its tool with the values of its arguments; empty without one.
fn calls(bench: &Bench, said: &str) -> Vec<String> {
    let Step::Call(calls) = bench.decide(&[], said).step else { return Vec::new() };
    let value = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let shown = |call: &PlannedCall| {
        let values = call.arguments.values().map(value);
        std::iter::once(call.tool.clone()).chain(values).collect::<Vec<_>>().join(" ")
    };
    calls.iter().map(shown).collect()
}

#[track_caller]
pub(super) fn check(all: &[(&str, &[&str])]) {
    let bench = Bench::new();
    let wrong = |(said, expected): &(&str, &[&str])| {
        let calls = calls(&bench, said);
        (calls != *expected).then(|| format!("{said}: {calls:?}"))
    };
    assert_eq!(all.iter().filter_map(wrong).collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn a_price_is_looked_up_in_the_market_of_the_stock() {
    check(&[
        ("Reliance share price", &["get_technicals RELIANCE"]),
        ("Where is TCS trading right now?", &["get_technicals TCS"]),
        ("what is wipro going for", &["get_technicals WIPRO"]),
        ("cmp of infosys", &["get_technicals INFY"]),
        ("Price of Infosys and TCS", &["get_technicals INFY", "get_technicals TCS"]),
        ("Apple share price", &["get_quotes AAPL"]),
    ]);
}

#[test]
fn a_misspelt_word_is_read_as_the_one_that_is_meant() {
    check(&[
        ("shwo my postions", &["get_positions_list"]),
        ("waht is the pirce of apple", &["get_quotes AAPL"]),
        ("tehcnicals of Relience", &["get_technicals RELIANCE"]),
        ("lattest news about wirpo", &["get_news WIPRO"]),
        ("how did my porfolio perfrom this yaer", &["get_performance YTD"]),
        ("compair Infosys n TCS", &["compare_stocks [\"INFY\",\"TCS\"]"]),
        ("wat is the qoute of amazn", &["get_quotes AMZN"]),
    ]);
}

#[test]
fn a_name_of_several_words_may_be_misspelt() {
    check(&[
        ("any news on tata mtoors", &["get_news TATAMOTORS"]),
        ("RSI of sun phrama", &["get_technicals SUNPHARMA"]),
        ("infosis news", &["get_news INFY"]),
        ("fundamentals of kotk mahindra bank", &["get_fundamentals KOTAKBANK"]),
        ("price of tesle", &["get_quotes TSLA"]),
    ]);
}

#[test]
fn a_common_word_is_never_a_misspelt_one() {
    check(&[("Where can I plant a palace?", &[]), ("Which form should I sign?", &[])]);
}

#[test]
fn hindi_in_latin_letters_is_understood() {
    check(&[
        ("TCS ka bhav kya hai", &["get_technicals TCS"]),
        ("mera portfolio dikhao", &["get_positions_list"]),
        ("mera cash balance kitna hai", &["get_account_summary"]),
        ("HDFC Bank ka RSI batao", &["get_technicals HDFCBANK"]),
        ("Infosys aur TCS ki tulna karo", &["compare_stocks [\"INFY\",\"TCS\"]"]),
        ("Infosys ki khabar dikhao", &["get_news INFY"]),
        ("mera sabse kharab stock kaunsa hai", &["rank_portfolio worst"]),
        ("kya mere paas Apple hai", &["get_positions AAPL"]),
        ("iss mahine kitna kamaya", &["get_performance 1M"]),
        ("Tata Motors ke baare mein log kya keh rahe hain", &["get_stock_thesis TATAMOTORS"]),
    ]);
}

#[test]
fn an_order_that_no_tool_carries_out_is_refused_in_hindi_too() {
    let bench = Bench::new();
    for said in ["10 share TCS kharido", "TCS ke 5 share bech do", "kharido 10 TCS"] {
        let step = bench.decide(&[], said).step;
        assert!(matches!(step, Step::Refuse(_)), "{said}: {step:?}");
    }
}

#[test]
fn both_wishes_of_a_sentence_are_looked_up() {
    check(&[
        ("TCS price and news", &["get_technicals TCS", "get_news TCS"]),
        ("Show my positions and cash balance", &["get_positions_list", "get_account_summary"]),
        ("My best and worst positions", &["rank_portfolio best", "rank_portfolio worst"]),
        ("the stocks and the bonds I own", &["get_positions_list stocks", "get_positions_list bonds"]),
    ]);
}

#[test]
fn each_wish_of_a_list_is_looked_up() {
    check(&[
        (
            "price, news and fundamentals of TCS",
            &["get_technicals TCS", "get_news TCS", "get_fundamentals TCS"],
        ),
        (
            "show my holdings, and what's the price of Apple and Tesla",
            &["get_positions_list", "get_quotes AAPL,TSLA"],
        ),
        ("RSI and news of TCS, and its price", &["get_technicals TCS", "get_news TCS"]),
        ("price of TCS, along with its news", &["get_technicals TCS", "get_news TCS"]),
    ]);
}

#[test]
fn a_clause_that_only_says_more_of_the_one_before_it_is_no_wish_of_its_own() {
    check(&[
        ("Total profit on my VTI so far, including what I already sold", &["get_symbol_performance VTI"]),
        ("What's going on in the economy? A few headlines please", &["browse_news economy"]),
    ]);
}

#[test]
fn a_part_that_gives_the_tool_a_word_is_no_wish_of_its_own() {
    check(&[("wait zone status of Maruti, core profile", &["check_wait_zone MARUTI core"])]);
}

#[test]
fn an_order_to_move_money_is_refused() {
    let bench = Bench::new();
    for said in ["Move $2,000 from Brokerage to Retirement", "Put 500 dollars into VOO"] {
        let step = bench.decide(&[], said).step;
        assert!(matches!(step, Step::Refuse(_)), "{said}: {step:?}");
    }
}

#[test]
fn a_clause_may_begin_with_a_preposition() {
    check(&[(
        "Do I own Tesla, and at what price does it trade?",
        &["get_positions TSLA", "get_quotes TSLA"],
    )]);
}

#[test]
fn names_that_are_joined_ask_what_one_of_them_would() {
    check(&[
        ("earnings of TCS and Infosys", &["get_earnings TCS", "get_earnings INFY"]),
        ("how much of Apple and Microsoft do I own", &["get_positions AAPL", "get_positions MSFT"]),
    ]);
}

#[test]
fn what_a_later_clause_shares_with_an_earlier_one_is_written_out() {
    check(&[
        ("What is Tesla trading at? Do I own any?", &["get_quotes TSLA", "get_positions TSLA"]),
        ("what's an index fund, and do I have any", &["get_facts index fund", "get_positions_list etf"]),
        ("ITC dividend yield? and its bhav", &["get_fundamentals ITC", "get_technicals ITC"]),
        (
            "compare TCS and Infosys and show news for both",
            &["compare_stocks [\"TCS\",\"INFY\"]", "get_news TCS", "get_news INFY"],
        ),
    ]);
}

#[test]
fn one_question_about_two_times_or_accounts_is_a_call_each() {
    check(&[
        (
            "trades in June and in August 2025",
            &["get_activity 2025-06-01 2025-06-30", "get_activity 2025-08-01 2025-08-31"],
        ),
        ("between June and August what did I buy", &["get_activity BUY 2025-06-01 2025-08-31"]),
        (
            "cash in brokerage and in retirement",
            &["get_account_summary Brokerage", "get_account_summary Retirement"],
        ),
        (
            "return of my account this year, then the same for the retirement one",
            &["get_performance YTD", "get_performance YTD Retirement"],
        ),
        (
            "How did my account do over one month and over six months?",
            &["get_performance 1M", "get_performance 6M"],
        ),
        (
            "Returns of my Brokerage and my Retirement account over the past year",
            &["get_performance 1Y Brokerage", "get_performance 1Y Retirement"],
        ),
        ("all buys since the 1st of December 2025", &["get_activity BUY 2025-12-01"]),
    ]);
}

#[test]
fn the_time_at_the_end_is_that_of_the_parts_before_it_too() {
    let of_2025 = "2025-01-01 2025-12-31";
    check(&[
        (
            "Show deposits and trades for 2025",
            &["get_transfers 2025-01-01 deposit 2025-12-31", &format!("get_activity {of_2025}")],
        ),
        (
            "Show my deposits in 2025 and my trades in the same year",
            &["get_transfers 2025-01-01 deposit 2025-12-31", &format!("get_activity {of_2025}")],
        ),
        (
            "Which holding is up the most today and which one is down the most?",
            &["rank_portfolio day_change best", "rank_portfolio worst day_change"],
        ),
        (
            "my positions in the retirement account and the cash in it",
            &["get_positions_list Retirement", "get_account_summary Retirement"],
        ),
    ]);
}

#[test]
fn a_time_speaks_for_every_tool_that_takes_it() {
    check(&[
        ("Did I sell anything last month?", &["get_activity SELL 2025-12-01 2025-12-31"]),
        ("my deposits and withdrawals this quarter", &["get_transfers 2026-01-01"]),
        ("total return since I first opened the account", &["get_performance ALL"]),
    ]);
}

#[test]
fn a_tool_is_asked_with_names_that_it_does_not_require_if_its_examples_are() {
    check(&[
        ("At what price did I sell Tesla?", &["get_activity SELL TSLA"]),
        ("When did I last sell Nvidia?", &["get_activity 1 SELL NVDA"]),
        ("Did I sell 10 Apple shares?", &["get_activity SELL AAPL"]),
    ]);
}

#[test]
fn a_list_is_narrowed_to_the_time_and_the_number_that_are_said() {
    check(&[
        ("what did I buy in September 2024", &["get_activity BUY 2024-09-01 2024-09-30"]),
        ("What did I sell in December?", &["get_activity SELL 2025-12-01 2025-12-31"]),
        ("What did I deposit in 2025?", &["get_transfers 2025-01-01 deposit 2025-12-31"]),
        ("my 2025 deposits", &["get_transfers 2025-01-01 deposit 2025-12-31"]),
        ("September 2024 trades", &["get_activity 2024-09-01 2024-09-30"]),
        ("my trades of last month", &["get_activity 2025-12-01 2025-12-31"]),
        ("trades of the last 10 days", &["get_activity 2026-01-06"]),
        ("what did I buy yesterday", &["get_activity BUY 2026-01-15 2026-01-15"]),
        ("What did I sell this quarter?", &["get_activity SELL 2026-01-01"]),
        ("my deposits since 12 November", &["get_transfers 2025-11-12 deposit"]),
        (
            "withdrawals between June 3rd 2025 and July 2025",
            &["get_transfers 2025-06-03 withdrawal 2025-07-31"],
        ),
        ("Show my last 5 trades", &["get_activity 5"]),
        ("Did I sell 10 shares?", &["get_activity SELL"]),
    ]);
}

#[test]
fn a_second_wish_may_stand_behind_a_comma_alone() {
    check(&[
        ("my cash balance, my recent trades", &["get_account_summary", "get_activity"]),
        ("RSI of TCS then news about Infosys", &["get_technicals TCS", "get_news INFY"]),
        ("TCS price, Infosys news", &["get_technicals TCS", "get_news INFY"]),
        ("TCS price, my cash", &["get_technicals TCS", "get_account_summary"]),
        (
            "Wipro fundamentals, Reliance news and my cash",
            &["get_fundamentals WIPRO", "get_news RELIANCE", "get_account_summary"],
        ),
        (
            "price of TCS and Infosys, news of Wipro",
            &["get_technicals TCS", "get_technicals INFY", "get_news WIPRO"],
        ),
        (
            "price of TCS, news of Infosys and the score of the match",
            &["get_technicals TCS", "get_news INFY"],
        ),
        ("fundamentals n latest news of TCS", &["get_fundamentals TCS", "get_news TCS"]),
    ]);
}

#[test]
fn of_two_values_the_one_that_is_described_counts() {
    check(&[
        ("who are my top losers", &["rank_portfolio worst"]),
        ("Rank my positions from worst to best", &["rank_portfolio worst"]),
    ]);
}

#[test]
fn what_belongs_to_somebody_else_is_not_looked_up() {
    check(&[("show me the balance of my neighbour's account", &[])]);
}

#[test]
fn names_in_a_row_are_one_wish() {
    check(&[("Current prices of Apple and Microsoft", &["get_quotes AAPL,MSFT"])]);
}

#[test]
fn a_verb_that_says_not_what_is_done_changes_nothing() {
    check(&[(
        "put TCS, Infosys and Wipro next to each other",
        &["compare_stocks [\"TCS\",\"INFY\",\"WIPRO\"]"],
    )]);
}

#[test]
fn a_common_word_names_no_company() {
    check(&[("Anything shaking up the Indian markets?", &["browse_news markets"])]);
}
