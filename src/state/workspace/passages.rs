//! Ranks the passages of one text as [`search`](super::search) ranks the documents of a tree.

use super::{
    index,
    query::Phrase,
    search::{parse_query, rank},
    terms,
};
use crate::documents::Matches;
use toolwire_contract::DocumentRefusal;

/// The passages that match a query, best first, by their places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranked {
    pub places: Vec<usize>,
    /// Whether no passage contains all words, so that these contain any of them.
    pub any_word: bool,
}

/// Checks that a text is a query within bounds, which [`rank_passages`] takes.
pub fn check_query(query: &str) -> Result<(), DocumentRefusal> {
    parse_query(query).map(drop)
}

/// Ranks passages by a query. Costs as much as reading all of them, so it belongs off the threads that carry calls.
pub fn rank_passages(
    query: &str,
    passages: impl IntoIterator<Item = impl AsRef<str>>,
) -> Result<Ranked, DocumentRefusal> {
    let query = parse_query(query)?;
    let phrases: Vec<_> = query.find.iter().chain(&query.without).collect();
    let mut parts = vec![Vec::new(); phrases.len()];
    let mut documents = 0;
    for (place, passage) in (0_i64..).zip(passages) {
        documents += 1;
        let stems: Vec<String> = terms::terms(passage.as_ref()).collect();
        for (part, phrase) in parts.iter_mut().zip(&phrases) {
            let count = count(&stems, phrase);
            if count > 0 {
                part.push((place, index::weight_in_text(count, stems.len())));
            }
        }
    }
    if query.find.is_empty() {
        return Ok(Ranked::default());
    }
    let (ranked, any_word) = rank(&Matches { documents, parts }, query.find.len());
    let places: Vec<_> = ranked.into_iter().filter_map(|place| usize::try_from(place).ok()).collect();
    Ok(Ranked { any_word: any_word && !places.is_empty(), places })
}

/// How often a phrase occurs.
fn count(stems: &[String], phrase: &Phrase) -> usize {
    match phrase.as_slice() {
        [word] => stems.iter().filter(|stem| *stem == word).count(),
        words => stems.windows(words.len()).filter(|window| *window == words).count(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(query: &str, passages: &[&str]) -> (Vec<usize>, bool) {
        let Ranked { places, any_word } = rank_passages(query, passages).unwrap();
        (places, any_word)
    }

    #[test]
    fn passages_are_ranked_by_words_phrases_and_what_is_left_out() {
        let passages = [
            "Revenues of cars rose",
            "the price of a car",
            "revenue fell; the revenue of boats is all revenue",
            "",
        ];
        assert_eq!(ranked("revenue", &passages), (vec![2, 0], false));
        assert_eq!(ranked("revenue car", &passages), (vec![0], false));
        assert_eq!(ranked("\"revenue of\" -boats", &passages), (vec![0], false));
        let (places, any_word) = ranked("boats prices", &passages);
        assert_eq!((places.len(), any_word), (2, true));
        assert_eq!(ranked("nothing", &passages), (vec![], false));
        assert_eq!(ranked("-car", &passages), (vec![], false));
        assert!(
            rank_passages("", [""]).is_err() && check_query("a b c d e f g h i j k l m n o p q").is_err()
        );
    }
}
