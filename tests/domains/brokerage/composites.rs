//! The composites: what they combine, how they rank, and what they say of what they do not know.

use serde_json::{Value, json};

use super::support::{Bench, activity, master, position, positions, quotes};

#[test]
fn a_position_is_valued_with_its_quote() {
    let bench = Bench::embedded();
    let (data, provenance) = bench.call("get_symbol_performance", json!({"symbol": "aapl"})).expect("held");
    let expected = json!({
        "as_of": "2026-01-15", "account": "Brokerage", "symbol": "AAPL", "quantity": 42, "cost_basis": 150.25,
        "total_cost": 6310.5, "price": 193.12, "change_pct": 1.1, "market_value": 8111.04,
        "unrealized_pl": 1800.54, "unrealized_pl_pct": 28.53, "day_change": 88.25,
        // 10 of the 20 bought at 127.86.
        "realized_pl": 502.9, "price_as_of": "2026-01-15", "currency": "USD",
    });
    assert_eq!(data, expected);
    assert_eq!(provenance.source_ids, ["tool:positions:v1", "tool:quotes:v1", "tool:activity:v1"]);
    assert_eq!(provenance.as_of, "2026-01-15");
    assert_eq!(provenance.warnings, Vec::<String>::new());
}

#[test]
fn what_is_not_held_any_more_still_has_its_realised_profit() {
    let data = Bench::embedded().data("get_symbol_performance", json!({"symbol": "TSLA"}));
    for (field, expected) in [
        ("quantity", json!(0)),
        ("cost_basis", Value::Null),
        ("total_cost", json!(0)),
        ("market_value", json!(0)),
        ("unrealized_pl", json!(0)),
        ("unrealized_pl_pct", Value::Null),
        // 5 and 3 at 184.62, then 4 at 169.35.
        ("realized_pl", json!(557.16)),
    ] {
        assert_eq!(data[field], expected, "{field}");
    }
}

#[test]
fn what_was_sold_out_has_a_performance_without_a_quote() {
    let bench = Bench::embedded();
    let gone = |symbol: &str| format!("{symbol} was traded, is not held any more and has no quote.");
    let uncovered = "PFE: realized_pl is not known: the sales exceed the known purchases by 25 shares.";
    for (symbol, account, realized_profit, more) in [
        // 60 at 33.48, sold at 27.92; 20 at 47.12, sold at 43.86.
        ("INTC", "Brokerage", json!(-333.6), None),
        ("ARKK", "Retirement", json!(-65.2), None),
        ("PFE", "Brokerage", Value::Null, Some(uncovered.to_owned())),
    ] {
        let arguments = json!({"symbol": symbol, "account": account});
        let (data, provenance) = bench.call("get_symbol_performance", arguments).expect(symbol);
        assert_eq!(data["realized_pl"], realized_profit, "{symbol}");
        for field in ["quantity", "total_cost", "market_value", "unrealized_pl", "day_change"] {
            assert_eq!(data[field], json!(0), "{symbol} {field}");
        }
        for field in ["price", "change_pct", "price_as_of", "cost_basis", "unrealized_pl_pct"] {
            assert_eq!(data[field], Value::Null, "{symbol} {field}");
        }
        let warnings: Vec<_> = [gone(symbol)].into_iter().chain(more).collect();
        assert_eq!(provenance.warnings, warnings, "{symbol}");
    }
}

#[test]
fn what_was_never_in_an_account_is_said_to_be_in_another() {
    let warnings = Bench::embedded().warnings("get_symbol_performance", json!({"symbol": "QQQ"}));
    let held = "QQQ is not held in Brokerage, but in Retirement (16 shares): name that account to see it.";
    let never = "QQQ is not held in Brokerage and was never traded there, so all amounts are 0.";
    assert_eq!(warnings, [held, never]);
}

#[test]
fn what_has_no_quote_has_no_value() {
    let arguments = json!({"symbol": "AVUV", "account": "Retirement"});
    let (data, provenance) = Bench::embedded().call("get_symbol_performance", arguments).expect("held");
    for field in ["price", "change_pct", "market_value", "unrealized_pl", "unrealized_pl_pct", "day_change"] {
        assert_eq!(data[field], Value::Null, "{field}");
    }
    assert_eq!(data["total_cost"], json!(66.3));
    assert_eq!(provenance.warnings, ["AVUV is held in Retirement but has no quote."]);
    // Asked about another account, no sentence contradicts another.
    let warnings = Bench::embedded().warnings("get_symbol_performance", json!({"symbol": "AVUV"}));
    assert_eq!(
        warnings,
        [
            "AVUV is not held in Brokerage, but in Retirement (0.75 shares): name that account to see it.",
            "AVUV is held in Retirement but has no quote.",
            "AVUV is not held in Brokerage and was never traded there, so all amounts are 0.",
        ]
    );
}

