//! Parses the messages of a conversation: the last message of the user is the question, and what stands before it is
//! history. Both `/agent` and AG-UI's routes send conversations so.
//!
//! A client sends the whole conversation with each request. An old message must not make the new one fail, so nothing
//! is refused: the newest exchanges are kept, within bounds, and older or unreadable ones are skipped.

mod content;

use std::collections::VecDeque;

use serde_json::value::RawValue;

use self::content::Content;
use toolwire_contract::{Refusal, json::raw};
use toolwire_planner::Exchange;
use toolwire_server::service::request::refuse;

/// Maximum number of exchanges that are kept, and of the bytes of their texts: those that a session remembers.
const MAX_EXCHANGES: usize = 50;
const MAX_BYTES: usize = 64 * 1024;

/// Maximum length of a text of an exchange in bytes. A longer one is cut, so that one answer does not displace the
/// exchanges before it.
const MAX_TEXT_LENGTH: usize = 16 * 1024;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatInput {
    /// The last message of the user; empty if there is none.
    pub question: String,
    /// The kinds of its parts other than text, such as `image`.
    pub unread: Vec<String>,
    /// The exchanges before it.
    pub before: Vec<Exchange>,
}

/// Reads messages: `{role, content}`, where a content is a text or a list of parts.
pub fn read(field: &str, messages: Option<&RawValue>) -> Result<ChatInput, Refusal> {
    let Some(messages) = messages else { return Ok(ChatInput::default()) };
    let mut conversation = Conversation::default();
    raw::each(messages, |message| conversation.take(message))
        .ok_or_else(|| refuse(field, "type", "must be a list of messages"))?;
    Ok(conversation.into())
}

/// A conversation as it is read, message by message.
#[derive(Debug, Default)]
struct Conversation {
    before: VecDeque<Exchange>,
    /// The texts of `before`, in bytes.
    bytes: usize,
    /// The last message of the user, and the answer to it.
    last: Option<(Content, String)>,
}

impl Conversation {
    /// Takes the next message. Messages of other roles are skipped: a caller must not speak for the system or a tool.
    fn take(&mut self, message: &RawValue) {
        let Some([Some(role), content]) = raw::pick(message.get(), ["role", "content"]) else { return };
        let content = || content.map(Content::read).unwrap_or_default();
        match raw::value::<String>(role).as_deref() {
            Some("user") => {
                self.keep();
                self.last = Some((content(), String::new()));
            }
            Some("assistant") => {
                let Some((_, answered)) = &mut self.last else { return };
                let text = content().text;
                if !answered.is_empty() && !text.is_empty() {
                    answered.push('\n');
                }
                answered.push_str(&text);
                cut(answered);
            }
            _ => {}
        }
    }

    /// Keeps the last exchange, if it was answered: a session remembers no other ones either.
    fn keep(&mut self) {
        let Some((content, answered)) = self.last.take().filter(|(_, answered)| !answered.is_empty()) else {
            return;
        };
        let mut said = content.question();
        cut(&mut said);
        self.bytes += said.len() + answered.len();
        self.before.push_back(Exchange { said, answered, ..Exchange::default() });
        while self.before.len() > MAX_EXCHANGES || self.bytes > MAX_BYTES {
            let Some(oldest) = self.before.pop_front() else { return };
            self.bytes -= oldest.said.len() + oldest.answered.len();
        }
    }
}

fn cut(text: &mut String) {
    text.truncate(text.floor_char_boundary(MAX_TEXT_LENGTH));
}

impl From<Conversation> for ChatInput {
    fn from(Conversation { before, last, .. }: Conversation) -> Self {
        let (content, _) = last.unwrap_or_default();
        Self { question: content.question(), unread: content.unread, before: before.into() }
    }
}

#[cfg(test)]
mod tests;
