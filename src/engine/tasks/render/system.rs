//! The system prompt: the role, the documents of the workspace, and remembered notes.

use super::{
    frame::{MEANING, nonce},
    input::{Body, DocumentSummary, Note, Outcome, RenderInput},
};
use toolwire_base::words::{counted, one_line};
use toolwire_contract::frame::wrap;

/// Maximum number of listed documents.
const MAX_LISTED: usize = 50;

/// Sequence numbers for the nonces of the list and of the notes. No entry has them.
const LIST: u64 = u64::MAX;
const NOTES_OF_TREE: u64 = u64::MAX - 1;
const NOTES_OF_USER: u64 = u64::MAX - 2;

/// Each of the two kinds of notes takes at most the budget divided by this.
const NOTES_BUDGET_DIVISOR: u64 = 8;

pub(super) fn text(input: &RenderInput<'_>) -> String {
    let parts = [
        input.role.to_owned(),
        if has_frames(input) { MEANING.to_owned() } else { String::new() },
        contents(input),
        notes(input, "Noted in this work:", NOTES_OF_TREE, &input.notes.tree),
        notes(input, "Noted for this user:", NOTES_OF_USER, &input.notes.user),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// Whether anything is framed, even if it is cut later.
fn has_frames(input: &RenderInput<'_>) -> bool {
    let is_framed = |outcome: &Outcome| outcome.is_untrusted || !outcome.documents.is_empty();
    let mut notes = input.notes.tree.iter().chain(&input.notes.user);
    let mut events = input.events.iter().map(|event| match &event.body {
        Body::Call(called) => is_framed(&called.outcome),
        Body::Answer { outcome, .. } | Body::Decision { outcome, .. } => is_framed(outcome),
        Body::Question { documents, .. } => !documents.is_empty(),
        Body::Message { .. } | Body::Other => false,
    });
    !input.contents.is_empty()
        || !input.request.documents.is_empty()
        || notes.any(|note| note.is_untrusted)
        || events.any(|is_framed| is_framed)
}

/// The list of documents. It is framed, because summaries are derived from text of others.
fn contents(input: &RenderInput<'_>) -> String {
    if input.contents.is_empty() {
        return String::new();
    }
    let lines: Vec<_> = input.contents.iter().take(MAX_LISTED).map(line).collect();
    let more = if input.contents.len() > MAX_LISTED { "\nand more" } else { "" };
    let text = format!("{}{more}", lines.join("\n"));
    format!("The workspace:\n{}", wrap(&nonce(input.secret, LIST), "", &text))
}

fn line(listed: &DocumentSummary) -> String {
    let DocumentSummary { path, mime_type, tokens, summary } = listed;
    let tokens = counted(*tokens, "token", "tokens");
    format!("{path} ({mime_type}, {tokens}): {}", one_line(summary))
}

/// The newest notes that fit. Those that may repeat text from outside are framed.
fn notes(input: &RenderInput<'_>, heading: &str, number: u64, notes: &[Note]) -> String {
    let mut rest = input.budget / NOTES_BUDGET_DIVISOR;
    let fits = |note: &&Note| {
        let fits = note.tokens <= rest;
        rest -= note.tokens.min(rest);
        fits
    };
    let mut newest: Vec<_> = notes.iter().rev().take_while(fits).collect();
    newest.reverse();
    let (from_outside, own): (Vec<_>, Vec<_>) = newest.into_iter().partition(|note| note.is_untrusted);
    let listed = |notes: &[&Note]| {
        let lines: Vec<_> = notes.iter().map(|note| format!("- {}", one_line(&note.text))).collect();
        lines.join("\n")
    };
    let mut parts = Vec::new();
    if !own.is_empty() {
        parts.push(listed(&own));
    }
    if !from_outside.is_empty() {
        parts.push(wrap(&nonce(input.secret, number), "", &listed(&from_outside)));
    }
    if parts.is_empty() { String::new() } else { format!("{heading}\n{}", parts.join("\n")) }
}
