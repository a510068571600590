//! The rest of a list that an answer shows the first of: how much there is, and whose result has all of it.

use super::quote::quote;
use crate::ground::ONES;

/// `The first eight of 42 are shown`, and the title of the tool whose result has all of them; nothing if there are no
/// more.
pub(super) fn rest(title: &str, shown: usize, all: usize) -> String {
    if all <= shown {
        return String::new();
    }
    // In words: an answer has no digits that no result has.
    let first = ONES.get(shown).map_or_else(|| "The first".to_owned(), |count| format!("The first {count}"));
    format!("{first} of {all} are shown; the result of {} has all of them", quote(title))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_is_said_with_the_tool_that_has_all() {
        let expected = "The first eight of 42 are shown; the result of Account activity has all of them";
        assert_eq!(rest("Account activity", 8, 42), expected);
        assert_eq!(rest("Account activity", 8, 8), "");
    }
}
