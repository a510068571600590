//! Something that leads out of a text.

use std::{borrow::Cow, ops::Range};

/// Something that leads out of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::ground) struct Link<'a> {
    pub(in crate::ground) range: Range<usize>,
    pub(in crate::ground) target: Target<'a>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::ground) enum Target<'a> {
    /// An address that stands in the text, without its escapes.
    Address(Cow<'a, str>),
    /// The destination of a link.
    Destination(Cow<'a, str>),
    /// An image, HTML, or an address that does not stand there openly.
    Hidden,
}

/// An image, HTML or a hidden address, which no answer may contain.
pub(super) fn new_hidden<'a>(range: Range<usize>) -> Link<'a> {
    Link { range, target: Target::Hidden }
}

/// The address of a link, escaped as it stands.
pub(super) fn leading_to(range: Range<usize>, text: &str) -> Link<'_> {
    let target = if text.is_empty() { Target::Hidden } else { Target::Destination(unescape(text)) };
    Link { range, target }
}

/// A text without the backslashes of Markdown, however often it was escaped.
pub(super) fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut kept: Vec<char> = Vec::with_capacity(text.len());
    for c in text.chars().rev() {
        let escapes = c == '\\' && kept.last().is_some_and(char::is_ascii_punctuation);
        if !escapes {
            kept.push(c);
        }
    }
    Cow::Owned(kept.into_iter().rev().collect())
}
