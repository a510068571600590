//! Whether the data is whole, stock by stock, and as varied as tools need it.

use serde_json::Value;

use crate::sources::{embedded::data::Data, universe::Stock};
use toolwire_base::files::Tree;

fn data() -> Data {
    Data::load(Tree::Embedded(crate::data::files())).unwrap()
}

/// The closing prices, those that are null left out.
fn closes(data: &Data, symbol: &str) -> Vec<f64> {
    let chart = data.json(&format!("yahoo/chart/{symbol}.NS.json")).unwrap();
    let quote = chart.pointer("/chart/result/0/indicators/quote/0/close").unwrap();
    quote.as_array().unwrap().iter().filter_map(Value::as_f64).collect()
}

#[test]
fn every_stock_has_every_document_of_every_source() {
    let data = data();
    let stocks: Vec<&Stock> = data.universe.stocks().collect();
    assert!(stocks.len() >= 45);
    for stock in stocks {
        let symbol = &stock.symbol;
        for path in [
            format!("yahoo/chart/{symbol}.NS.json"),
            format!("yahoo/quoteSummary/{symbol}.NS.json"),
            format!("yahoo/timeseries/{symbol}.NS.json"),
            format!("nse/shareholdings/{symbol}.json"),
            format!("nse/results/{symbol}.json"),
        ] {
            assert!(data.json(&path).is_some(), "{path}");
        }
        assert!(data.text(&format!("news/googlenews/{symbol}.xml")).unwrap().contains("<item>"), "{symbol}");
        assert_links_lead_somewhere(&data, symbol);
    }
}

#[track_caller]
fn assert_links_lead_somewhere(data: &Data, symbol: &str) {
    let filings = data.json(&format!("nse/shareholdings/{symbol}.json")).unwrap();
    for filing in filings.as_array().unwrap() {
        let file = filing["xbrl"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        let xbrl = data.text(&format!("nse/xbrl/{file}")).unwrap();
        roxmltree::Document::parse(&xbrl).unwrap();
    }
}

#[test]
fn the_summary_and_the_chart_tell_the_same_price() {
    let data = data();
    for stock in data.universe.stocks() {
        let summary = data.json(&format!("yahoo/quoteSummary/{}.NS.json", stock.symbol)).unwrap();
        let price = summary.pointer("/quoteSummary/result/0/financialData/currentPrice").unwrap();
        // A few have their numbers as objects.
        let price = price.as_f64().or_else(|| price["raw"].as_f64());
        assert_eq!(price, closes(&data, &stock.symbol).last().copied(), "{}", stock.symbol);
    }
}

#[test]
fn two_stocks_have_a_short_history_and_one_has_null_bars() {
    let data = data();
    assert_eq!((closes(&data, "HDBFS").len(), closes(&data, "MEESHO").len()), (120, 30));
    assert_eq!((closes(&data, "TCS").len(), closes(&data, "COALINDIA").len()), (492, 488));
}
