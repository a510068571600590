//! Counts the attributes of the tag that has most. Parsers compare each attribute of a tag with all others of it, so a
//! tag with a hundred thousand would keep them busy for minutes.
//!
//! The count takes one pass before anything is parsed, and is never too low: it takes every possible beginning of a tag
//! for one, within scripts and comments too. Not here: what tags say.

use strum::VariantArray;

/// Maximum number of attributes of a tag, more than any legitimate one has.
pub(super) const MAX_PER_TAG: usize = 1_000;

/// The state of a tokenizer within a tag (HTML, "Tokenization", of which that of XML is a part).
#[derive(Clone, Copy, VariantArray)]
enum TagState {
    Name,
    Between,
    Attribute,
    AfterAttribute,
    Value,
    Quoted,
    SingleQuoted,
    Unquoted,
}

impl TagState {
    /// The state after a byte, and whether an attribute begins with it. `None` at the end of the tag.
    #[allow(clippy::match_same_arms, reason = "an earlier arm goes before a later one")]
    fn after(self, byte: u8) -> Option<(Self, bool)> {
        let is_space = byte.is_ascii_whitespace();
        let state = match (self, byte) {
            (Self::Quoted, b'"') | (Self::SingleQuoted, b'\'') => Self::Between,
            (Self::Quoted | Self::SingleQuoted, _) => self,
            (_, b'>') => return None,
            (Self::Name | Self::Between | Self::AfterAttribute | Self::Attribute, b'/') => Self::Between,
            (Self::Attribute | Self::AfterAttribute, b'=') => Self::Value,
            (Self::Value, b'"') => Self::Quoted,
            (Self::Value, b'\'') => Self::SingleQuoted,
            (Self::Attribute, _) if is_space => Self::AfterAttribute,
            (Self::Name | Self::Unquoted, _) if is_space => Self::Between,
            (Self::Between | Self::AfterAttribute | Self::Value, _) if is_space => self,
            (Self::Between | Self::AfterAttribute, _) => return Some((Self::Attribute, true)),
            (Self::Value, _) => Self::Unquoted,
            (Self::Name | Self::Attribute | Self::Unquoted, _) => self,
        };
        Some((state, false))
    }
}

/// The maximum number of attributes of a tag of HTML or XML, or of what may be one.
pub(super) fn max_per_tag(markup: &str) -> usize {
    // All tags that may have begun so far are followed at once: by state, the maximum of their attributes.
    let mut counts = [None; TagState::VARIANTS.len()];
    let mut most = 0;
    for (at, byte) in markup.bytes().enumerate() {
        let mut next = [None; TagState::VARIANTS.len()];
        for &state in TagState::VARIANTS {
            let Some(count) = counts[state as usize] else { continue };
            let Some((after, begins)) = state.after(byte) else { continue };
            let count: usize = count + usize::from(begins);
            most = most.max(count);
            next[after as usize] = next[after as usize].max(Some(count));
        }
        if byte == b'<' {
            let is_tag = markup.as_bytes().get(at + 1).is_some_and(|first| !first.is_ascii_whitespace());
            next[TagState::Name as usize] = next[TagState::Name as usize].max(is_tag.then_some(0));
        }
        counts = next;
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_counted_however_they_are_written() {
        for (markup, count) in [
            ("", 0),
            ("a < b c d", 0),
            // The name of an end tag counts as one.
            ("<p>a b c</p>", 1),
            ("<p a b=c d = 'e f' g=\"h i\">", 4),
            ("<p a/b/c>", 3),
            ("<p a=''b=\"\"c>", 3),
            ("<p a='>' b c>", 3),
            ("<p =\" a b>", 3),
            ("<p a=\"<q b c d>\">", 3),
            ("<p a='>'b><q c>", 2),
            ("<p a='<' b c", 3),
            ("<ns:p xmlns:ns='u' ns:a='1'/>", 2),
            ("<é a b>", 2),
        ] {
            assert_eq!(max_per_tag(markup), count, "{markup}");
        }
    }

    #[test]
    fn what_only_looks_like_the_end_of_a_tag_hides_no_attributes() {
        let many = "a ".repeat(50);
        for before in ["", "<!-- '", "<script>\"", "<p =\" ><q x='\">' ", "<x y=\"", "<svg><style>"] {
            assert!(max_per_tag(&format!("{before}<p {many}>")) >= 50, "{before}");
        }
    }
}
