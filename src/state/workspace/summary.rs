//! Extractive summaries, of at most [`MAX_CHARS`] characters: sentences of the document, or a description of its
//! structure.
//!
//! Deterministic, and without a model: sentences are scored by the frequency of their words in the text.

use std::{cmp::Reverse, collections::HashMap};

use serde_json::Value;
use unicode_segmentation::UnicodeSegmentation;

use super::{
    blocks::{prose, table},
    image,
    mime::{self, Kind},
    terms, utf8,
};
use toolwire_base::words::{counted, is_hidden, one_line, without_bom};

/// Maximum characters of a summary.
pub const MAX_CHARS: usize = 400;
/// Maximum bytes of prose that are analysed.
const MAX_PROSE_BYTES: usize = 256 * 1024;
/// Maximum number of sentences.
const MAX_SENTENCES: usize = 3;
/// Maximum number of names of columns or keys.
const MAX_NAMES: usize = 12;
/// The weight of the first sentence of a text, which tends to state its topic.
const FIRST_WEIGHT: f64 = 1.5;

pub fn of(mime: &str, bytes: &[u8]) -> String {
    of_prefix(mime, bytes, bytes.len() as u64)
}

/// The summary of a document of `size` bytes, given its first bytes or all.
pub fn of_prefix(mime: &str, first: &[u8], size: u64) -> String {
    if size == 0 {
        return "Empty.".to_owned();
    }
    let is_whole = first.len() as u64 == size;
    let text = utf8::prefix(first).filter(|_| mime::is_text(mime)).map(without_bom);
    let summary = match (Kind::of(mime), text) {
        (Kind::Table(delimiter), Some(text)) => of_table(delimiter, text, is_whole),
        (Kind::Json, Some(text)) => of_json(text, size),
        (Kind::JsonLines, Some(text)) => of_json_lines(text, is_whole),
        (Kind::Markdown, Some(text)) => of_prose(&prose(utf8::first(text, MAX_PROSE_BYTES))),
        (Kind::Code(language), Some(text)) => of_code(language, text, is_whole),
        (_, Some(text)) => of_prose(&paragraphs(utf8::first(text, MAX_PROSE_BYTES))),
        (Kind::Image, None) => image::size(first).map_or_else(
            || of_bytes(mime, size),
            |(width, height)| format!("{mime}, {width} × {height} pixels."),
        ),
        (_, None) => of_bytes(mime, size),
    };
    truncate(&summary)
}

fn of_bytes(mime: &str, size: u64) -> String {
    format!("{mime}, {}.", counted(size, "byte", "bytes"))
}

/// The prefix of a count: `at least` if only a part was analysed.
fn at_least(is_whole: bool) -> &'static str {
    if is_whole { "" } else { "At least " }
}

fn of_table(delimiter: u8, text: &str, is_whole: bool) -> String {
    let mut reader = table::reader(delimiter, text);
    let mut records = reader.records().map_while(Result::ok);
    let columns = records.next().unwrap_or_default();
    let rows = records.count();
    let names = join_names(columns.iter().map(str::to_owned), columns.len());
    let columns = counted(columns.len() as u64, "column", "columns");
    format!("{}{}, {columns}: {names}.", at_least(is_whole), counted(rows as u64, "row", "rows"))
}

fn of_json(text: &str, size: u64) -> String {
    serde_json::from_str(text).map_or_else(|_| of_bytes("JSON", size), |value| format!("{}.", shape(&value)))
}

fn of_json_lines(text: &str, is_whole: bool) -> String {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().and_then(|line| serde_json::from_str(line).ok());
    let first = first.map(|value: Value| format!(", the first: {}", shape(&value))).unwrap_or_default();
    let count = counted(lines.count() as u64 + 1, "line", "lines");
    format!("{}{count} of JSON{first}.", at_least(is_whole))
}

