//! Blocks in the making: a bound on how many, and what several readers of documents write alike.

use serde_json::{Map, Value, json};

/// The most blocks. What follows them is the document itself.
pub(super) const MOST: usize = 5_000;

/// The blocks so far.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    map: Map<String, Value>,
    is_over: bool,
}

impl Blocks {
    /// Adds a block, if there is room.
    pub(super) fn push(&mut self, block: Value) {
        if self.map.len() < MOST {
            self.write(block);
        } else {
            self.is_over = true;
        }
    }

    /// Whether there were more than fit.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// The blocks by their keys.
    pub(super) fn into_map(self) -> Map<String, Value> {
        self.map
    }

    /// The texts of headings, paragraphs, lists and quotes, in order.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.map.values().flat_map(|block| {
            let items = block["items"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let is_prose = block["type"] != "code";
            block["text"].as_str().filter(|_| is_prose).into_iter().chain(items)
        })
    }

    /// Adds a block beyond the bound: the last one.
    pub(super) fn write(&mut self, block: Value) {
        self.map.insert(format!("{:06}", self.map.len() + 1), block);
    }
}

pub(super) fn code(language: &str, text: &str) -> Value {
    json!({"type": "code", "language": language, "text": text})
}

/// Adds a line to a text of lines.
pub(super) fn add_line(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line);
}
