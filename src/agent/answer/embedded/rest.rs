//! The rest of a list that an answer shows the first of.

use crate::ground::ONES;

/// `The first eight of 42 are shown`; nothing if there are no more.
pub(super) fn rest(shown: usize, all: usize) -> String {
    if all <= shown {
        return String::new();
    }
    // In words: an answer has no digits that no result has.
    let first = ONES.get(shown).map_or_else(|| "The first".to_owned(), |count| format!("The first {count}"));
    format!("{first} of {all} are shown")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_is_said() {
        assert_eq!(rest(8, 42), "The first eight of 42 are shown");
        assert_eq!(rest(8, 8), "");
    }
}