/// The realised profit of `X`, of which `held` shares are held, and the warnings.
fn realized_profit(trades: &[(&str, f64, f64)], held: f64) -> (Value, Vec<String>) {
    let bench = Bench::with_master(&master(json!({
        "activity": activity("X", trades),
        "positions": positions(&[position("X", held, 1.0)]),
        "quotes": quotes(&[("X", 1.0, 0.0)]),
    })));
    let (data, provenance) = bench.call("get_symbol_performance", json!({"symbol": "X"})).expect("known");
    (data["realized_pl"].clone(), provenance.warnings)
}

#[test]
fn sales_are_matched_first_in_first_out() {
    let trades = [("BUY", 10.0, 100.0), ("BUY", 10.0, 200.0), ("SELL", 15.0, 210.0)];
    assert_eq!(realized_profit(&trades, 5.0), (json!(1150), vec![]));
    assert_eq!(realized_profit(&[("BUY", 10.0, 100.0)], 10.0), (json!(0), vec![]));
}

#[test]
fn sales_beyond_the_known_purchases_have_no_known_profit() {
    let (profit, warnings) = realized_profit(&[("BUY", 3.0, 8.0), ("SELL", 5.0, 10.0)], 1.0);
    assert_eq!(profit, Value::Null);
    let expected = "X: realized_pl is not known: the sales exceed the known purchases by 2 shares.";
    assert_eq!(warnings, [expected]);
}

#[test]
fn trades_that_do_not_explain_what_is_held_give_a_warning() {
    let (profit, warnings) = realized_profit(&[("BUY", 10.0, 8.0), ("SELL", 5.0, 10.0)], 42.0);
    assert_eq!(profit, json!(10));
    let expected = "X: realized_pl is from the known trades, which leave 5 shares while 42 are held.";
    assert_eq!(warnings, [expected]);
}

#[test]
fn without_activity_only_the_realised_profit_is_unknown() {
    let bench = Bench::with_master(&master(json!({
        "positions": positions(&[position("X", 1.0, 1.0)]),
        "quotes": quotes(&[("X", 3.0, 0.0)]),
    })));
    let (data, provenance) = bench.call("get_symbol_performance", json!({"symbol": "X"})).expect("held");
    assert_eq!((&data["unrealized_pl"], &data["realized_pl"]), (&json!(2), &Value::Null));
    let expected = "X: realized_pl is not known: Missing section 'activity' in user_master.json.";
    assert_eq!(provenance.warnings, [expected]);
}

fn rank(bench: &Bench, arguments: Value) -> Vec<String> {
    let data = bench.data("rank_portfolio", arguments);
    let rows = data["rankings"].as_array().expect("a list");
    for (index, row) in rows.iter().enumerate() {
        assert_eq!(row["rank"], json!(index + 1));
    }
    rows.iter().map(|row| row["symbol"].as_str().expect("a symbol").to_owned()).collect()
}

/// Gains of 10, 30, 10, -20 and 5 on costs of 100, 300, 50, 100 and 0; the last has no quote.
fn book() -> Bench {
    Bench::with_master(&master(json!({
        "positions": positions(&[
            position("A", 1.0, 100.0),
            position("B", 3.0, 100.0),
            position("C", 5.0, 10.0),
            position("D", 2.0, 50.0),
            position("FREE", 1.0, 0.0),
            position("DARK", 1.0, 1.0),
        ]),
        "quotes": quotes(&[
            ("FREE", 5.0, 0.0), ("D", 40.0, -20.0), ("C", 12.0, 0.0), ("B", 110.0, 10.0), ("A", 110.0, 0.0),
        ]),
    })))
}

