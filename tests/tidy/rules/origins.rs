//! References to the five specifications by their numbers, which mean nothing to a reader. Only docs/ORIGINS.md, which
//! says what each of them describes, has them.

use crate::{
    findings::Finding,
    tree::{File, Tree},
};

/// The page that may name them.
const PAGE: &str = "docs/ORIGINS.md";

/// This rule and what tries it.
const OF_THE_RULE: &str = "tests/tidy/";

/// Where a text names a specification by its number.
pub(crate) fn numbered(tree: &Tree) -> Vec<Finding> {
    let files = tree.files.iter().chain(&tree.data).chain(&tree.pages);
    let read = files.filter(|file| file.path != PAGE && !file.path.starts_with(OF_THE_RULE));
    read.filter_map(finding).collect()
}

fn finding(file: &File) -> Option<Finding> {
    let lines = file.text.lines().enumerate().filter(|(_, line)| has_number(line));
    let places = lines.map(|(index, _)| format!("line {}", index + 1)).collect::<Vec<_>>();
    let what = "names a specification by its number: say what is meant, or put it into docs/ORIGINS.md";
    (!places.is_empty()).then(|| Finding::new(&file.path, &format!("{} {what}", places.join(", "))))
}

/// Whether one of the numbers stands in the line as a word: not within a longer number, a date or a name.
fn has_number(line: &str) -> bool {
    line.match_indices("00").any(|(at, _)| {
        let mut after = line[at + 2..].chars();
        let is_number = after.next().is_some_and(|last| ('0'..='4').contains(&last));
        let before = line[..at].chars().next_back();
        let begins = before.is_none_or(|it| !it.is_alphanumeric() && !"_.,:/-".contains(it));
        let ends = match after.next() {
            Some('.' | ',' | ':') => after.next().is_none_or(|it| !it.is_ascii_digit()),
            it => it.is_none_or(|it| !it.is_alphanumeric() && !"_-".contains(it)),
        };
        is_number && begins && ends
    })
}
