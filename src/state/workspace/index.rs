//! The search terms of a document, with weights and positions.

use std::collections::HashMap;

use super::terms;
use crate::documents::{Posting, Terms};

/// Maximum bytes of a text that are indexed.
pub(super) const MAX_BYTES: usize = 64 * 1024;

/// Weight of an occurrence, by the field in which it is.
const PATH: f64 = 4.0;
const METADATA: f64 = 3.0;
const SUMMARY: f64 = 2.0;
const TEXT: f64 = 1.0;

/// BM25's `k1` and `b`: the weight of a word saturates with its occurrences, and is lower in a long text.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.75;
/// Average number of words in a text. A constant, so that no weight depends on other documents.
const AVERAGE_LENGTH: f64 = 300.0;

const STEPS: f64 = 8.0;

/// First position in each field. No field is as long as the gap, so that no phrase extends into the next field.
const TEXT_BEGINS: u32 = 0;
const PATH_BEGINS: u32 = 100_000;
const METADATA_BEGINS: u32 = 200_000;
const SUMMARY_BEGINS: u32 = 300_000;

/// The indexed fields of a document, other than its text.
#[derive(Clone, Debug)]
pub(super) struct Metadata<'a> {
    pub(super) path: &'a str,
    pub(super) description: &'a str,
    pub(super) tags: &'a [String],
    pub(super) summary: &'a str,
}

/// Occurrences of a stem in a document.
#[derive(Default)]
struct Occurrences {
    /// Sum of the weights of the fields in which it occurs.
    weight: f64,
    positions: Vec<u32>,
}

/// The search terms of a document with this text, or prefix of a text.
pub(super) fn terms_of(metadata: &Metadata<'_>, text: &str) -> Terms {
    postings(metadata, text).into_iter().collect()
}

fn postings(metadata: &Metadata<'_>, text: &str) -> Vec<Posting> {
    let text: Vec<_> = terms::terms(super::utf8::first(text, MAX_BYTES)).collect();
    let length = text.len();
    let description_and_tags = format!("{}\n{}", metadata.description, metadata.tags.join("\n"));
    let mut stems: HashMap<String, Occurrences> = HashMap::new();
    let mut add = |weight: f64, begin: u32, terms: &mut dyn Iterator<Item = String>| {
        for (position, stem) in (begin..).zip(terms) {
            let occurrences = stems.entry(stem).or_default();
            occurrences.weight += weight;
            occurrences.positions.push(position);
        }
    };
    // In ascending order of positions, as a posting requires.
    add(TEXT, TEXT_BEGINS, &mut text.into_iter());
    add(PATH, PATH_BEGINS, &mut terms::terms(metadata.path));
    add(METADATA, METADATA_BEGINS, &mut terms::terms(&description_and_tags));
    add(SUMMARY, SUMMARY_BEGINS, &mut terms::terms(metadata.summary));
    let length = relative(length);
    let posting = |(stem, Occurrences { weight, positions })| {
        let weight = relevance(weight, length);
        Posting { stem, weight, positions }
    };
    let mut postings: Vec<_> = stems.into_iter().map(posting).collect();
    postings.sort_by(|one, other| one.stem.cmp(&other.stem));
    postings
}

/// Relevance of a text for what occurs this often among this many words, from 1 to 8.
pub(super) fn weight_in_text(count: usize, words: usize) -> u8 {
    #[allow(clippy::cast_precision_loss, reason = "no text has as many words")]
    relevance(TEXT * count as f64, relative(words))
}

/// The length of a text of this many words, relative to the average.
fn relative(words: usize) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "no text has as many words")]
    let words = words as f64;
    1.0 - LENGTH + LENGTH * words / AVERAGE_LENGTH
}

/// Relevance of a document for a word, from 1 to 8.
fn relevance(count: f64, length: f64) -> u8 {
    let share = count / (count + SATURATION * length);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 1 to 8")]
    let step = (share * STEPS).ceil().clamp(1.0, STEPS) as u8;
    step
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weight(postings: &[Posting], stem: &str) -> u8 {
        postings.iter().find(|it| it.stem == stem).map_or(0, |it| it.weight)
    }

    fn of(path: &str, text: &str) -> Vec<Posting> {
        postings(&Metadata { path, description: "", tags: &[], summary: "" }, text)
    }

    #[test]
    fn a_word_in_the_path_weighs_more_than_one_in_the_text() {
        let (path, text) = (of("sales/q3.csv", "figures"), of("q3.csv", "sales figures"));
        assert!(weight(&path, "sale") > weight(&text, "sale"), "{path:?} {text:?}");
    }

    #[test]
    fn a_word_weighs_more_where_it_is_said_often_and_less_in_a_long_text() {
        let once = of("a", "sales of cars");
        let often = of("a", "sales sales sales of cars");
        let long = of("a", &format!("sales {}", "of cars and more ".repeat(500)));
        assert!(weight(&often, "sale") > weight(&once, "sale"));
        assert!(weight(&long, "sale") < weight(&once, "sale"));
        assert_eq!(weight(&once, "nothing"), 0);
    }
}
