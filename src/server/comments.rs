//! What of a file of the console is served: all but its comments, so that documentation adds nothing to what browsers
//! load. The build and the tests of the suite compile this file; `COMMENT` in `tests/clients/console/files.mjs` is the
//! same rule for checks without the program, and `served.test.mjs` compares the two.

/// The content that is served of the file of this path in `console/`. Files of others are served unchanged.
pub(crate) fn served(path: &str, text: String) -> String {
    let is_ours = !path.trim_start_matches('/').starts_with("vendor/");
    if is_ours && (path.ends_with(".js") || path.ends_with(".css")) { without_comments(&text) } else { text }
}

/// The text without the lines that hold only a comment: `// …`, or `/* … */` from the beginning of a line to the end of
/// one. Other comments stay. A line of a template literal that looks like a comment would be dropped too;
/// `tests/clients/console/sizes.mjs` refuses one.
fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        rest = match comment(rest) {
            Some(length) => &rest[length..],
            None => {
                let (line, after) = rest.split_at(line_end(rest));
                kept.push_str(line);
                after
            }
        };
    }
    kept
}

/// The length of the lines at the beginning of a text that hold only a comment.
fn comment(text: &str) -> Option<usize> {
    let start = text.len() - text.trim_start_matches([' ', '\t']).len();
    let body = &text[start..];
    if body.starts_with("//") {
        return Some(line_end(text));
    }
    let end = start + "/*".len() + body.strip_prefix("/*")?.find("*/")? + "*/".len();
    let length = end + line_end(&text[end..]);
    text[end..length].trim().is_empty().then_some(length)
}

/// The length of the first line of a text, with its line break.
fn line_end(text: &str) -> usize {
    text.find('\n').map_or(text.len(), |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_hold_only_a_comment_are_dropped() {
        for (text, served) in [
            ("// Head.\nlet a = 1; // kept\n\t// dropped\nlet b;", "let a = 1; // kept\nlet b;"),
            ("/**\n * Of *two*\n * lines.\n */\nfunction f() {}\n", "function f() {}\n"),
            ("\t/** @type {string} */ static at = '';\n", "\t/** @type {string} */ static at = '';\n"),
            ("/* One. */ \n/* Another. */\n* { margin: 0; }\n", "* { margin: 0; }\n"),
            ("/** @type {A}\n */ let a;\n/* B. */\n", "/** @type {A}\n */ let a;\n"),
            ("/* without an end\n", "/* without an end\n"),
            ("//", ""),
            ("", ""),
        ] {
            assert_eq!(without_comments(text), served, "{text:?}");
        }
    }

    #[test]
    fn only_our_scripts_and_styles_are_changed() {
        for (path, served) in
            [("/lib/api.js", ""), ("style.css", ""), ("vendor/lit.js", "//"), ("/icon.svg", "//")]
        {
            assert_eq!(super::served(path, "//".to_owned()), served, "{path}");
        }
    }
}
