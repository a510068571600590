//! Words of domains, which the platform does not know: not in names, comments or tests.

use std::collections::BTreeSet;

use crate::{
    findings::Finding,
    tree::{File, Tree},
};

/// Words of the bundled domains. The names of their folders are added.
const WORDS: &[&str] = &["brokerage", "reddit", "screener", "valuepickr", "yahoo"];

/// A folder of domains whose name is a word of the platform too: `--diagnostics` is its switch.
const GENERAL: &[&str] = &["diagnostics"];

/// Where the platform names what belongs to a domain.
pub(crate) fn of_domains(tree: &Tree) -> Vec<Finding> {
    let words = words(tree);
    let platform = tree.files.iter().filter(|file| is_platform(file));
    platform.filter_map(|file| finding(file, &words)).collect()
}

fn words(tree: &Tree) -> BTreeSet<&str> {
    let folders = tree.sources().filter_map(|file| {
        let below = file.path.strip_prefix("src/domains/")?;
        below.split(['/', '.']).next().filter(|folder| !GENERAL.contains(folder))
    });
    folders.chain(WORDS.iter().copied()).collect()
}

/// Everything but the domains, and the files that list modules and domains.
fn is_platform(file: &File) -> bool {
    file.path == "build.rs"
        || file.below_src().is_some_and(|path| path.contains('/') && !path.starts_with("domains/"))
}

/// Whether a text has a word: a bundled domain's own also within others, such as a type's name; a folder's as it
/// stands.
fn has(text: &str, word: &str) -> bool {
    if WORDS.contains(&word) {
        return text.contains(word);
    }
    text.split(|c: char| !c.is_ascii_alphanumeric()).any(|it| it == word)
}

fn finding(file: &File, words: &BTreeSet<&str>) -> Option<Finding> {
    let named = |text: &str| words.iter().copied().find(|word| has(&text.to_lowercase(), word));
    let in_path = named(&file.path).map(|word| format!("its path says {word}"));
    let in_lines = file.text.lines().enumerate();
    let in_lines =
        in_lines.filter_map(|(index, line)| Some(format!("line {} says {}", index + 1, named(line)?)));
    let places = in_path.into_iter().chain(in_lines).collect::<Vec<_>>();
    let what = "the platform names no domain: say it in other words, or add a word that is general to GENERAL of \
                tests/tidy/rules/words.rs";
    (!places.is_empty()).then(|| Finding::new(&file.path, &format!("{} ({what})", places.join(", "))))
}
