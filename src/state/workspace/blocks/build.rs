//! A bounded builder of blocks, and helpers that several formats share.

use serde_json::{Map, Value, json};

/// Maximum number of blocks. Further content is represented by one `file` block.
pub(super) const MAX_BLOCKS: usize = 5_000;

#[derive(Debug, Default)]
pub(super) struct Blocks {
    map: Map<String, Value>,
    is_over: bool,
}

impl Blocks {
    /// Appends a block, or records that the limit is exceeded.
    pub(super) fn push(&mut self, block: Value) {
        if self.map.len() < MAX_BLOCKS {
            self.write(block);
        } else {
            self.is_over = true;
        }
    }

    /// Whether blocks were dropped.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

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

    /// Appends a block regardless of the limit.
    pub(super) fn write(&mut self, block: Value) {
        self.map.insert(format!("{:06}", self.map.len() + 1), block);
    }
}

pub(super) fn code(language: &str, text: &str) -> Value {
    json!({"type": "code", "language": language, "text": text})
}

pub(super) fn add_line(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line);
}
