//! Blocks of messages, and the rendering of calls and documents: whole, shortened, or as a reference.

use super::{
    frame::{self, nonce},
    input::{Document, DocumentContent, DocumentVersion, Outcome, RenderInput},
};
use toolwire_base::words::{counted, one_line};
use toolwire_contract::frame::wrap;
use toolwire_tokens::{self as tokens, KEPT, Length};

/// The assumed cost of a media document: providers count pixels or pages, which are not known here.
const MEDIA_TOKENS: u64 = 1_600;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    pub content: Content,
    pub tokens: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    Text(String),
    /// A tool call by the assistant.
    Use {
        /// Letters, digits, `_` and `-`, at most 64.
        id: String,
        tool: String,
        /// The arguments, a JSON object.
        input: String,
    },
    Result {
        id: String,
        tool: String,
        /// JSON text or a status, framed if it contains text from outside.
        content: String,
        is_error: bool,
        /// Tokens removed by shortening.
        tokens_cut: u64,
    },
    Document {
        reference: DocumentVersion,
        /// Empty if unknown.
        mime_type: String,
        /// Framed. Empty for media.
        text: String,
        /// The bytes of media; empty for text.
        data: Vec<u8>,
        /// Whether `text` has only size and summary.
        is_reference: bool,
        /// Tokens of the text that a reference omits, if they were counted.
        tokens_cut: u64,
    },
    /// Data of the provider, returned to it unchanged.
    Opaque(Vec<u8>),
}

impl Block {
    pub fn text(text: String) -> Self {
        Self { tokens: tokens::count(&text), content: Content::Text(text) }
    }

    /// A text with its token count, if it is known.
    pub(super) fn text_with_tokens(text: String, tokens: Option<u64>) -> Self {
        Self { tokens: tokens.unwrap_or_else(|| tokens::count(&text)), content: Content::Text(text) }
    }

    pub(super) fn opaque(data: Vec<u8>) -> Self {
        Self { tokens: tokens::estimate(data.len() as u64), content: Content::Opaque(data) }
    }

    /// Size of its media in bytes.
    pub(super) fn media(&self) -> usize {
        if let Content::Document { data, .. } = &self.content { data.len() } else { 0 }
    }

    /// Approximate size in bytes.
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

/// A tool call; its id is set later.
pub(super) fn tool_use(tool: &str, input: &str, tokens: Option<u64>) -> Block {
    let tokens = tokens::count(tool) + tokens.unwrap_or_else(|| tokens::count(input));
    let (tool, input) = (tool.to_owned(), input.to_owned());
    Block { tokens, content: Content::Use { id: String::new(), tool, input } }
}

/// The result of a call: whole, or only its beginning and end.
pub(super) fn result(
    input: &RenderInput<'_>,
    sequence: u64,
    id: &str,
    tool: &str,
    outcome: &Outcome,
    is_cut: bool,
) -> Block {
    let length = outcome.length.unwrap_or_else(|| Length::of(&outcome.content));
    let (content, tokens, tokens_cut) =
        if is_cut { shorten(&outcome.content, length) } else { (outcome.content.clone(), length.tokens, 0) };
    let (content, tokens) = if outcome.is_untrusted {
        (wrap(&nonce(input.secret, sequence), "", &content), tokens + frame::TOKENS)
    } else {
        (content, tokens)
    };
    let (id, tool) = (id.to_owned(), tool.to_owned());
    Block { tokens, content: Content::Result { id, tool, content, is_error: outcome.is_error, tokens_cut } }
}

/// The beginning and end of a text, their tokens, and the number of tokens cut between them.
fn shorten(text: &str, length: Length) -> (String, u64, u64) {
    let Some((first, last, cut)) = length.ends(text) else { return (text.to_owned(), length.tokens, 0) };
    let line = format!("\n[{} left out]\n", counted(cut, "token", "tokens"));
    (format!("{first}{line}{last}"), 2 * KEPT + tokens::count(&line), cut)
}

/// The form in which a document is rendered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DocumentForm {
    Whole,
    /// One line with size and summary.
    Reference,
}

/// Renders a document that is attached to an entry.
pub(super) fn document(
    input: &RenderInput<'_>,
    sequence: u64,
    reference: &DocumentVersion,
    form: DocumentForm,
) -> Block {
    let found = input.documents.get(reference);
    let nonce = nonce(input.secret, sequence);
    let title = format!("{}, version {}", reference.path, reference.version);
    let text_tokens =
        found.and_then(|it| it.tokens).map(|tokens| tokens + tokens::count(&title) + frame::TOKENS);
    let block = |text: String, data: Vec<u8>, is_reference: bool| {
        let tokens = match text_tokens.filter(|_| !is_reference) {
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
    match found.and_then(|it| it.content.as_ref()).filter(|_| form == DocumentForm::Whole) {
        Some(DocumentContent::Text(text)) => block(wrap(&nonce, &title, text), Vec::new(), false),
        Some(DocumentContent::Media(data)) if is_accepted(input, found) => {
            block(String::new(), data.clone(), false)
        }
        _ => block(wrap(&nonce, &title, &describe(found)), Vec::new(), true),
    }
}

fn is_accepted(input: &RenderInput<'_>, document: Option<&Document>) -> bool {
    document.is_some_and(|document| input.media_types.contains(&document.mime_type))
}

fn describe(document: Option<&Document>) -> String {
    let Some(document) = document else { return "It cannot be read any longer.".to_owned() };
    let size = counted(document.size, "byte", "bytes");
    format!("{}, {size}, not shown here. {}", document.mime_type, one_line(&document.summary))
        .trim_end()
        .to_owned()
}
