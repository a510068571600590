//! The answer of a tool without a template: its summary, and a table of the first list of its data.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::{
    cells::number,
    filters::ABSENT,
    quote::{quote, quote_within},
    rest::rest,
};
use crate::ground::ContextItem;
use toolwire_contract::{Payload, json};
use toolwire_engine::registry::Category;
use toolwire_planner::{ExecutedCall, PlanRequest};

/// How many rows of a list are shown, and how many of its columns.
const ROWS: usize = 8;
const COLUMNS: usize = 6;

/// The longest text in a cell, in characters.
const CELL: usize = 80;

/// The answer, with its citation.
pub(super) fn body(request: &PlanRequest<'_>, made: &ExecutedCall, item: &ContextItem) -> String {
    let list = first_list(&item.data);
    let cite = item.source_ids.iter().map(|id| format!("[{id}]")).collect::<Vec<_>>().join(" ");
    let lead = lead(request, made, item, list);
    let lead = if lead.is_empty() { lead } else { format!("{lead} {cite}") };
    // A change has nothing to show beside its summary.
    let is_summarized = list.is_none() && !lead.is_empty() && !is_read(request, item);
    let table = match list {
        Some((_, rows)) => table(rows),
        None if is_summarized => return lead,
        None => fields(&item.data),
    };
    [lead, table, cite].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// The tool's title with the summary of its manifest, and how many rows of the list are not shown.
fn lead(
    request: &PlanRequest<'_>,
    made: &ExecutedCall,
    item: &ContextItem,
    list: Option<(&str, &[Value])>,
) -> String {
    let tool = request.offer.get(&item.tool);
    let data = made.result.outcome.as_ref().ok().map(Payload::json);
    let said = tool.zip(data).and_then(|(tool, data)| tool.narration.narrate_result(data));
    let title = tool.map(|tool| quote(&tool.definition.title)).filter(|title| !title.is_empty());
    let lead = match (title, said) {
        (Some(title), Some(said)) => format!("{title}: {}.", quote(&said)),
        (Some(one), None) | (None, Some(one)) => format!("{one}."),
        (None, None) => String::new(),
    };
    let rest = list.map(|(_, rows)| rest(ROWS, rows.len()));
    let rest = rest.filter(|rest| !rest.is_empty()).map(|rest| format!("{rest}.")).unwrap_or_default();
    [lead, rest].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Whether the tool only reads.
fn is_read(request: &PlanRequest<'_>, item: &ContextItem) -> bool {
    request.offer.get(&item.tool).is_none_or(|tool| tool.definition.category == Category::Read)
}

/// The first list of objects or values in an object, and its name.
fn first_list(data: &Value) -> Option<(&str, &[Value])> {
    let lists = data.as_object()?.iter().filter_map(|(name, value)| Some((name, value.as_array()?)));
    let mut lists = lists.filter(|(_, rows)| !rows.is_empty());
    lists.next().map(|(name, rows)| (name.as_str(), rows.as_slice()))
}

fn table(rows: &[Value]) -> String {
    let shown = &rows[..rows.len().min(ROWS)];
    let columns = columns(shown);
    let mut text = String::new();
    if columns.is_empty() {
        for value in shown {
            let _ = writeln!(text, "- {}", cell(value));
        }
    } else {
        let heads: Vec<_> = columns.iter().map(|column| quote(&words(column))).collect();
        let _ = writeln!(text, "| {} |\n|{}", heads.join(" | "), "---|".repeat(heads.len()));
        for row in shown {
            let cells: Vec<_> = columns.iter().map(|it| cell(row.get(it).unwrap_or(&Value::Null))).collect();
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        }
    }
    text.trim_end().to_owned()
}

/// The fields of the rows that a cell can show.
fn columns(rows: &[Value]) -> Vec<&str> {
    let mut columns: Vec<&str> = Vec::new();
    for row in rows.iter().filter_map(Value::as_object) {
        for (name, value) in row {
            let is_shown = match value {
                // An address takes more room than it is worth.
                Value::String(text) => !text.starts_with("http"),
                Value::Array(_) | Value::Object(_) => false,
                Value::Null | Value::Bool(_) | Value::Number(_) => true,
            };
            if is_shown && !columns.contains(&name.as_str()) && columns.len() < COLUMNS {
                columns.push(name);
            }
        }
    }
    columns
}

/// The fields of an object without a list.
fn fields(data: &Value) -> String {
    let Some(fields) = data.as_object() else { return cell(data) };
    let lines = flat(fields).into_iter().take(ROWS * 2);
    let lines = lines.map(|(name, value)| format!("- {}: {}", quote(&words(&name)), cell(value)));
    lines.collect::<Vec<_>>().join("\n")
}

/// The single values of an object, and of the objects in it.
fn flat(fields: &Map<String, Value>) -> Vec<(String, &Value)> {
    let one = |(name, value): (&String, &'_ Value)| match value {
        Value::Object(inner) => inner.iter().map(|(below, _)| format!("{name} {below}")).collect(),
        _ => vec![name.clone()],
    };
    let names = fields.iter().flat_map(one);
    let values = fields.values().flat_map(|value| match value {
        Value::Object(inner) => inner.values().collect(),
        _ => vec![value],
    });
    names.zip(values).filter(|(_, value)| !matches!(value, Value::Array(_) | Value::Object(_))).collect()
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null | Value::Object(_) => ABSENT.to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        // A float would lose digits of it.
        Value::Number(it) if json::rounded_in_structure(value).is_some() => it.to_string(),
        Value::Number(it) => it.as_f64().map_or_else(|| it.to_string(), |it| number(it, None, false)),
        Value::String(text) => cut_cell(text),
        Value::Array(items) => items.len().to_string(),
    }
}

fn cut_cell(text: &str) -> String {
    quote_within(text, CELL)
}

/// The name of a field as words.
fn words(name: &str) -> String {
    name.replace('_', " ")
}
