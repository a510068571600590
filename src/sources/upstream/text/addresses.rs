//! Finds addresses within a text and defuses them: changed by a sign they lead nowhere.

/// How an address begins.
const BEGINNINGS: [&str; 2] = ["https://", "http://"];

/// The parts of a text in order, and of each whether it is an address.
pub(super) fn parts(text: &str) -> Vec<(bool, &str)> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(start) = BEGINNINGS.iter().filter_map(|beginning| rest.find(beginning)).min() {
        let (before, address) = rest.split_at(start);
        let end = address.find(ends).unwrap_or(address.len());
        parts.extend([(false, before), (true, &address[..end])]);
        rest = &address[end..];
    }
    parts.push((false, rest));
    parts
}

/// Whether a character ends an address: no address has it, or Markdown and HTML end one with it.
fn ends(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c, '<' | '>' | '"' | '\'' | '`' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '\\' | '^')
}