#[test]
fn positions_are_ranked_best_first_and_equals_keep_their_order() {
    let bench = book();
    let data = bench.data("rank_portfolio", json!({}));
    assert_eq!((&data["direction"], &data["basis"]), (&json!("best"), &json!("unrealized_pl")));
    assert_eq!(data["unpriced"], json!(["DARK"]));
    assert_eq!(data["rankings"][0]["unrealized_pl"], json!(30));
    assert_eq!(rank(&bench, json!({})), ["B", "A", "C", "FREE", "D"]);
    assert_eq!(rank(&bench, json!({"direction": "worst"})), ["D", "FREE", "A", "C", "B"]);
}

#[test]
fn positions_are_ranked_by_the_basis_asked_for() {
    let bench = book();
    for (basis, best_first) in [
        ("unrealized_pl_pct", ["C", "A", "B", "D", "FREE"]),
        ("day_change", ["B", "A", "C", "FREE", "D"]),
        ("market_value", ["B", "A", "D", "C", "FREE"]),
    ] {
        assert_eq!(rank(&bench, json!({"basis": basis})), best_first, "{basis}");
    }
    // What has no value is last from both ends.
    let worst = rank(&bench, json!({"basis": "unrealized_pl_pct", "direction": "worst"}));
    assert_eq!(worst, ["D", "A", "B", "C", "FREE"]);
}

#[test]
fn a_ranking_names_the_sources_it_is_made_from() {
    let (_, provenance) = book().call("rank_portfolio", json!({})).expect("a ranking");
    assert_eq!(provenance.source_ids, ["tool:positions_list:v1", "tool:quotes:v1"]);
    assert_eq!(provenance.warnings, ["DARK is held in Brokerage but has no quote."]);
}

#[test]
fn nothing_held_cannot_be_ranked() {
    let bench = Bench::with_master(&master(json!({"positions": positions(&[]), "quotes": quotes(&[])})));
    assert_eq!(bench.not_found("rank_portfolio", json!({})), "No positions available for ranking");
}

#[test]
fn the_date_of_a_composite_is_its_oldest() {
    let mut book = master(
        json!({"positions": positions(&[position("X", 1.0, 1.0)]), "quotes": quotes(&[("X", 3.0, 0.0)])}),
    );
    book["quotes"]["as_of"] = json!("2026-01-12");
    let (data, provenance) = Bench::with_master(&book).call("rank_portfolio", json!({})).expect("a ranking");
    assert_eq!((data["as_of"].as_str(), provenance.as_of.as_str()), (Some("2026-01-12"), "2026-01-12"));
}

#[test]
fn performance_stands_beside_the_transfers_of_its_timeframe() {
    let bench = Bench::embedded();
    let (data, provenance) =
        bench.call("get_performance_with_transfers", json!({"timeframe": "YTD"})).expect("performance");
    for (field, expected) in [
        ("return_pct", json!(6.2)),
        ("contributions", json!(1200)),
        ("deposits", json!(1500)),
        ("withdrawals", json!(300)),
        ("net_transfers", json!(1200)),
    ] {
        assert_eq!(data[field], expected, "{field}");
    }
    // The pending deposit is shown and not counted.
    assert_eq!(data["transfers"].as_array().map(Vec::len), Some(3));
    assert_eq!(provenance.source_ids, ["tool:performance:v1", "tool:transfers:v1"]);
    assert_eq!(provenance.warnings, Vec::<String>::new());
}

#[test]
fn the_embedded_contributions_are_explained_by_transfers() {
    let bench = Bench::embedded();
    for timeframe in ["1D", "1W", "1M", "3M", "6M", "YTD", "1Y"] {
        for account in ["Brokerage", "Retirement"] {
            let arguments = json!({"timeframe": timeframe, "account": account});
            let warnings = bench.warnings("get_performance_with_transfers", arguments);
            assert_eq!(warnings, Vec::<String>::new(), "{timeframe} {account}");
        }
    }
}

#[test]
fn contributions_that_transfers_do_not_explain_give_a_warning() {
    let bench = Bench::with_master(&master(json!({
        "performance": {"account": "Brokerage", "timeframe": "ALL", "return_pct": 1, "contributions": 500.5},
        "transfers": {"account": "Brokerage", "transfers": [
            {"timestamp": "2026-01-12T10:15:00Z", "type": "deposit", "method": "ACH", "amount": 300, "status": "completed"},
        ]},
    })));
    let warnings = bench.warnings("get_performance_with_transfers", json!({"timeframe": "ALL"}));
    let expected =
        "contributions 500.50 differ by 200.50 from the completed transfers on record, net 300.00.";
    assert_eq!(warnings, [expected]);
}
