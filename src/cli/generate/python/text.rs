//! Texts of tools in a module: literals, docstrings and comments. None ends before its end, and none holds characters
//! that show another order than the one in which Python reads.

use std::fmt::Write as _;

/// A literal of the text.
pub(super) fn literal(text: &str) -> String {
    let mut literal = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => literal.extend(['\\', character]),
            '\n' => literal.push_str("\\n"),
            _ => push(&mut literal, character),
        }
    }
    literal + "\""
}

/// Lines as they stand within a docstring.
pub(super) fn docstring_lines(text: &str) -> Vec<String> {
    let escaped = |line: &str| line.replace('\\', "\\\\").replace('"', "\\\"");
    // Most words have quotes, which are only escaped where they could end the docstring.
    let may_end = |line: &str| line.contains("\"\"") || line.ends_with('"') || line.contains('\\');
    lines(text)
        .map(|line| if may_end(&line) { escaped(&line) } else { line })
        .map(|it| visible(&it))
        .collect()
}

/// A docstring of such lines. Nothing of none.
pub(super) fn docstring(lines: &[String], indent: &str) -> String {
    let ends = if lines.len() > 1 { format!("\n{indent}") } else { String::new() };
    let line = |line: &String| if line.is_empty() { String::new() } else { format!("{indent}{line}") };
    let text = lines.iter().map(line).collect::<Vec<_>>().join("\n");
    if lines.is_empty() { text } else { format!("{indent}\"\"\"{}{ends}\"\"\"\n", text.trim_start()) }
}

/// Lines as they stand behind `#: `, by which no checker takes one as said to it.
pub(super) fn comment_lines(text: &str) -> impl Iterator<Item = String> {
    lines(text).map(|line| visible(&line))
}

/// A text on one line.
pub(super) fn comment(text: &str) -> String {
    comment_lines(text).collect::<Vec<_>>().join(" ")
}

/// The lines of a text, without what ends them.
fn lines(text: &str) -> impl Iterator<Item = String> {
    let text =
        text.replace("\r\n", "\n").replace(['\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'], "\n");
    let text = text.replace('\t', "    ");
    text.trim().lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().into_iter()
}

fn visible(line: &str) -> String {
    let mut text = String::new();
    line.chars().for_each(|character| push(&mut text, character));
    text
}

/// Appends a character, or an escape of one that is not seen.
fn push(text: &mut String, character: char) {
    let is_unseen = character.is_control()
        || matches!(character, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    if is_unseen {
        let _ = match character as u32 {
            code @ ..=0xff => write!(text, "\\x{code:02x}"),
            code @ ..=0xffff => write!(text, "\\u{code:04x}"),
            code => write!(text, "\\U{code:08x}"),
        };
    } else {
        text.push(character);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_hold_any_text() {
        assert_eq!(literal("a \"b\" \\ ü \n\r\t\0"), r#""a \"b\" \\ ü \n\x0d\x09\x00""#);
        assert_eq!(literal("\u{202e}\u{feff}\u{e0041}"), r#""\u202e\ufeff\U000e0041""#);
    }

    #[test]
    fn no_words_end_a_docstring() {
        assert_eq!(
            docstring_lines("Says \"yes\" \n\n  or no."),
            ["Says \"yes\"", "", "  or no."]
                .map(|it| { if it.ends_with('"') { it.replace('"', "\\\"") } else { it.to_owned() } })
        );
        assert_eq!(docstring_lines("a \"\"\" b \\"), [r#"a \"\"\" b \\"#]);
        assert_eq!(
            docstring_lines("one\r\ntwo\rthree\u{2028}four\u{c}five"),
            ["one", "two", "three", "four", "five"]
        );
    }

    #[test]
    fn a_comment_is_on_its_lines_alone() {
        assert_eq!(comment("a\nb\rc\u{85}d\0"), "a b c d\\x00");
    }
}
