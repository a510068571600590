//! JSON: one block with the value, or the text where it cannot be one.

use serde_json::{Value, json};

use super::build::{Blocks, code};

/// What is nested deeper is shown as text: readers of protobuf give up at 100 levels, and a level here is three there.
const DEEPEST: usize = 24;

pub(super) fn write(text: &str, blocks: &mut Blocks) {
    match serde_json::from_str(text).ok().filter(|value| fits(value, DEEPEST)) {
        Some(value) => blocks.push(data(&value)),
        None => blocks.push(code("json", text)),
    }
}

/// A value a line. A line that the end of what was read cuts is left out.
pub(super) fn write_lines(text: &str, is_whole: bool, blocks: &mut Blocks) {
    let text = if is_whole { text } else { text.rsplit_once('\n').map_or("", |(whole, _)| whole) };
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        write(line, blocks);
    }
}

fn data(value: &Value) -> Value {
    json!({"type": "data", "value": value})
}

fn fits(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels > 0 && items.iter().all(|item| fits(item, levels - 1)),
        Value::Object(map) => levels > 0 && map.values().all(|item| fits(item, levels - 1)),
        _ => true,
    }
}
