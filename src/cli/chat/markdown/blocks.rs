//! A text that comes in parts, and which of its blocks are whole. Each line is read once.

/// Blocks of which the last is not whole yet.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    text: String,
    /// Where the last line begins.
    line: usize,
    /// Whether a line that ends blocks stands above it.
    is_below_gap: bool,
    /// The marks that begin the block of code that the line is in.
    fence: String,
}

impl Blocks {
    /// The blocks that are whole with this part: a blank line ends them that is not within code, unless the line below
    /// it is indented, and so may belong to an item of a list.
    pub(super) fn push(&mut self, part: &str) -> String {
        let mut whole = 0;
        for piece in part.split_inclusive('\n') {
            let begins_line = self.line == self.text.len();
            if begins_line && self.is_below_gap && !piece.starts_with(char::is_whitespace) {
                whole = self.line;
            }
            self.text.push_str(piece);
            if piece.ends_with('\n') {
                self.end_line();
            }
        }
        if whole == 0 {
            return String::new();
        }
        self.line -= whole;
        let rest = self.text.split_off(whole);
        std::mem::replace(&mut self.text, rest)
    }

    /// All that is left.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    fn end_line(&mut self) {
        let line = self.text[self.line..].trim();
        match fence(line) {
            Some((marks, _)) if self.fence.is_empty() => marks.clone_into(&mut self.fence),
            Some((marks, "")) if marks.starts_with(&self.fence) => self.fence.clear(),
            _ => {}
        }
        self.is_below_gap = line.is_empty() && self.fence.is_empty();
        self.line = self.text.len();
    }
}

/// The marks of a line that begins or ends a block of code, which an item of a list may hold, and what follows them.
fn fence(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start_matches(|c: char| c.is_ascii_digit() || " -*+.)".contains(c));
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let (marks, rest) = line.split_at(line.len() - line.trim_start_matches(mark).len());
    (marks.len() >= 3 && !(mark == '`' && rest.contains(mark))).then_some((marks, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_whole_at_the_line_below_them() {
        for blocks in [
            &["a\nb\n\n", "c\n\n", "d"][..],
            &["a\r\n\r\n", "b"],
            &["- a\n\n    - b\n\n  c\n\n\n", "- d"],
            &["```\na\n\nb\n```\n\n", "c"],
            &["~~~\na\n\n```\n\nb\n~~~\n\n", "c"],
            &["````\n```\n\n```\n````\n\n", "c"],
            &["1. ```sh\n   a\n\n   b\n   ```\n\n", "c"],
            &["```a``` b\n\n", "c"],
        ] {
            let (mut read, mut whole) = (Blocks::default(), Vec::new());
            for character in blocks.concat().chars() {
                whole.push(read.push(character.encode_utf8(&mut [0; 4])));
            }
            whole.push(read.into_text());
            whole.retain(|it| !it.is_empty());
            assert_eq!(whole, blocks);
        }
    }
}
