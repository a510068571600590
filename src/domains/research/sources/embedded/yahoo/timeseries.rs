//! The timeseries, cut to the requested types and span.

use serde_json::{Value, json};

use crate::sources::embedded::request_parts::RequestParts;

/// One entry for each requested type. One without values has only its `meta`.
pub(super) fn cut(document: Option<Value>, symbol: &str, asked: &RequestParts) -> Value {
    let known = document.and_then(|mut document| document.pointer_mut("/timeseries/result").map(Value::take));
    let mut known = known.unwrap_or_default();
    let span = asked.number("period1").unwrap_or(0)..asked.number("period2").unwrap_or(i64::MAX);
    let kinds = asked.get("type").unwrap_or_default().split(',').filter(|kind| !kind.is_empty());
    let entries: Vec<_> = kinds
        .map(|kind| {
            let list = known.as_array_mut().map(Vec::as_mut_slice).unwrap_or_default();
            let entry = list.iter_mut().find(|entry| entry["meta"]["type"][0] == kind);
            let entry = entry.and_then(|entry| within(entry, kind, &span));
            entry.unwrap_or_else(|| json!({ "meta": { "symbol": [symbol], "type": [kind] } }))
        })
        .collect();
    json!({ "timeseries": { "result": entries, "error": null } })
}

/// `timestamp` and the values stand side by side; a value may be null.
fn within(entry: &mut Value, kind: &str, span: &std::ops::Range<i64>) -> Option<Value> {
    let stamps = entry["timestamp"].as_array()?;
    let is_kept = |at: &usize| stamps[*at].as_i64().is_some_and(|stamp| span.contains(&stamp));
    let kept: Vec<_> = (0..stamps.len()).filter(is_kept).collect();
    let pick = |list: &Value| kept.iter().map(|at| list[*at].clone()).collect::<Vec<_>>();
    let picked = (pick(&entry["timestamp"]), pick(&entry[kind]));
    (!kept.is_empty()).then(|| json!({ "meta": entry["meta"], "timestamp": picked.0, kind: picked.1 }))
}
