//! Bulk and block deals: as JSON that is cut without saying so, and whole as CSV.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use chrono::NaiveDate;
use http::StatusCode;
use serde_json::{Value, json};

use super::visit::refusal;
use crate::sources::embedded::{data::Data, reply, request_parts::RequestParts};

/// Maximum number of rows in the JSON.
const MAX_JSON_ROWS: usize = 70;
/// The names of the columns end with a space.
const HEADER: &str = "\u{feff}\"Date \",\"Symbol \",\"Security Name \",\"Client Name \",\"Buy / Sell \",\"Quantity Traded \",\
                      \"Trade Price / Wght. Avg. Price \",\"Remarks \"\n";

pub(super) async fn deals(State(data): State<Arc<Data>>, asked: RequestParts) -> Response {
    if let Some(refusal) = refusal(&asked) {
        return refusal;
    }
    let Some(kind @ ("bulk_deals" | "block_deals")) = asked.get("optionType") else {
        return reply::json(StatusCode::OK, &json!({ "data": [] }));
    };
    let mut rows = rows(&data, kind);
    rows.retain(|row| is_wanted(row, &asked));
    if asked.get("csv") == Some("true") {
        return reply::with_type(StatusCode::OK, "text/csv; charset=utf-8", csv(&rows));
    }
    rows.truncate(MAX_JSON_ROWS);
    reply::json(StatusCode::OK, &json!({ "data": rows }))
}

fn rows(data: &Data, kind: &str) -> Vec<Value> {
    let mut document = data.json(&format!("nse/{kind}.json")).unwrap_or_default();
    match document.get_mut("data").map(Value::take) {
        Some(Value::Array(rows)) => rows,
        _ => Vec::new(),
    }
}

pub(in super::super) fn first_deal(data: &Data) -> Option<NaiveDate> {
    let rows = ["bulk_deals", "block_deals"].into_iter().flat_map(|kind| rows(data, kind));
    rows.filter_map(|row| date(&row)).min()
}

fn date(row: &Value) -> Option<NaiveDate> {
    NaiveDate::parse_from_str(row["BD_DT_DATE"].as_str()?, "%d-%b-%Y").ok()
}

fn is_wanted(row: &Value, asked: &RequestParts) -> bool {
    let date = date(row);
    let limit = |name: &str| NaiveDate::parse_from_str(asked.get(name)?, "%d-%m-%Y").ok();
    asked.get("symbol").is_none_or(|symbol| row["BD_SYMBOL"] == symbol)
        && limit("from").is_none_or(|from| date.is_some_and(|date| date >= from))
        && limit("to").is_none_or(|to| date.is_some_and(|date| date <= to))
}

fn csv(rows: &[Value]) -> String {
    if rows.is_empty() {
        return format!("{HEADER}\"NO RECORDS\"\n");
    }
    rows.iter().fold(HEADER.to_owned(), |csv, row| csv + &line(row))
}

fn line(row: &Value) -> String {
    let text = |name: &str| row[name].as_str().unwrap_or("-").replace('"', "\"\"");
    let quantity = group_digits(&row["BD_QTY_TRD"].to_string());
    let price = group_digits(&format!("{:.2}", row["BD_TP_WATP"].as_f64().unwrap_or_default()));
    let cells = [
        text("BD_DT_DATE"),
        text("BD_SYMBOL"),
        text("BD_SCRIP_NAME"),
        text("BD_CLIENT_NAME"),
        text("BD_BUY_SELL"),
        quantity,
        price,
        text("BD_REMARKS"),
    ];
    format!("\"{}\"\n", cells.join("\",\""))
}

/// Digits as India groups them: three, then twos.
fn group_digits(number: &str) -> String {
    let (whole, fraction) = number.find('.').map_or((number, ""), |at| number.split_at(at));
    let mut grouped = String::new();
    for (at, digit) in whole.char_indices() {
        let left = whole.len() - at;
        if at > 0 && left >= 3 && left % 2 == 1 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + fraction
}
