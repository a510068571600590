//! What of a file of the console is served: all but its comments, empty lines and indentation, and in styles the spaces
//! behind marks, so that what makes it readable adds nothing to what browsers load. The build and the tests of the
//! suite compile this file; `condensed` in `tests/clients/console/files.mjs` is the same rule for checks without the
//! program, and `served.test.mjs` compares the two.

use std::path::Path;

/// What means nothing in styles beside marks. None of it stands in a text of `console/style.css`, each of whose lines
/// ends with a mark.
const SPACED: [(&str, &str); 8] =
    [("\n", ""), ("  ", ""), (" {", "{"), ("{ ", "{"), ("; ", ";"), (": ", ":"), (", ", ","), (";}", "}")];

/// The content that is served of the file of this path in `console/`. Files of others are served unchanged.
pub(crate) fn served(path: &str, text: String) -> String {
    let is_ours = !path.trim_start_matches('/').starts_with("vendor/");
    let extension = Path::new(path).extension().and_then(|it| it.to_str());
    match extension {
        Some("js") if is_ours => condensed(&text),
        Some("css") if is_ours => {
            SPACED.iter().fold(condensed(&text), |text, &(from, to)| text.replace(from, to))
        }
        _ => text,
    }
}

/// The text without comments `/** … */`, lines that begin as `// …`, empty lines, tabs that begin lines, and line
/// breaks behind `;`, `,`, `(` and `{`. In template literals this would change texts;
/// `tests/clients/console/sizes.mjs` refuses those that it would.
fn condensed(text: &str) -> String {
    let mut parts = text.split("/**");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (_, after) = part.split_once("*/").unwrap_or((part, ""));
        let begins_line = matches!(kept.trim_end_matches('\t').chars().next_back(), None | Some('\n'));
        let whole_line = after.strip_prefix('\n').filter(|_| begins_line);
        kept.push_str(whole_line.or_else(|| after.strip_prefix(' ')).unwrap_or(after));
    }
    let lines = kept.split_inclusive('\n').map(|line| line.trim_start_matches('\t'));
    let kept: String = lines.filter(|line| !line.starts_with("//") && *line != "\n").collect();
    [";\n", ",\n", "(\n", "{\n"].iter().fold(kept, |kept, end| kept.replace(end, &end[..1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_indentation_are_dropped() {
        for (text, served) in [
            (
                "// Head.\nlet a = 1; // kept\n\t// dropped\n\tlet\tb;\n\tc();\n",
                "let a = 1; // kept\nlet\tb;c();",
            ),
            ("/**\n * Of *two*\n * lines.\n */\nfunction f() {}\n", "function f() {}\n"),
            ("\t/** @type {A} */ static at = '';\n", "static at = '';"),
            ("\t/** @type {A} */\n\tlet a;\n\n\tlet b;\n", "let a;let b;"),
            ("f(/** @type {A} */ (a), '*/*') /** end */\ng()", "f((a), '*/*') \ng()"),
            ("/** One. */\n/** Another. */\n* { margin: 0; }\n", "* { margin: 0; }\n"),
            ("//", ""),
            ("", ""),
        ] {
            assert_eq!(condensed(text), served, "{text:?}");
        }
    }

    #[test]
    fn only_our_scripts_and_styles_are_changed() {
        for (path, served) in
            [("/lib/api.js", ""), ("style.css", ""), ("vendor/lit.js", "//"), ("/icon.svg", "//")]
        {
            assert_eq!(super::served(path, "//".to_owned()), served, "{path}");
        }
        let style = "a, b { c: d; }\n@media (e: f) {\n  g :h { i: j }\n}\n";
        assert_eq!(super::served("style.css", style.to_owned()), "a,b{c:d}@media (e:f){g :h{i:j }}");
    }
}
