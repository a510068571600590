//! Something that leads out of a text.

use std::{borrow::Cow, ops::Range};

/// Something that leads out of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::agent::ground) struct Link<'a> {
    /// Where it stands.
    pub(in crate::agent::ground) range: Range<usize>,
    /// Where it leads.
    pub(in crate::agent::ground) target: Target<'a>,
}

/// Where something leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::agent::ground) enum Target<'a> {
    /// To an address, as it was meant: without escapes.
    Address(Cow<'a, str>),
    /// An image, HTML, or an address that does not stand there openly.
    Hidden,
}

/// Something that is not to be there.
pub(super) fn hidden<'a>(range: Range<usize>) -> Link<'a> {
    Link { range, target: Target::Hidden }
}

/// An address, escaped as it stands.
pub(super) fn address(range: Range<usize>, text: &str) -> Link<'_> {
    let target = if text.is_empty() { Target::Hidden } else { Target::Address(unescaped(text)) };
    Link { range, target }
}

/// A text without the backslashes of Markdown.
pub(super) fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let (mut plain, mut chars) = (String::with_capacity(text.len()), text.chars().peekable());
    while let Some(c) = chars.next() {
        match chars.peek() {
            Some(next) if c == '\\' && next.is_ascii_punctuation() => plain.extend(chars.next()),
            _ => plain.push(c),
        }
    }
    Cow::Owned(plain)
}
