//! The known limitations of the brokerage's specification, resolved: accounts, users, symbols, timeframes, sections.

use serde_json::{Value, json};
use toolwire::{contract::ErrorCode, tool::context::ToolContext};

use super::support::{Bench, call, master, position, positions, quotes};

fn symbols_of(data: &Value, list: &str) -> Vec<String> {
    let rows = data[list].as_array().expect("a list");
    rows.iter().map(|row| row["symbol"].as_str().expect("a symbol").to_owned()).collect()
}

/// A call of each tool that reads what belongs to a user.
fn calls() -> [(&'static str, Value); 10] {
    [
        ("get_account_summary", json!({})),
        ("get_activity", json!({})),
        ("get_performance", json!({"timeframe": "YTD"})),
        ("get_performance_with_transfers", json!({"timeframe": "YTD"})),
        ("get_positions", json!({"symbol": "AAPL"})),
        ("get_positions_list", json!({})),
        ("get_quotes", json!({"symbol": "AAPL"})),
        ("get_symbol_performance", json!({"symbol": "AAPL"})),
        ("get_transfers", json!({})),
        ("rank_portfolio", json!({})),
    ]
}

#[test]
fn a_user_sees_their_own_data_only() {
    let bench = Bench::embedded();
    let (riley, _) = bench.call_as("riley", "get_positions_list", json!({})).expect("riley has data");
    let own = bench.data("get_positions_list", json!({}));
    assert_ne!(symbols_of(&riley, "positions"), symbols_of(&own, "positions"));
    assert!(!symbols_of(&own, "positions").contains(&"SCHB".to_owned()));
    // What only another user has is as unknown as what nobody has.
    let message = bench.not_found("get_quotes", json!({"symbol": "SBUX"}));
    assert!(message.starts_with("Unknown symbol 'SBUX'."), "{message}");
}

#[test]
fn of_a_well_known_company_that_no_data_has_nothing_is_held() {
    let bench = Bench::embedded();
    assert_eq!(bench.data("get_positions", json!({"symbol": "nvda"}))["position"], Value::Null);
    assert!(bench.not_found("get_quotes", json!({"symbol": "NVDA"})).starts_with("Unknown symbol 'NVDA'."));
    // Nor is it of a stock of the other market.
    let text = std::fs::read_to_string("data/research/universe.json").expect("readable");
    let universe: Value = serde_json::from_str(&text).expect("JSON");
    for stock in symbols_of(&universe, "stocks") {
        assert_eq!(bench.data("get_positions", json!({"symbol": stock}))["position"], Value::Null, "{stock}");
    }
}

#[test]
fn a_user_without_data_gets_no_one_elses() {
    let bench = Bench::embedded();
    for (tool, arguments) in calls() {
        let error = bench.call_as("nobody", tool, arguments).expect_err(tool);
        assert_eq!(error.code, ErrorCode::NotFound, "{tool}");
        let words =
            ["No brokerage data for user nobody.", "sample tools", "the user demo alone", "OWN_TOOLS.md"];
        assert!(words.iter().all(|it| error.message.contains(it)), "{tool}: {}", error.message);
    }
    // Facts belong to no one.
    assert!(bench.call_as("nobody", "get_facts", json!({"topic": "etf"})).is_ok());
}

#[test]
fn accounts_are_found_whatever_their_case() {
    let bench = Bench::embedded();
    for (tool, extra) in [("get_activity", ""), ("get_positions_list", ""), ("get_transfers", "")] {
        let data = bench.data(tool, json!({"account": format!("rETIREMENT{extra}")}));
        assert_eq!(data["account"], "Retirement", "{tool}");
        assert_eq!(data["as_of"], "2026-01-15", "{tool}");
    }
    let data = bench.data("get_account_summary", json!({"account": "retirement"}));
    assert_eq!(data["accounts"].as_array().map(Vec::len), Some(1));
    assert_eq!(data["accounts"][0]["account"], "Retirement");
}

#[test]
fn an_unknown_account_is_answered_with_the_known_ones() {
    let bench = Bench::embedded();
    let expected = "Unknown account 'Savings'. Known accounts: Brokerage, Retirement.";
    for (tool, mut arguments) in calls() {
        if tool == "get_quotes" {
            // Prices are of no account.
            continue;
        }
        arguments["account"] = json!("Savings");
        assert_eq!(bench.not_found(tool, arguments), expected, "{tool}");
    }
}

#[test]
fn trades_and_transfers_are_narrowed_to_days_and_a_number() {
    let bench = Bench::embedded();
    let days = json!({"since": "2024-09-01", "until": "2024-09-24"});
    let data = bench.data("get_activity", days.clone());
    assert_eq!(symbols_of(&data, "trades"), ["TSLA", "AGG", "SCHD"], "the last day is included");
    let (data, provenance) = bench.call("get_activity", json!({"limit": 2})).expect("trades");
    assert_eq!(symbols_of(&data, "trades"), ["AAPL", "TSLA"]);
    assert_eq!(provenance.warnings, ["The newest 2 of 42 trades are shown."]);
    assert_eq!(provenance.advice, ["`limit` sets how many are shown."]);
    let data = bench.data("get_transfers", json!({"since": "2026-01-09"}));
    assert_eq!(data["transfers"].as_array().map(Vec::len), Some(2));
    for (tool, arguments, expected) in [
        (
            "get_activity",
            json!({"since": "2024-02-31"}),
            "Invalid arguments: `since` is '2024-02-31', which is no day of the calendar",
        ),
        (
            "get_transfers",
            json!({"since": "2025-02-01", "until": "2025-01-01"}),
            "Invalid arguments: `until` is 2025-01-01, which is before",
        ),
    ] {
        let error = bench.call(tool, arguments).expect_err(tool);
        assert_eq!(error.code, ErrorCode::InvalidArgument, "{tool}");
        assert!(error.message.starts_with(expected), "{}", error.message);
    }
}

#[test]
fn trades_and_transfers_are_narrowed_to_a_kind_and_trades_to_a_symbol() {
    let bench = Bench::embedded();
    let sold = json!({"symbol": "aapl", "side": "SELL", "limit": 1});
    let data = bench.data("get_activity", sold);
    assert_eq!(symbols_of(&data, "trades"), ["AAPL"]);
    assert_eq!(data["trades"][0]["side"], "SELL");
    let (data, provenance) =
        bench.call("get_transfers", json!({"type": "withdrawal", "limit": 2})).expect("transfers");
    let types = data["transfers"].as_array().expect("a list").iter().map(|it| it["type"].as_str());
    assert_eq!(types.collect::<Vec<_>>(), [Some("withdrawal"); 2]);
    assert_eq!(provenance.warnings, ["The newest 2 of 4 transfers are shown."]);
    let (data, provenance) = bench.call("get_activity", json!({"symbol": "QQQ"})).expect("trades");
    assert_eq!(data["trades"], json!([]));
    let elsewhere = "QQQ was not traded in Brokerage, but in Retirement: name that account to see it.";
    assert_eq!(provenance.warnings, [elsewhere]);
    // Of a company that exists there may be no trades; another symbol may be a misspelt one.
    assert_eq!(bench.data("get_activity", json!({"symbol": "NVDA"}))["trades"], json!([]));
    let unknown = bench.not_found("get_activity", json!({"symbol": "AAPLL"}));
    assert!(unknown.starts_with("Unknown symbol 'AAPLL'. Did you mean 'AAPL'?"), "{unknown}");
    for (tool, arguments) in [
        ("get_activity", json!({"side": "sold"})),
        ("get_activity", json!({"symbol": "AAPL,TSLA"})),
        ("get_transfers", json!({"type": "gift"})),
    ] {
        assert_eq!(bench.call(tool, arguments).expect_err(tool).code, ErrorCode::InvalidArgument, "{tool}");
    }
}

#[test]
fn an_account_may_lack_a_section_that_others_have() {
    let bench = Bench::with_master(&master(json!({
        "account_summary": {"accounts": [
            {"account": "Brokerage", "total_value": 1, "total_cash": 1, "settled_cash": 1},
            {"account": "Savings", "total_value": 2, "total_cash": 2, "settled_cash": 2},
        ]},
        "positions": positions(&[]),
    })));
    let expected = "No positions data for account 'savings'. Accounts with positions data: Brokerage.";
    assert_eq!(bench.not_found("get_positions_list", json!({"account": "savings"})), expected);
}

#[test]
fn quotes_are_only_those_asked_for_in_that_order_each_once() {
    let bench = Bench::embedded();
    let data = bench.data("get_quotes", json!({"symbol": " tsla, AAPL,,Tsla ,voo,"}));
    assert_eq!(symbols_of(&data, "quotes"), ["TSLA", "AAPL", "VOO"]);
    let error = bench.call("get_quotes", json!({"symbol": " , "})).expect_err("no symbol");
    assert_eq!(error.code, ErrorCode::InvalidArgument);
}

#[test]
fn an_unknown_symbol_is_answered_with_the_nearest_and_the_known_ones() {
    let bench = Bench::with_master(&master(json!({
        "positions": positions(&[position("AAPL", 1.0, 1.0), position("AVUV", 1.0, 1.0)]),
        "quotes": quotes(&[("AAPL", 1.0, 0.0), ("VOO", 1.0, 0.0)]),
    })));
    let known = "Known symbols: AAPL, AVUV, VOO.";
    for tool in ["get_positions", "get_quotes", "get_symbol_performance"] {
        let message = bench.not_found(tool, json!({"symbol": "appl"}));
        assert_eq!(message, format!("Unknown symbol 'APPL'. Did you mean 'AAPL'? {known}"), "{tool}");
        let message = bench.not_found(tool, json!({"symbol": "INVALID"}));
        assert_eq!(message, format!("Unknown symbol 'INVALID'. {known}"), "{tool}");
    }
    let message = bench.not_found("get_quotes", json!({"symbol": "XXXX,YYYY"}));
    assert_eq!(message, format!("Unknown symbol 'XXXX'. Unknown symbol 'YYYY'. {known}"));
}

#[test]
fn a_symbol_is_suggested_for_a_word_of_its_name() {
    let message = Bench::embedded().not_found("get_quotes", json!({"symbol": "costco"}));
    assert!(message.starts_with("Unknown symbol 'COSTCO'. Did you mean 'COST'?"), "{message}");
}

#[test]
fn an_unknown_symbol_among_others_is_a_warning_beside_their_quotes() {
    let bench = Bench::embedded();
    let (data, provenance) =
        bench.call("get_quotes", json!({"symbol": "XXXX,AAPL,appl"})).expect("one of them is known");
    assert_eq!(symbols_of(&data, "quotes"), ["AAPL"]);
    let [warning] = &provenance.warnings[..] else { panic!("{:?}", provenance.warnings) };
    let expected =
        "Unknown symbol 'XXXX'. Unknown symbol 'APPL'. Did you mean 'AAPL'? Known symbols: AAPL, AGG, ";
    assert!(warning.starts_with(expected), "{warning}");
}

#[test]
fn what_was_sold_out_is_known_and_has_no_quote() {
    let bench = Bench::embedded();
    let (data, provenance) = bench.call("get_quotes", json!({"symbol": "INTC"})).expect("it was traded");
    assert_eq!(data["quotes"], json!([]));
    assert_eq!(provenance.warnings, ["INTC was traded, is not held any more and has no quote."]);
    assert_eq!(bench.data("get_positions", json!({"symbol": "PFE"}))["position"], Value::Null);
}

#[test]
fn what_is_held_without_a_quote_is_left_out_with_a_warning() {
    let bench = Bench::embedded();
    let (data, provenance) =
        bench.call("get_quotes", json!({"symbol": "AVUV,AAPL"})).expect("both are known");
    assert_eq!(symbols_of(&data, "quotes"), ["AAPL"]);
    assert_eq!(provenance.warnings, ["AVUV is held in Retirement but has no quote."]);
}

#[test]
fn what_another_account_holds_is_said_with_the_account() {
    let bench = Bench::embedded();
    let (data, provenance) = bench.call("get_positions", json!({"symbol": "VNQ"})).expect("known");
    assert_eq!((&data["account"], &data["position"]), (&json!("Brokerage"), &Value::Null));
    let expected =
        "VNQ is not held in Brokerage, but in Retirement (45.5 shares): name that account to see it.";
    assert_eq!(provenance.warnings, [expected]);
    assert_eq!(bench.warnings("get_positions", json!({"symbol": "VNQ", "account": "retirement"})), [""; 0],);
    let expected = "ARKK is not held any more and was never in Brokerage, but in Retirement: name that account to see it.";
    assert_eq!(bench.warnings("get_positions", json!({"symbol": "ARKK"})), [expected]);
    // What the first account holds is not all; who names an account asks about that one.
    let expected = "This is what Brokerage holds of VTI; it is held in Retirement (70 shares) too: name that account to see it.";
    assert_eq!(bench.warnings("get_positions", json!({"symbol": "VTI"})), [expected]);
    assert_eq!(bench.warnings("get_positions", json!({"symbol": "VTI", "account": "Brokerage"})), [""; 0]);
    // What was sold out of the account itself is not held there, which null says.
    assert_eq!(bench.warnings("get_positions", json!({"symbol": "TSLA"})), [""; 0]);
}

#[test]
fn several_symbols_are_told_from_one_that_is_unknown() {
    let bench = Bench::embedded();
    for tool in ["get_positions", "get_symbol_performance"] {
        for text in ["AAPL,msft", "aapl; MSFT", "AAPL MSFT"] {
            let error = bench.call(tool, json!({"symbol": text})).expect_err("two symbols");
            assert_eq!(error.code, ErrorCode::InvalidArgument, "{tool} {text}");
            let [violation] = &error.violations[..] else { panic!("{error:?}") };
            assert_eq!((violation.pointer.as_str(), violation.rule.as_str()), ("/symbol", "one"));
            let expected = "`symbol` takes one symbol a call, and AAPL and MSFT are 2. Call once for each; get_quotes takes several";
            assert!(violation.description.starts_with(expected), "{}", violation.description);
        }
        // A name of several words is none.
        let message = bench.not_found(tool, json!({"symbol": "Johnson & Johnson"}));
        assert!(message.starts_with("Unknown symbol 'JOHNSON & JOHNSON'."), "{message}");
    }
    let message = bench.not_found("get_quotes", json!({"symbol": "AAPL MSFT"}));
    assert!(
        message.starts_with("Unknown symbol 'AAPL MSFT'. Put commas between several: AAPL,MSFT."),
        "{message}"
    );
}

#[test]
fn a_timeframe_without_data_is_answered_with_those_that_have_some() {
    let bench = Bench::embedded();
    let month = bench.data("get_performance", json!({"timeframe": "1M"}));
    assert_eq!((&month["timeframe"], &month["return_pct"]), (&json!("1M"), &json!(5.4)));
    let expected = "No performance data for timeframe '5Y' in account 'Brokerage'. \
                    Timeframes with data: 1D, 1W, 1M, 3M, 6M, YTD, 1Y.";
    assert_eq!(bench.not_found("get_performance", json!({"timeframe": "5Y"})), expected);
    let retirement = json!({"timeframe": "5Y", "account": "Retirement"});
    assert_eq!(bench.data("get_performance", retirement)["return_pct"], json!(52.4));
}

#[test]
fn words_outside_an_enumeration_are_refused_where_no_schema_did() {
    let bench = Bench::embedded();
    for (tool, arguments, pointer) in [
        ("get_performance", json!({"timeframe": "2W"}), "/timeframe"),
        ("get_performance", json!({}), "/timeframe"),
        ("get_positions", json!({}), "/symbol"),
        ("rank_portfolio", json!({"direction": "up"}), "/direction"),
        ("rank_portfolio", json!({"basis": "luck"}), "/basis"),
    ] {
        let error = bench.call(tool, arguments).expect_err(tool);
        assert_eq!(error.code, ErrorCode::InvalidArgument, "{tool}");
        assert_eq!(error.violations[0].pointer, pointer, "{tool}");
    }
}

/// `asset_class` filters by equality, and what is equal to nothing is an empty list.
#[test]
fn a_filter_that_nothing_passes_leaves_an_empty_list() {
    let bench = Bench::embedded();
    for class in ["crypto", "ETF"] {
        let (data, provenance) =
            bench.call("get_positions_list", json!({"asset_class": class})).expect("an empty list");
        assert_eq!((&data["positions"], &data["asset_class_filter"]), (&json!([]), &json!(class)));
        let expected =
            format!("Nothing of the asset class '{class}' is held. Asset classes held: bonds, etf, stocks.");
        assert_eq!(provenance.warnings, [expected]);
    }
    let all = bench.data("get_positions_list", json!({"asset_class": ""}));
    assert_eq!(all, bench.data("get_positions_list", json!({})));
    assert_eq!(all.get("asset_class_filter"), None);
}

#[test]
fn amounts_stand_beside_their_currency_and_their_date() {
    let bench = Bench::embedded();
    for (tool, arguments) in calls() {
        let data = bench.data(tool, arguments);
        assert_eq!((&data["currency"], &data["as_of"]), (&json!("USD"), &json!("2026-01-15")), "{tool}");
    }
    let mut book = master(json!({
        "positions": positions(&[position("X", 1.0, 1.0)]),
        "quotes": quotes(&[("X", 3.0, 0.0)]),
    }));
    book["currency"] = json!("EUR");
    book["quotes"]["as_of"] = json!("2026-01-19");
    let bench = Bench::with_master(&book);
    for (tool, arguments) in
        [("get_symbol_performance", json!({"symbol": "X"})), ("rank_portfolio", json!({}))]
    {
        let data = bench.data(tool, arguments);
        assert_eq!(
            (&data["currency"], &data["price_as_of"]),
            (&json!("EUR"), &json!("2026-01-19")),
            "{tool}"
        );
        assert_eq!(data["as_of"], "2026-01-15", "{tool}");
    }
}

#[test]
fn a_missing_section_fails_its_own_tools_only() {
    let book = master(
        json!({"positions": positions(&[position("AAPL", 1.0, 1.0)]), "quotes": {}, "activity": null}),
    );
    let bench = Bench::with_master(&book);
    assert!(bench.call("get_positions_list", json!({})).is_ok());
    for (tool, arguments, section) in [
        ("get_account_summary", json!({}), "account_summary"),
        ("get_activity", json!({}), "activity"),
        ("get_performance", json!({"timeframe": "YTD"}), "performance"),
        ("get_performance_with_transfers", json!({"timeframe": "YTD"}), "performance"),
        ("get_quotes", json!({"symbol": "AAPL"}), "quotes"),
        ("get_symbol_performance", json!({"symbol": "AAPL"}), "quotes"),
        ("get_transfers", json!({}), "transfers"),
        ("rank_portfolio", json!({}), "quotes"),
    ] {
        let expected = format!("Missing section '{section}' in user_master.json");
        assert_eq!(bench.not_found(tool, arguments), expected, "{tool}");
    }
    let missing: Vec<_> = bench.brokerage.health().missing_sections.into_keys().collect();
    assert_eq!(missing, ["account_summary", "activity", "facts", "performance", "quotes", "transfers"]);
    let error = bench.call("get_facts", json!({"topic": "x"})).expect_err("there are no facts");
    assert_eq!(
        (error.code, error.message.as_str()),
        (ErrorCode::Unavailable, "Missing facts/rebalancing.md")
    );
}

#[test]
fn another_users_missing_section_names_their_file() {
    let files = [("user_master.json", "{}"), ("users/riley.json", "{}")];
    let bench = Bench::with_files(&files).expect("empty files are good");
    let error = bench.call_as("riley", "get_transfers", json!({})).expect_err("nothing is there");
    assert_eq!(error.message, "Missing section 'transfers' in riley.json");
}

#[test]
fn a_section_without_a_date_inherits_one() {
    let book = json!({
        "as_of": "2026-01-15",
        "positions": {"account": "Brokerage", "positions": [], "accounts": {
            "Old": {"as_of": "2025-12-31", "positions": []},
            "New": {"positions": []},
        }},
        "quotes": {"as_of": "2026-01-14", "quotes": []},
    });
    let bench = Bench::with_master(&book);
    let as_of = |arguments| {
        let (data, provenance) = bench.call("get_positions_list", arguments).expect("positions");
        assert_eq!(data["as_of"], json!(provenance.as_of));
        provenance.as_of
    };
    assert_eq!(as_of(json!({})), "2026-01-15");
    assert_eq!(as_of(json!({"account": "Old"})), "2025-12-31");
    assert_eq!(as_of(json!({"account": "New"})), "2026-01-15");
}

#[test]
fn totals_that_do_not_reconcile_are_given_with_a_warning() {
    let book = |total_value: f64| {
        master(json!({
            "account_summary": {"accounts": [
                {"account": "Brokerage", "total_value": total_value, "total_cash": 100, "settled_cash": 100},
            ]},
            "positions": positions(&[position("AAPL", 2.0, 1.0), position("XYZ", 1.0, 1.0)]),
            "quotes": quotes(&[("AAPL", 50.25, 0.0)]),
        }))
    };
    let good = Bench::with_master(&book(200.5));
    let missing = "Brokerage: XYZ has no quote (1 share, bought for 1.00 USD): total_value leaves out what is held of it.";
    assert_eq!(good.warnings("get_account_summary", json!({})), [missing]);
    let bench = Bench::with_master(&book(210.0));
    assert_eq!(bench.data("get_account_summary", json!({}))["accounts"][0]["total_value"], json!(210));
    let difference =
        "Brokerage: total_value 210.00 differs by 9.50 from positions 100.50 plus total_cash 100.00.";
    let unsure = "Brokerage: XYZ has no quote (1 share, bought for 1.00 USD): it is not known whether total_value \
                  counts what is held of it.";
    assert_eq!(bench.warnings("get_account_summary", json!({})), [difference, unsure]);
}

#[test]
fn the_embedded_data_reconciles() {
    let bench = Bench::embedded();
    assert_eq!(bench.brokerage.health().problems, []);
    let unpriced = "Retirement: AVUV has no quote (0.75 shares, bought for 66.30 USD): total_value leaves out what is \
                    held of it.";
    for (user, expected) in [("demo", &[unpriced][..]), ("riley", &[])] {
        let (_, provenance) = bench.call_as(user, "get_account_summary", json!({})).expect("a summary");
        assert_eq!(provenance.warnings, expected, "{user}");
    }
}

#[test]
fn one_call_sees_one_state() {
    let book = |price| master(json!({"quotes": quotes(&[("AAPL", price, 0.0)])})).to_string();
    let bench = Bench::with_files(&[("user_master.json", &book(1.0))]).expect("good");
    let context = bench.context("demo");
    let price = |context: &ToolContext| {
        let (data, _) = call(context, "get_quotes", json!({"symbol": "AAPL"})).expect("a quote");
        data["quotes"][0]["price"].clone()
    };
    assert_eq!(price(&context), json!(1));
    bench.write("user_master.json", &book(2.0));
    assert_eq!(price(&context.nested()), json!(1));
    assert_eq!(price(&bench.context("demo")), json!(2));
}
