//! The content of one message: its text, and which kinds of parts it has that are no text.

use serde_json::value::RawValue;

use toolwire_contract::json::raw;

/// Maximum number of kinds that are named, and maximum length of each in characters.
const MAX_KINDS: usize = 8;
const MAX_KIND_LENGTH: usize = 32;

/// Stands for a message without text. It names no kind: its caller chose that word, and a planner would read it.
const ATTACHMENT: &str = "[attachment]";

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Content {
    /// Its text, that of each part on a line of its own.
    pub(super) text: String,
    /// The kinds of its other parts, each once.
    pub(super) unread: Vec<String>,
}

impl Content {
    /// Reads a content: a text, a part, or a list of parts.
    pub(super) fn read(content: &RawValue) -> Self {
        let mut read = Self::default();
        if raw::each(content, |part| read.take(part)).is_none() {
            read.take(content);
        }
        read
    }

    /// The text as a question. It is not empty for a message with nothing but other parts.
    pub(super) fn question(&self) -> String {
        if self.text.trim().is_empty() && !self.unread.is_empty() {
            return ATTACHMENT.to_owned();
        }
        self.text.clone()
    }

    fn take(&mut self, part: &RawValue) {
        if let Some(text) = raw::value::<String>(part) {
            return self.add(&text);
        }
        let kind = match raw::pick(part.get(), ["type", "text"]) {
            Some([kind, text]) => {
                let kind = kind.and_then(raw::value::<String>).unwrap_or_default();
                match text.and_then(raw::value::<String>).filter(|_| kind == "text") {
                    Some(text) => return self.add(&text),
                    None => kind,
                }
            }
            // Some clients send null for no content.
            None if part.get() == "null" => return,
            None => String::new(),
        };
        let kind = name(&kind);
        if self.unread.len() < MAX_KINDS && !self.unread.contains(&kind) {
            self.unread.push(kind);
        }
    }

    fn add(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
    }
}

/// A kind as it may be shown to people: its caller chose the word.
fn name(kind: &str) -> String {
    let plain = |c: &char| c.is_ascii_alphanumeric() || "_-. ".contains(*c);
    let name: String = kind.chars().filter(plain).take(MAX_KIND_LENGTH).collect();
    if name.trim().is_empty() { "attachment".to_owned() } else { name }
}
