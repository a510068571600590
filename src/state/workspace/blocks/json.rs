//! JSON: one block with the value, or with the text if it is invalid or nested too deeply.

use serde_json::{Value, json};

use super::build::{Blocks, code};

/// Maximum nesting of a value; deeper ones are shown as text. Protobuf decoders stop at 100 levels, and each level of
/// JSON takes three of them.
const MAX_DEPTH: usize = 24;

pub(super) fn write(text: &str, blocks: &mut Blocks) {
    match serde_json::from_str(text).ok().filter(|value| fits(value, MAX_DEPTH)) {
        Some(value) => blocks.push(data(&value)),
        None => blocks.push(code("json", text)),
    }
}

/// Writes one block per line, and omits a last line that is truncated.
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
