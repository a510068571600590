//! Full-text search: documents that contain all words, or if there are none, any of them. Ranked by the rarity of a
//! word in this tree and by the relevance of the document for it; other trees have no influence.

use std::collections::HashMap;

use super::{WorkspaceHandle, query::Query, snippet, unavailable};
use crate::documents::{Criteria, Document, Matches, Term};
use toolwire_contract::DocumentRefusal;

/// Maximum characters of a query, and maximum number of its words and phrases.
const MAX_QUERY_CHARS: usize = 256;
const MAX_TERMS: usize = 16;

/// Number of the best candidates to which the filter is applied in one query.
const FILTER_BATCH: usize = 256;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hits {
    pub hits: Vec<Hit>,
    /// Whether no document contains all words, so that the hits contain any of them.
    pub any_word: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    pub document: Document,
    /// The text around the first match.
    pub snippet: String,
}

impl WorkspaceHandle {
    /// The best `most` documents that match the query and the criteria, best first.
    pub async fn search(
        &self,
        query: &str,
        criteria: &Criteria,
        most: usize,
    ) -> Result<Hits, DocumentRefusal> {
        let query = parse_query(query)?;
        let terms: Vec<_> = query.find.iter().chain(&query.without).map(term).collect();
        if query.find.is_empty() {
            return Ok(Hits::default());
        }
        let matches = self.store().match_documents(self.root(), &terms).await;
        let matches = matches.map_err(|error| unavailable(&error))?;
        let (ranked, any_word) = rank(&matches, query.find.len());
        // Deleted documents are not in the index.
        let criteria = Criteria { deleted: false, ..criteria.clone() };
        let mut hits = Vec::new();
        // Without a filter every candidate matches.
        let batch = if criteria == Criteria::default() { most } else { FILTER_BATCH.max(most) };
        for some in ranked.chunks(batch.max(1)) {
            let mut found = self.matching(some, &criteria).await?;
            for id in some {
                if hits.len() < most
                    && let Some(document) = found.remove(id)
                {
                    let snippet = snippet::of(self, &document, &query.find).await?;
                    hits.push(Hit { document, snippet });
                }
            }
            if hits.len() == most {
                break;
            }
        }
        Ok(Hits { any_word: any_word && !hits.is_empty(), hits })
    }

    async fn matching(
        &self,
        ids: &[i64],
        criteria: &Criteria,
    ) -> Result<HashMap<i64, Document>, DocumentRefusal> {
        let found = self.store().documents_among(self.root(), ids, criteria).await;
        let found = found.map_err(|error| unavailable(&error))?;
        Ok(found.into_iter().collect())
    }
}

pub(super) fn parse_query(query: &str) -> Result<Query, DocumentRefusal> {
    let length = query.chars().count();
    if !(1..=MAX_QUERY_CHARS).contains(&length) {
        let what = format!("must have 1 to {MAX_QUERY_CHARS} characters");
        return Err(DocumentRefusal::invalid("query", "max_length", &what));
    }
    let query = Query::parse(query);
    if query.find.len() + query.without.len() > MAX_TERMS {
        let what = format!("must have at most {MAX_TERMS} words and phrases");
        return Err(DocumentRefusal::invalid("query", "max_items", &what));
    }
    Ok(query)
}

fn term(phrase: &Vec<String>) -> Term {
    match phrase.as_slice() {
        [word] => Term::Word(word.clone()),
        words => Term::Phrase(words.to_vec()),
    }
}

/// Ranks documents by identifier, best first, and returns whether they contain any rather than all of the first `find`
/// parts.
pub(super) fn rank(matches: &Matches, find: usize) -> (Vec<i64>, bool) {
    let (find, without) = matches.parts.split_at(find);
    let mut without: Vec<i64> = without.iter().flatten().map(|(id, _)| *id).collect();
    without.sort_unstable();
    // Sorted rather than hashed: common words contribute a row per document and word.
    let mut all = Vec::with_capacity(find.iter().map(Vec::len).sum());
    for (number, part) in find.iter().enumerate() {
        let rarity = rarity(matches.documents, part.len());
        all.extend(part.iter().map(|(id, step)| (*id, number, rarity * f64::from(*step))));
    }
    all.sort_unstable_by_key(|(id, number, _)| (*id, *number));
    let mut scored: Vec<(i64, usize, f64)> = Vec::new();
    for same in all.chunk_by(|one, other| one.0 == other.0) {
        let id = same[0].0;
        if without.binary_search(&id).is_err() {
            let parts = same.chunk_by(|one, other| one.1 == other.1).count();
            scored.push((id, parts, same.iter().map(|(.., score)| score).sum()));
        }
    }
    let any_word = !scored.iter().any(|(_, parts, _)| *parts == find.len());
    scored.retain(|(_, parts, _)| any_word || *parts == find.len());
    scored.sort_unstable_by(|(left, _, a), (right, _, b)| b.total_cmp(a).then(left.cmp(right)));
    (scored.into_iter().map(|(id, ..)| id).collect(), any_word)
}

/// The inverse document frequency of BM25, of a part that `having` of all documents contain.
fn rarity(documents: u64, having: usize) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "at most 10,000")]
    let (documents, having) = (documents as f64, having as f64);
    (1.0 + (documents - having + 0.5).max(0.0) / (having + 0.5)).ln()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn ranked(documents: u64, parts: &[&[(i64, u8)]], find: usize) -> (Vec<i64>, bool) {
        rank(&Matches { documents, parts: parts.iter().map(|part| part.to_vec()).collect() }, find)
    }

    #[test]
    fn all_words_come_before_any() {
        assert_eq!(ranked(9, &[&[(1, 1), (2, 1)], &[(2, 1), (3, 8)]], 2), (vec![2], false));
        assert_eq!(ranked(9, &[&[(1, 1), (2, 2)], &[(3, 8)]], 2), (vec![3, 2, 1], true));
    }

    #[test]
    fn a_rare_word_tells_more_and_a_left_out_one_takes_away() {
        let common: Vec<_> = (1..=8).map(|id| (id, 4)).collect();
        let (best, _) = ranked(9, &[&common, &[(9, 4)], &[]], 3);
        assert_eq!(best[0], 9);
        assert_eq!(ranked(9, &[&[(1, 4), (2, 4)], &[(1, 1)]], 1), (vec![2], false));
        assert_eq!(ranked(9, &[&[]], 1), (vec![], true));
    }

    #[test]
    fn a_query_is_bounded() {
        assert!(parse_query("").is_err() && parse_query(&"x".repeat(257)).is_err());
        let words = |count: usize| (0..count).map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ");
        assert!(parse_query(&words(16)).is_ok() && parse_query(&words(17)).is_err());
    }

    proptest! {
        #[test]
        fn what_is_left_out_is_never_found(
            parts in proptest::collection::vec(proptest::collection::vec((0_i64..20, 1_u8..9), 0..9), 1..4),
            find in 1_usize..4,
        ) {
            let find = find.min(parts.len());
            let matches = Matches { documents: 20, parts };
            let (ranked, _) = rank(&matches, find);
            let without: HashSet<_> = matches.parts[find..].iter().flatten().map(|(id, _)| *id).collect();
            let having: HashSet<_> = matches.parts[..find].iter().flatten().map(|(id, _)| *id).collect();
            prop_assert!(ranked.iter().all(|id| having.contains(id) && !without.contains(id)));
            prop_assert_eq!(ranked.iter().collect::<HashSet<_>>().len(), ranked.len());
        }
    }
}
