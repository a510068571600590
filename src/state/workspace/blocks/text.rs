//! Plain text: paragraphs between blank lines.

use serde_json::json;

use super::build::{Blocks, add_line};

pub(super) fn write(text: &str, blocks: &mut Blocks) {
    let mut paragraph = String::new();
    for line in text.lines().chain([""]) {
        if !line.trim().is_empty() {
            add_line(&mut paragraph, line.trim_end());
        } else if !paragraph.is_empty() {
            blocks.push(json!({"type": "paragraph", "text": std::mem::take(&mut paragraph)}));
        }
    }
}