fn shape(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let keys = map.iter().map(|(key, value)| match value {
                Value::Array(items) => format!("{key} ({})", counted(items.len() as u64, "item", "items")),
                Value::Object(map) => format!("{key} ({})", counted(map.len() as u64, "key", "keys")),
                _ => key.clone(),
            });
            format!(
                "An object of {}: {}",
                counted(map.len() as u64, "key", "keys"),
                join_names(keys, map.len())
            )
        }
        Value::Array(items) => match items.first() {
            Some(Value::Object(map)) => {
                let names = join_names(map.keys().cloned(), map.len());
                format!("A list of {}, the first with {names}", counted(items.len() as u64, "item", "items"))
            }
            _ => format!("A list of {}", counted(items.len() as u64, "item", "items")),
        },
        other => format!("The value {other}"),
    }
}

/// The first names, and the number of the others.
fn join_names(names: impl Iterator<Item = String>, count: usize) -> String {
    let shown: Vec<_> = names.take(MAX_NAMES).map(|name| truncate_name(&one_line(&name))).collect();
    let more = count.saturating_sub(MAX_NAMES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// Truncates a name to 24 characters, to leave room for others.
fn truncate_name(name: &str) -> String {
    let is_long = name.chars().count() > 24;
    if is_long { name.chars().take(23).chain(['…']).collect() } else { name.to_owned() }
}

fn of_code(language: &str, text: &str, is_whole: bool) -> String {
    let lines = counted(text.lines().count() as u64, "line", "lines");
    let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    format!("{}{lines} of {language}, the first: {first}", at_least(is_whole))
}

fn paragraphs(text: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    for line in text.lines() {
        if line.trim().is_empty() {
            paragraphs.push(String::new());
        } else if let Some(last) = paragraphs.last_mut() {
            last.push_str(line);
            last.push(' ');
        }
    }
    paragraphs
}

/// The sentences with the highest scores, in their original order.
fn of_prose(paragraphs: &[String]) -> String {
    let sentences: Vec<String> = paragraphs
        .iter()
        .flat_map(|paragraph| paragraph.unicode_sentences())
        .map(|sentence| one_line(sentence.trim()))
        .filter(|sentence| !sentence.is_empty())
        .collect();
    let words: Vec<Vec<String>> = sentences.iter().map(|sentence| content_terms(sentence)).collect();
    let mut frequency: HashMap<&str, u32> = HashMap::new();
    for word in words.iter().flatten() {
        *frequency.entry(word).or_default() += 1;
    }
    let mut scored: Vec<(f64, usize)> = words
        .iter()
        .enumerate()
        .map(|(at, words)| (score(words, &frequency) * if at == 0 { FIRST_WEIGHT } else { 1.0 }, at))
        .collect();
    // Ties go to the earlier sentence, so that the order is deterministic.
    scored.sort_by(|(a, left), (b, right)| b.total_cmp(a).then(left.cmp(right)));
    join_best(&sentences, scored.iter().map(|(_, at)| *at))
}

/// The terms of a sentence, without stop words.
fn content_terms(sentence: &str) -> Vec<String> {
    let words = terms::words(sentence).filter(|(_, word)| !terms::is_stop_word(word));
    words.map(|(_, word)| terms::term(word)).filter(|term| !term.is_empty()).collect()
}

fn score(words: &[String], frequency: &HashMap<&str, u32>) -> f64 {
    let sum: f64 =
        words.iter().filter_map(|word| frequency.get(word.as_str())).map(|count| f64::from(*count)).sum();
    #[allow(clippy::cast_precision_loss, reason = "the words of a sentence")]
    let length = words.len().max(1) as f64;
    sum / length.sqrt()
}

/// The best sentences that fit, joined in the order of the text. A best sentence that is too long by itself is
/// truncated later.
fn join_best(sentences: &[String], best: impl Iterator<Item = usize>) -> String {
    let (mut taken, mut length) = (Vec::new(), 0);
    for at in best.take(MAX_SENTENCES) {
        let added = sentences[at].chars().count() + 1;
        if taken.is_empty() || length + added <= MAX_CHARS + 1 {
            taken.push(at);
            length += added;
        }
    }
    taken.sort_unstable_by_key(|at| Reverse(*at));
    let mut summary = String::new();
    while let Some(at) = taken.pop() {
        if !summary.is_empty() {
            summary.push(' ');
        }
        summary.push_str(&sentences[at]);
    }
    summary
}

/// Normalises to one line without hidden characters, and truncates at a word boundary.
fn truncate(text: &str) -> String {
    let text: String = one_line(text).chars().filter(|c| !is_hidden(*c)).collect();
    if text.chars().count() <= MAX_CHARS {
        return text;
    }
    let cut: String = text.chars().take(MAX_CHARS - 1).collect();
    let end = cut.rfind(' ').filter(|end| *end > cut.len() / 2).unwrap_or(cut.len());
    format!("{}…", &cut[..end])
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    #[test]
    fn prose_is_told_by_its_own_sentences() {
        let text = "Revenue in EMEA rose by 12 % in the third quarter.\n\nThe weather was fine. It was so. Revenue in \
                    APAC fell, since revenue of the third quarter is booked in the fourth. Thanks to all.";
        assert_eq!(
            of("text/plain", text.as_bytes()),
            "Revenue in EMEA rose by 12 % in the third quarter. The weather was fine. Revenue in APAC fell, since \
             revenue of the third quarter is booked in the fourth."
        );
        let text = "# Q3\n\n- **Revenue** rose.\n\n```\ncode is not told\n```\n";
        assert_eq!(of("text/markdown", text.as_bytes()), "Q3 **Revenue** rose.");
    }

    #[test]
    fn what_is_no_prose_is_told_by_its_shape() {
        for (mime, text, expected) in [
            ("text/csv", "region,month\nEMEA,1\nAPAC,2\n", "2 rows, 2 columns: region, month."),
            ("text/csv", "a\n", "0 rows, 1 column: a."),
            (
                "application/json",
                "{\"a\": [1, 2], \"b\": {\"c\": 1}, \"d\": 3}",
                "An object of 3 keys: a (2 items), b (1 key), d.",
            ),
            ("application/json", "[{\"id\": 1}]", "A list of 1 item, the first with id."),
            ("application/json", "[]", "A list of 0 items."),
            ("application/json", "7", "The value 7."),
            ("application/json", "{", "JSON, 1 byte."),
            (
                "application/x-ndjson",
                "{\"a\": 1}\n{}\n",
                "2 lines of JSON, the first: An object of 1 key: a.",
            ),
            ("text/x-rust", "\n//! A map.\nfn a() {}\n", "3 lines of rust, the first: //! A map."),
            ("image/gif", "GIF89a\u{2}\0\u{3}\0", "image/gif, 2 × 3 pixels."),
            ("application/pdf", "%PDF", "application/pdf, 4 bytes."),
            ("text/plain", "", "Empty."),
        ] {
            assert_eq!(of(mime, text.as_bytes()), expected, "{mime} {text}");
        }
        assert_eq!(of("text/plain", b"\xff\xff"), "text/plain, 2 bytes.");
        assert_eq!(of_prefix("text/csv", b"a,b\n1,2\n3", 99), "At least 2 rows, 2 columns: a, b.");
        let many: Vec<_> = (0..40).map(|number| format!("column{number}")).collect();
        assert!(of("text/csv", many.join(",").as_bytes()).ends_with("column11 and 28 more."));
    }

    #[test]
    fn a_sentence_that_is_too_long_is_cut_at_a_word() {
        let summary = of("text/plain", "revenue ".repeat(100).as_bytes());
        assert!(summary.ends_with("revenue…") && summary.chars().count() <= MAX_CHARS, "{summary}");
        assert_eq!(of("text/plain", "x".repeat(900).as_bytes()).chars().count(), MAX_CHARS);
    }

    proptest! {
        #[test]
        fn every_document_has_a_summary_within_bounds_and_the_same_each_time(
            bytes in prop_oneof![vec(any::<u8>(), 0..200), ".{0,600}".prop_map(String::into_bytes)],
            kind in 0_usize..7,
        ) {
            let mime = ["text/plain", "text/markdown", "text/csv", "application/json", "application/x-ndjson",
                "text/x-rust", "image/png"][kind];
            let summary = of(mime, &bytes);
            prop_assert!(summary.chars().count() <= MAX_CHARS);
            prop_assert!(!summary.contains(|c: char| c.is_control()));
            prop_assert_eq!(summary, of(mime, &bytes));
        }
    }
}
