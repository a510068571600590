//! White space, collapsed: a run of it says no more than one space, and no more than one blank line.

use toolwire_base::words::one_line;

/// Lines without space at their ends, with single spaces within, and at most one blank line between two.
pub(super) fn lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut blanks = 0;
    for line in text.lines().map(one_line) {
        if line.is_empty() {
            blanks += 1;
            continue;
        }
        if !out.is_empty() {
            out.push_str(if blanks > 0 { "\n\n" } else { "\n" });
        }
        out.push_str(&line);
        blanks = 0;
    }
    out
}
