//! The terms by which a document is found: their weights and positions.

use std::collections::HashMap;

use super::terms;
use crate::documents::{Posting, Terms};

/// Bytes of a text that are indexed.
pub(super) const READ: usize = 64 * 1024;

/// What a word weighs by where it stands.
const PATH: f64 = 4.0;
const SAID: f64 = 3.0;
const SUMMARY: f64 = 2.0;
const TEXT: f64 = 1.0;

/// BM25's: a word that stands there often says little more, and in a long text less.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.75;
/// Words of a text that is neither short nor long. Fixed: what other documents hold changes no weight.
const USUAL_LENGTH: f64 = 300.0;

const STEPS: f64 = 8.0;

/// Where the positions of a part of a document begin: no part is as long, so that no phrase reaches into the next.
const TEXT_BEGINS: u32 = 0;
const PATH_BEGINS: u32 = 100_000;
const SAID_BEGINS: u32 = 200_000;
const SUMMARY_BEGINS: u32 = 300_000;

/// What a document has besides its text.
#[derive(Clone, Debug)]
pub(super) struct Metadata<'a> {
    pub(super) path: &'a str,
    pub(super) description: &'a str,
    pub(super) tags: &'a [String],
    pub(super) summary: &'a str,
}

/// A stem while a document is read.
#[derive(Default)]
struct Occurrences {
    /// Each weighs as much as the part in which it stands.
    weight: f64,
    positions: Vec<u32>,
}

/// The terms of a document of which this is the text, or the first of it.
pub(super) fn terms_of(metadata: &Metadata<'_>, text: &str) -> Terms {
    postings(metadata, text).into_iter().collect()
}

fn postings(metadata: &Metadata<'_>, text: &str) -> Vec<Posting> {
    let text: Vec<_> = terms::terms(super::utf8::first(text, READ)).collect();
    let length = text.len();
    let said = format!("{}\n{}", metadata.description, metadata.tags.join("\n"));
    let mut stems: HashMap<String, Occurrences> = HashMap::new();
    let mut add = |weight: f64, begin: u32, terms: &mut dyn Iterator<Item = String>| {
        for (position, stem) in (begin..).zip(terms) {
            let occurrences = stems.entry(stem).or_default();
            occurrences.weight += weight;
            occurrences.positions.push(position);
        }
    };
    // In the order of their positions.
    add(TEXT, TEXT_BEGINS, &mut text.into_iter());
    add(PATH, PATH_BEGINS, &mut terms::terms(metadata.path));
    add(SAID, SAID_BEGINS, &mut terms::terms(&said));
    add(SUMMARY, SUMMARY_BEGINS, &mut terms::terms(metadata.summary));
    #[allow(clippy::cast_precision_loss, reason = "at most 64 Ki words")]
    let length = 1.0 - LENGTH + LENGTH * length as f64 / USUAL_LENGTH;
    let posting = |(stem, Occurrences { weight, positions })| {
        let weight = step(weight, length);
        Posting { stem, weight, positions }
    };
    let mut postings: Vec<_> = stems.into_iter().map(posting).collect();
    postings.sort_by(|one, other| one.stem.cmp(&other.stem));
    postings
}

/// How much a document is about a word, from 1 to 8.
fn step(count: f64, length: f64) -> u8 {
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
