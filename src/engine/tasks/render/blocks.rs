//! Parts of messages, and how calls and documents become them: whole, cut, or as a reference.

use super::{
    frame::{self, nonce},
    given::{Document, DocumentVersion, Given, Outcome, Stored},
};
use toolwire_base::words::{counted, one_line};
use toolwire_contract::frame::wrap;
use toolwire_tokens::{self as tokens, KEPT, Length};

/// What a medium is taken to cost: providers count pixels or pages, which are not known here.
const MEDIA_TOKENS: u64 = 1_600;

/// A part of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    pub content: Content,
    /// How many tokens it takes.
    pub tokens: u64,
}

/// What a part of a message is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    Text(String),
    /// The assistant's call of a tool.
    Use {
        /// Names the call: letters, digits, `_` and `-`, at most 64.
        id: String,
        tool: String,
        /// The arguments, a JSON object.
        input: String,
    },
    Result {
        id: String,
        tool: String,
        /// JSON text or a status, framed where it came from outside.
        content: String,
        is_error: bool,
        /// How many tokens were left out.
        tokens_cut: u64,
    },
    Document {
        reference: DocumentVersion,
        /// Its type. Empty if it is not known.
        mime_type: String,
        /// Its text, framed. Empty for media.
        text: String,
        /// Its bytes, for media.
        data: Vec<u8>,
        /// Whether only path, size and summary are given.
        is_reference: bool,
        /// How many tokens of its text were left out, where they were counted.
        tokens_cut: u64,
    },
    /// What the provider wants back.
    Opaque(Vec<u8>),
}

impl Block {
    pub fn text(text: String) -> Self {
        Self { tokens: tokens::count(&text), content: Content::Text(text) }
    }

    /// A text whose tokens may have been counted.
    pub(super) fn counted(text: String, tokens: Option<u64>) -> Self {
        Self { tokens: tokens.unwrap_or_else(|| tokens::count(&text)), content: Content::Text(text) }
    }

    /// What a provider wants back.
    pub(super) fn opaque(data: Vec<u8>) -> Self {
        Self { tokens: tokens::estimate(data.len() as u64), content: Content::Opaque(data) }
    }

    /// How many bytes of media it has.
    pub(super) fn media(&self) -> usize {
        if let Content::Document { data, .. } = &self.content { data.len() } else { 0 }
    }

    /// About how many bytes it has.
    pub fn size(&self) -> usize {
        match &self.content {
            Content::Text(text) => text.len(),
            Content::Use { id, tool, input } => id.len() + tool.len() + input.len(),
            Content::Result { id, tool, content, .. } => id.len() + tool.len() + content.len(),
            Content::Document { reference, mime_type, text, data, .. } => {
                reference.path.len() + mime_type.len() + text.len() + data.len()
            }
            Content::Opaque(data) => data.len(),
        }
    }
}

impl Default for Content {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

/// The call of a tool, which is still to be named.
pub(super) fn used(tool: &str, input: &str, tokens: Option<u64>) -> Block {
    let tokens = tokens::count(tool) + tokens.unwrap_or_else(|| tokens::count(input));
    let (tool, input) = (tool.to_owned(), input.to_owned());
    Block { tokens, content: Content::Use { id: String::new(), tool, input } }
}

/// What a call returned: whole, or its beginning and end.
pub(super) fn result(
    given: &Given<'_>,
    sequence: u64,
    named: (&str, &str),
    outcome: &Outcome,
    is_cut: bool,
) -> Block {
    let length = outcome.length.unwrap_or_else(|| Length::of(&outcome.content));
    let (content, tokens, tokens_cut) = if is_cut {
        shortened(&outcome.content, length)
    } else {
        (outcome.content.clone(), length.tokens, 0)
    };
    let (content, tokens) = if outcome.is_untrusted {
        (wrap(&nonce(given.secret, sequence), "", &content), tokens + frame::TOKENS)
    } else {
        (content, tokens)
    };
    let (id, tool) = (named.0.to_owned(), named.1.to_owned());
    Block { tokens, content: Content::Result { id, tool, content, is_error: outcome.is_error, tokens_cut } }
}

/// The beginning and the end of a text, how many tokens they have, and how many are missing between them.
fn shortened(text: &str, length: Length) -> (String, u64, u64) {
    let Some((first, last, cut)) = length.ends(text) else { return (text.to_owned(), length.tokens, 0) };
    let line = format!("\n[{} left out]\n", counted(cut, "token", "tokens"));
    (format!("{first}{line}{last}"), 2 * KEPT + tokens::count(&line), cut)
}

/// How a document is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    Whole,
    /// A line about it.
    Reference,
}

/// A document as it came with an entry.
pub(super) fn document(given: &Given<'_>, sequence: u64, reference: &DocumentVersion, shown: Shown) -> Block {
    let found = given.documents.get(reference);
    let nonce = nonce(given.secret, sequence);
    let title = format!("{}, version {}", reference.path, reference.version);
    let of_text = found.and_then(|it| it.tokens).map(|tokens| tokens + tokens::count(&title) + frame::TOKENS);
    let block = |text: String, data: Vec<u8>, is_reference: bool| {
        let tokens = match of_text.filter(|_| !is_reference) {
            _ if !data.is_empty() => MEDIA_TOKENS,
            Some(tokens) => tokens,
            None => tokens::count(&text),
        };
        let mime_type = found.map(|it| it.mime_type.clone()).unwrap_or_default();
        let reference = reference.clone();
        let tokens_cut = if is_reference { found.and_then(|it| it.tokens).unwrap_or(0) } else { 0 };
        let content = Content::Document { reference, mime_type, text, data, is_reference, tokens_cut };
        Block { content, tokens }
    };
    match found.and_then(|it| it.content.as_ref()).filter(|_| shown == Shown::Whole) {
        Some(Stored::Text(text)) => block(wrap(&nonce, &title, text), Vec::new(), false),
        Some(Stored::Media(data)) if is_taken(given, found) => block(String::new(), data.clone(), false),
        _ => block(wrap(&nonce, &title, &about(found)), Vec::new(), true),
    }
}

fn is_taken(given: &Given<'_>, document: Option<&Document>) -> bool {
    document.is_some_and(|document| given.media_types.contains(&document.mime_type))
}

fn about(document: Option<&Document>) -> String {
    let Some(document) = document else { return "It cannot be read any longer.".to_owned() };
    let size = counted(document.size, "byte", "bytes");
    format!("{}, {size}, not shown here. {}", document.mime_type, one_line(&document.summary))
        .trim_end()
        .to_owned()
}
