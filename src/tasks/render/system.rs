//! What stands above the messages: the role, what is in the workspace, what was remembered.

use super::{
    frame::{framed, nonce},
    given::{Given, Listed},
};
use crate::words::{counted, one_line};

/// The most documents that are listed.
const MOST: usize = 50;

/// The number of no entry, for the nonce of the list.
const LIST: u64 = u64::MAX;

pub(super) fn text(given: &Given<'_>) -> String {
    let parts = [given.role.to_owned(), contents(given), notes(given.notes)];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// The list stands within a frame: summaries are made of what others wrote.
fn contents(given: &Given<'_>) -> String {
    if given.contents.is_empty() {
        return String::new();
    }
    let lines: Vec<_> = given.contents.iter().take(MOST).map(line).collect();
    let more = if given.contents.len() > MOST { "\nand more" } else { "" };
    let text = format!("{}{more}", lines.join("\n"));
    format!("The workspace:\n{}", framed(&nonce(given.secret, LIST), "", &text))
}

fn line(listed: &Listed) -> String {
    let Listed { path, mime_type, tokens, summary } = listed;
    let tokens = counted(*tokens, "token", "tokens");
    format!("{path} ({mime_type}, {tokens}): {}", one_line(summary))
}

fn notes(notes: &[String]) -> String {
    if notes.is_empty() {
        return String::new();
    }
    let lines: Vec<_> = notes.iter().map(|note| format!("- {}", one_line(note))).collect();
    format!("What you noted:\n{}", lines.join("\n"))
}
