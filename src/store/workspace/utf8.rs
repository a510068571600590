//! Whether bytes that come in pieces are UTF-8. A character may be cut by the end of a piece.

/// What has come so far.
#[derive(Clone, Debug, Default)]
pub struct Utf8 {
    /// The begin of a character whose end has not come: at most three bytes.
    cut: Vec<u8>,
    broken: bool,
}

impl Utf8 {
    /// Takes the next piece, and tells whether everything so far may be UTF-8.
    pub fn push(&mut self, piece: &[u8]) -> bool {
        if self.broken {
            return false;
        }
        let mut rest = piece;
        while !self.cut.is_empty() {
            let Some((next, others)) = rest.split_first() else { return true };
            self.cut.push(*next);
            rest = others;
            match std::str::from_utf8(&self.cut) {
                Ok(_) => self.cut.clear(),
                Err(error) => self.broken = error.error_len().is_some(),
            }
            if self.broken {
                return false;
            }
        }
        if let Err(error) = std::str::from_utf8(rest) {
            self.broken = error.error_len().is_some();
            self.cut = rest[error.valid_up_to()..].to_vec();
        }
        !self.broken
    }

    /// Whether all of it was UTF-8, now that nothing more comes.
    pub fn is_whole(&self) -> bool {
        !self.broken && self.cut.is_empty()
    }
}

/// The text that some bytes begin with, if they are UTF-8 up to a character that their end cuts.
pub fn prefix(bytes: &[u8]) -> Option<&str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() => std::str::from_utf8(&bytes[..error.valid_up_to()]).ok(),
        Err(_) => None,
    }
}

/// At most so many bytes of a text, to the end of a character.
pub fn first(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    #[test]
    fn a_text_that_ends_within_a_character_is_not_whole() {
        let mut utf8 = Utf8::default();
        assert!(utf8.push("日".as_bytes()[..2].as_ref()));
        assert!(!utf8.is_whole());
        assert!(utf8.push(&"日".as_bytes()[2..]) && utf8.is_whole());
        assert!(!utf8.push(b"\xff") && !utf8.push(b"a") && !utf8.is_whole());
    }

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![".{0,40}".prop_map(String::into_bytes), vec(any::<u8>(), 0..40)]
    }

    proptest! {
        #[test]
        fn pieces_are_judged_as_the_whole_is(bytes in bytes(), size in 1_usize..9) {
            let mut utf8 = Utf8::default();
            for piece in bytes.chunks(size) {
                utf8.push(piece);
            }
            prop_assert_eq!(utf8.is_whole(), std::str::from_utf8(&bytes).is_ok());
        }
    }
}
