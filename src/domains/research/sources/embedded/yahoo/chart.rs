//! A chart, cut to the requested span: parallel arrays, all cut at the same indices.

use chrono::{DateTime, Datelike, Days, Months, NaiveTime, Utc};
use serde_json::{Value, json};

use crate::sources::embedded::request_parts::RequestParts;

#[derive(Debug)]
pub(super) struct ChartQuery {
    span: Span,
    range: String,
    has_dividends: bool,
    has_splits: bool,
}

#[derive(Debug, PartialEq)]
enum Span {
    /// Epoch seconds: from the first, before the second.
    Between(i64, i64),
    /// The last bars, by number.
    Last(usize),
}

/// Reads `range`, or `period1` and `period2`, and `events`; or says what is wrong with them.
pub(super) fn parse(asked: &RequestParts, now: DateTime<Utc>) -> Result<ChartQuery, String> {
    let interval = asked.get("interval").unwrap_or("1d");
    if interval != "1d" {
        return Err(format!("Invalid input - interval={interval} is not supported here, 1d is"));
    }
    let range = asked.get("range").unwrap_or("1d");
    let span = match asked.number("period1") {
        Some(from) => Span::Between(from, asked.number("period2").unwrap_or(i64::MAX)),
        None => span(range, now).ok_or_else(|| format!("Invalid input - range={range} is not supported"))?,
    };
    let events = asked.get("events").unwrap_or_default();
    Ok(ChartQuery {
        span,
        range: if asked.get("range").is_some() { range.to_owned() } else { String::new() },
        has_dividends: events.contains("div"),
        has_splits: events.contains("split"),
    })
}

fn span(range: &str, now: DateTime<Utc>) -> Option<Span> {
    let today = now.date_naive();
    let first = match range {
        "1d" => return Some(Span::Last(1)),
        "5d" => return Some(Span::Last(5)),
        "max" => return Some(Span::Between(i64::MIN, i64::MAX)),
        "ytd" => today - Days::new(u64::from(today.ordinal0())),
        _ => today - months(range)?,
    };
    Some(Span::Between(first.and_time(NaiveTime::MIN).and_utc().timestamp(), i64::MAX))
}

fn months(range: &str) -> Option<Months> {
    let (count, unit) = range.split_at(range.find(|c: char| !c.is_ascii_digit())?);
    let count: u32 = count.parse().ok()?;
    match (count, unit) {
        (1 | 3 | 6, "mo") => Some(Months::new(count)),
        (1 | 2 | 5 | 10, "y") => Some(Months::new(count * 12)),
        _ => None,
    }
}

/// The chart within the span. Without bars in it, there is no `timestamp` and the quote is empty.
pub(super) fn cut(mut document: Value, wanted: &ChartQuery) -> Value {
    if let Some(result) = document.pointer_mut("/chart/result/0") {
        let stamps = result["timestamp"].as_array().cloned().unwrap_or_default();
        let stamps: Vec<_> = stamps.iter().map(|stamp| stamp.as_i64().unwrap_or_default()).collect();
        let kept = select(&stamps, &wanted.span);
        cut_columns(result, kept.clone());
        keep_events(result, stamps.get(kept).unwrap_or_default(), wanted);
        result["meta"]["range"] = json!(wanted.range);
    }
    document
}

/// The places of the bars that are kept. Bars are in order of time.
fn select(stamps: &[i64], span: &Span) -> std::ops::Range<usize> {
    match *span {
        Span::Last(count) => stamps.len().saturating_sub(count)..stamps.len(),
        Span::Between(from, to) => {
            let first = stamps.partition_point(|stamp| *stamp < from);
            first..stamps.partition_point(|stamp| *stamp < to).max(first)
        }
    }
}

fn cut_columns(result: &mut Value, kept: std::ops::Range<usize>) {
    if kept.is_empty() {
        result["indicators"] = json!({ "quote": [{}], "adjclose": [{}] });
        result.as_object_mut().map(|result| result.shift_remove("timestamp"));
        return;
    }
    let cut = |column: &mut Value| {
        if let Value::Array(values) = column {
            *values = values.get(kept.clone()).unwrap_or_default().to_vec();
        }
    };
    cut(&mut result["timestamp"]);
    for group in ["quote", "adjclose"] {
        let columns = result["indicators"][group][0].as_object_mut();
        columns.into_iter().flat_map(|columns| columns.values_mut()).for_each(cut);
    }
}

fn keep_events(result: &mut Value, stamps: &[i64], wanted: &ChartQuery) {
    let Some(events) = result.get_mut("events").and_then(Value::as_object_mut) else { return };
    let is_within = |date: &Value| date.as_i64().is_some_and(|date| stamps.contains(&date));
    events.retain(|kind, list| {
        let is_wanted = if kind == "splits" { wanted.has_splits } else { wanted.has_dividends };
        let Some(list) = list.as_object_mut().filter(|_| is_wanted) else { return false };
        list.retain(|_, event| is_within(&event["date"]));
        !list.is_empty()
    });
    if events.is_empty() {
        result.as_object_mut().map(|result| result.shift_remove("events"));
    }
}
