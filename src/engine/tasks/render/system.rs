//! What stands above the messages: the role, what is in the workspace, what was remembered.

use super::{
    frame::{MEANING, nonce},
    given::{Body, Given, Listed, Note, Outcome},
};
use toolwire_base::words::{counted, one_line};
use toolwire_contract::frame::wrap;

/// The most documents that are listed.
const MOST: usize = 50;

/// Numbers of no entries, for the nonces of the list and of the notes.
const LIST: u64 = u64::MAX;
const NOTES_OF_TREE: u64 = u64::MAX - 1;
const NOTES_OF_USER: u64 = u64::MAX - 2;

/// Of the budget, each of both kinds of notes takes at most one part in so many.
const PART_OF_BUDGET: u64 = 8;

pub(super) fn text(given: &Given<'_>) -> String {
    let parts = [
        given.role.to_owned(),
        if frames(given) { MEANING.to_owned() } else { String::new() },
        contents(given),
        notes(given, "Noted in this work:", NOTES_OF_TREE, &given.notes.tree),
        notes(given, "Noted for this user:", NOTES_OF_USER, &given.notes.user),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// Whether anything stands within a frame, be it cut later.
fn frames(given: &Given<'_>) -> bool {
    let by = |outcome: &Outcome| outcome.is_untrusted || !outcome.documents.is_empty();
    let mut notes = given.notes.tree.iter().chain(&given.notes.user);
    let mut events = given.events.iter().map(|event| match &event.body {
        Body::Called(called) => by(&called.outcome),
        Body::Answered { outcome, .. } | Body::Decided { outcome, .. } => by(outcome),
        Body::Asked { documents, .. } => !documents.is_empty(),
        Body::Said { .. } | Body::Silent => false,
    });
    !given.contents.is_empty()
        || !given.request.documents.is_empty()
        || notes.any(|note| note.is_untrusted)
        || events.any(|frames| frames)
}

/// The list stands within a frame: summaries are made of what others wrote.
fn contents(given: &Given<'_>) -> String {
    if given.contents.is_empty() {
        return String::new();
    }
    let lines: Vec<_> = given.contents.iter().take(MOST).map(line).collect();
    let more = if given.contents.len() > MOST { "\nand more" } else { "" };
    let text = format!("{}{more}", lines.join("\n"));
    format!("The workspace:\n{}", wrap(&nonce(given.secret, LIST), "", &text))
}

fn line(listed: &Listed) -> String {
    let Listed { path, mime_type, tokens, summary } = listed;
    let tokens = counted(*tokens, "token", "tokens");
    format!("{path} ({mime_type}, {tokens}): {}", one_line(summary))
}

/// The newest notes that fit. Those that may repeat text from outside stand within a frame.
fn notes(given: &Given<'_>, heading: &str, number: u64, notes: &[Note]) -> String {
    let mut room = given.budget / PART_OF_BUDGET;
    let fits = |note: &&Note| {
        let fits = note.tokens <= room;
        room -= note.tokens.min(room);
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
        parts.push(wrap(&nonce(given.secret, number), "", &listed(&from_outside)));
    }
    if parts.is_empty() { String::new() } else { format!("{heading}\n{}", parts.join("\n")) }
}
