//! A part of a text, and the beginning of it that fits. Places are counted in characters, so that none that a model
//! makes up is within one.

use super::count;
use toolwire_contract::ToolError;
use toolwire_tokens as tokens;
use toolwire_tool::argument::reject;

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part<'a> {
    pub(super) text: &'a str,
    /// Where it begins in the whole, in bytes.
    pub(super) begin: usize,
}

impl<'a> Part<'a> {
    /// The rest of a text, from this many characters on.
    pub(super) fn from(whole: &'a str, offset: u32) -> Result<Self, ToolError> {
        let wanted = usize::try_from(offset).unwrap_or(usize::MAX);
        let Some((begin, _)) = whole.char_indices().nth(wanted) else {
            let last = whole.chars().count().saturating_sub(1);
            let text = format!("`offset` is {offset}, but the last character of the result is at {last}");
            return Err(reject("offset", "maximum", text));
        };
        Ok(Self { text: &whole[begin..], begin })
    }

    /// The part of a text that is this slice of it.
    pub(super) fn of(whole: &'a str, slice: &'a str) -> Self {
        Self { text: slice, begin: slice.as_ptr().addr() - whole.as_ptr().addr() }
    }

    /// The beginning that has at most this many tokens as a member of the answer, and a character at least.
    pub(super) fn beginning(self, most: u64) -> &'a str {
        let mut wanted = most;
        loop {
            let beginning = tokens::first(self.text, wanted);
            let tokens = tokens_as_member(beginning);
            if tokens <= most || wanted <= 1 {
                let first = self.text.chars().next().map_or(0, char::len_utf8);
                return if beginning.is_empty() { &self.text[..first] } else { beginning };
            }
            // In proportion: as a member its quotation marks are escaped.
            wanted = (wanted * most / tokens).min(wanted - 1);
        }
    }
}

/// Where a byte stands, in characters.
pub(super) fn offset_of(whole: &str, byte: usize) -> u32 {
    count(whole[..byte].chars().count())
}

/// The tokens of a text as a JSON string.
pub(super) fn tokens_as_member(text: &str) -> u64 {
    tokens::count(&serde_json::to_string(text).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_fits_with_its_quotation_marks_escaped_and_the_rest_follows_it() {
        let text = r#"{"name":"naïve ₹","values":[1,2,3]},"#.repeat(200);
        let (mut offset, mut read) = (0, String::new());
        while offset < count(text.chars().count()) {
            let part = Part::from(&text, offset).unwrap();
            let beginning = part.beginning(100);
            let tokens = tokens_as_member(beginning);
            assert!(tokens <= 100 && (tokens > 60 || beginning == part.text), "{tokens}");
            read += beginning;
            offset = offset_of(&text, part.begin + beginning.len());
        }
        assert_eq!(read, text);
    }

    #[test]
    fn an_offset_behind_the_end_is_refused_with_the_last_one() {
        assert_eq!(Part::from("é₹", 1).unwrap(), Part { text: "₹", begin: 2 });
        let error = Part::from("é₹", 2).unwrap_err();
        assert!(error.message.contains("the last character of the result is at 1"), "{}", error.message);
        assert!(Part::from("é₹", u32::MAX).is_err());
    }

    #[test]
    fn a_character_at_least_is_read() {
        let text = "👩‍👩‍👧‍👦";
        assert!(!Part { text, begin: 0 }.beginning(1).is_empty());
        assert_eq!(Part { text: "", begin: 0 }.beginning(1), "");
    }
}
