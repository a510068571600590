//! Incremental validation of UTF-8. A character may be split between chunks.

/// The state of the validator.
#[derive(Clone, Debug, Default)]
pub struct Utf8 {
    /// The bytes of an incomplete last character: at most three.
    cut: Vec<u8>,
    broken: bool,
}

impl Utf8 {
    /// Adds a chunk, and returns whether everything so far may be UTF-8.
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

    /// Whether the complete input was UTF-8.
    pub fn is_whole(&self) -> bool {
        !self.broken && self.cut.is_empty()
    }
}

/// The text of some bytes without a last character that is incomplete; `None` if they are not UTF-8.
pub fn prefix(bytes: &[u8]) -> Option<&str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() => std::str::from_utf8(&bytes[..error.valid_up_to()]).ok(),
        Err(_) => None,
    }
}

/// The longest prefix of at most `bytes` bytes that ends at a character boundary.
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
