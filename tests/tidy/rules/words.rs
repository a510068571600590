//! Words of domains, which the platform does not know: not in names, comments or tests, nor in data.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    findings::Finding,
    tree::{File, Tree},
};

/// Words of the bundled domains. The names of their folders are added.
const WORDS: &[&str] = &["brokerage", "reddit", "screener", "valuepickr", "yahoo"];

/// Words of domains that the platform has too. `diagnostics` is a folder of domains, and `--diagnostics` its switch;
/// `compare` and `define` are keywords of tools, and words with which questions of any kind begin.
const GENERAL: &[&str] = &["compare", "define", "diagnostics", "versus", "vs"];

/// The lists of lexicons and manifests whose single words belong to domains. Of the other lists many are general.
const OF_ONE_DOMAIN: &[&str] = &["amounts", "keywords", "out_of_scope", "things", "verbs"];

/// Where the platform names what belongs to a domain.
pub(crate) fn of_domains(tree: &Tree) -> Vec<Finding> {
    let (names, declared) = (words(tree), declared(tree));
    // Code has other meanings for a word such as `order`.
    let all = names.iter().copied().chain(declared.iter().map(String::as_str)).collect::<BTreeSet<_>>();
    let files = tree.files.iter().map(|file| (file, &names));
    let files = files.chain(tree.data.iter().map(|file| (file, &all)));
    files.filter(|(file, _)| is_platform(file)).filter_map(|(file, words)| finding(file, words)).collect()
}

/// The single words that domains declare as their own, in small letters.
fn declared(tree: &Tree) -> BTreeSet<String> {
    let files = tree.data.iter().filter(|file| file.path.starts_with("data/"));
    let lists = files.flat_map(|file| {
        let json: Value = serde_json::from_str(&file.text).expect("a lexicon or a manifest is JSON");
        OF_ONE_DOMAIN.iter().map(move |key| json[*key].clone())
    });
    let texts = lists.filter_map(|list| serde_json::from_value::<Vec<String>>(list).ok()).flatten();
    let words = texts.map(|text| text.to_lowercase());
    let is_single = |word: &String| word.chars().all(char::is_alphanumeric);
    words.filter(is_single).filter(|word| !GENERAL.contains(&word.as_str())).collect()
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
    let what = "the platform names no domain: say it in other words, move it to the lexicon of its domain, or add a \
                word that is general to GENERAL of tests/tidy/rules/words.rs";
    (!places.is_empty()).then(|| Finding::new(&file.path, &format!("{} ({what})", places.join(", "))))
}
