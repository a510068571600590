//! Text in which nothing is Markdown: how answers quote what comes from outside, and so how its addresses are read too.

/// The text with a backslash before every sign that Markdown would take for its own.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + text.len() / 8);
    let mut before = None;
    let mut chars = text.chars().peekable();
    let mut in_marker = true;
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        let is_sign = match c {
            '\\' | '`' | '*' | '[' | ']' | '|' => true,
            // Elsewhere it is neither HTML nor an address.
            '<' => next.is_some_and(|next| next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?')),
            // Within a word it says nothing.
            '_' => !(is_of_word(before) && is_of_word(next)),
            '~' => next == Some('~') || before == Some('~'),
            '!' => next == Some('['),
            '&' => next.is_some_and(|next| next == '#' || next.is_ascii_alphabetic()),
            '#' | '+' | '-' | '=' | '>' => before.is_none(),
            // `1. ` at the beginning is an item of a list.
            '.' | ')' => in_marker && before.is_some() && next.is_none_or(|next| next == ' '),
            _ => false,
        };
        // An address takes the backslash behind it.
        if is_sign && c == '<' && is_address(safe.rsplit(' ').next().unwrap_or_default()) {
            safe.push(' ');
        }
        if is_sign {
            safe.push('\\');
        }
        safe.push(c);
        in_marker &= c.is_ascii_digit();
        before = Some(c);
    }
    safe
}

fn is_of_word(c: Option<char>) -> bool {
    c.is_some_and(char::is_alphanumeric)
}

/// Whether a word may be an address, or begin one.
fn is_address(word: &str) -> bool {
    word.contains(['.', ':', '@'])
}
