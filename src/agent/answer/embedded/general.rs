//! The answer of a tool without a template: its summary, and a table of the first list of its data.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::{
    cells::number,
    filters::ABSENT,
    quote::{cut, quote},
};
use crate::agent::{
    ground::ContextItem,
    plan::{Asked, Made},
};

/// How many rows of a list are shown, and how many of its columns.
const ROWS: usize = 8;
const COLUMNS: usize = 6;

/// The longest text in a cell, in characters.
const CELL: usize = 80;

/// The answer, with its citation.
pub(super) fn body(asked: &Asked<'_>, made: &Made, item: &ContextItem) -> String {
    let lead = lead(asked, made, item);
    let table = first_list(&item.data).map_or_else(|| fields(&item.data), |(name, rows)| table(name, rows));
    let cite = item.source_ids.iter().map(|id| format!("[{id}]")).collect::<Vec<_>>().join(" ");
    [lead, table, cite].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// The summary of the manifest, under the tool's title.
fn lead(asked: &Asked<'_>, made: &Made, item: &ContextItem) -> String {
    let Some(tool) = asked.offer.get(&item.tool) else { return String::new() };
    let data = made.result.outcome.as_ref().map(|payload| payload.json());
    let said = data.ok().and_then(|data| tool.narration.said(data));
    let title = quote(&tool.definition.title);
    said.map_or_else(|| format!("{title}:"), |said| format!("{title}: {}.", quote(&said)))
}

/// The first list of objects or values in an object, and its name.
fn first_list(data: &Value) -> Option<(&str, &[Value])> {
    let lists = data.as_object()?.iter().filter_map(|(name, value)| Some((name, value.as_array()?)));
    let mut lists = lists.filter(|(_, rows)| !rows.is_empty());
    lists.next().map(|(name, rows)| (name.as_str(), rows.as_slice()))
}

fn table(name: &str, rows: &[Value]) -> String {
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
    let more = format!("These are the first of {} {}.\n\n", rows.len(), quote(&words(name)));
    let more = if rows.len() > shown.len() { more } else { String::new() };
    format!("{more}{}", text.trim_end())
}

/// The fields of the rows that a cell can show.
fn columns(rows: &[Value]) -> Vec<&str> {
    let mut columns: Vec<&str> = Vec::new();
    for row in rows.iter().filter_map(Value::as_object) {
        for (name, value) in row {
            let is_shown = !matches!(value, Value::Array(_) | Value::Object(_));
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
        Value::Null => ABSENT.to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(it) => it.as_f64().map_or_else(|| it.to_string(), |it| number(it, None, false)),
        Value::String(text) => cut_cell(text),
        Value::Array(items) => items.len().to_string(),
        Value::Object(_) => ABSENT.to_owned(),
    }
}

fn cut_cell(text: &str) -> String {
    quote(&cut(text, CELL))
}

/// The name of a field as words.
fn words(name: &str) -> String {
    name.replace('_', " ")
}
