//! The words by which a document is found, and how much it is about each of them.

use std::collections::HashMap;

use super::terms;
use crate::documents::Terms;

/// So many bytes of a text are found.
pub(super) const READ: usize = 64 * 1024;

/// What a word weighs by where it stands.
const PATH: f64 = 4.0;
const SAID: f64 = 3.0;
const SUMMARY: f64 = 2.0;
const TEXT: f64 = 1.0;

/// BM25's: a word that stands there often says little more, and in a long text less.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.75;
/// A text of so many words is neither short nor long. Fixed: what other documents hold changes no weight.
const USUAL_LENGTH: f64 = 300.0;

const STEPS: f64 = 8.0;

/// What is said of a document, besides its text.
#[derive(Clone, Debug)]
pub(super) struct Said<'a> {
    pub(super) path: &'a str,
    pub(super) description: &'a str,
    pub(super) tags: &'a [String],
    pub(super) summary: &'a str,
}

/// The words of a document of which this is the text, or the first of it.
pub(super) fn terms_of(said: &Said<'_>, text: &str) -> Terms {
    let of = |text: &str| terms::terms(text).collect::<Vec<_>>();
    let text = super::utf8::first(text, READ);
    let (path, summary, text) = (of(said.path), of(said.summary), of(text));
    let said = of(&format!("{}\n{}", said.description, said.tags.join("\n")));
    let weights = weights(&[(PATH, &path), (SAID, &said), (SUMMARY, &summary), (TEXT, &text)], text.len());
    Terms { path, said, summary, text, weights }
}

fn weights(parts: &[(f64, &Vec<String>)], length: usize) -> Vec<(String, u8)> {
    let mut counts: HashMap<&str, f64> = HashMap::new();
    for (weight, stems) in parts {
        for stem in *stems {
            *counts.entry(stem).or_default() += weight;
        }
    }
    #[allow(clippy::cast_precision_loss, reason = "at most 64 Ki words")]
    let length = 1.0 - LENGTH + LENGTH * length as f64 / USUAL_LENGTH;
    let mut weights: Vec<_> =
        counts.into_iter().map(|(stem, count)| (stem.to_owned(), step(count, length))).collect();
    weights.sort();
    weights
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

    fn weight(terms: &Terms, stem: &str) -> u8 {
        terms.weights.iter().find(|(it, _)| it == stem).map_or(0, |(_, step)| *step)
    }

    fn of(path: &str, text: &str) -> Terms {
        terms_of(&Said { path, description: "", tags: &[], summary: "" }, text)
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
