//! Text from outside: whatever goes in, what comes out shows all that it holds, keeps its bounds and stays as it is.

use toolwire::sources::upstream::{
    orders,
    text::{Identifier, Line, Link, Passage},
};
use unicode_normalization::is_nfc;

/// The bound of a line, in characters.
const LINE: usize = 300;
/// Bounds of a passage, in characters: shorter than any input, and longer.
const BOUNDS: [usize; 4] = [0, 7, 120, 100_000];

/// Makes a text safe in every way.
pub fn run(input: &[u8]) {
    let raw = String::from_utf8_lossy(input);
    for line in [Line::of(&raw), Line::of_html(&raw)] {
        assert_safe(&line, LINE);
        assert!(!line.contains('\n'), "{line:?}");
        assert_eq!(Line::of(&line), line);
    }
    for most in BOUNDS {
        for passage in [Passage::of(&raw, most), Passage::of_html(&raw, most)] {
            assert_safe(&passage, most);
            assert_eq!(Passage::of(&passage, most), passage);
        }
        let markdown = Passage::of_markdown(&raw, most);
        assert_shown(&markdown, most);
        assert_shown(&orders::leave_out(&markdown).text, usize::MAX);
    }
    for exact in [Identifier::of(&raw).as_str(), Link::of(&raw).as_str()] {
        assert!(exact.is_empty() || exact == raw, "{exact:?}");
        assert_shown(exact, usize::MAX);
    }
}

/// What holds of every text.
fn assert_shown(text: &str, most: usize) {
    assert!(!text.chars().any(is_hidden), "hidden characters in {text:?}");
    assert!(text.chars().count() <= most, "more than {most} characters: {text:?}");
    assert!(!text.to_lowercase().contains("user_generated_content"), "{text:?}");
}

/// What holds besides where addresses need not stay as they are.
fn assert_safe(text: &str, most: usize) {
    assert_shown(text, most);
    assert!(is_nfc(text), "not in NFC: {text:?}");
    assert_eq!(text, text.trim());
    let lower = text.to_lowercase();
    for forbidden in ["<script", "</", "<!", "<|", "](", "  ", "\n\n\n", "---", "<<<"] {
        assert!(!lower.contains(forbidden), "{forbidden} in {text:?}");
    }
}

/// Some of what a reader does not see: enough to find a way past the sanitiser, whose own list is longer.
fn is_hidden(c: char) -> bool {
    matches!(c,
        '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{e000}'..='\u{f8ff}' | '\u{e0000}'..='\u{10ffff}')
}
