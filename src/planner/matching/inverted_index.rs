//! The inverted index of the tools' texts: which term speaks for which tool, and how much.
//!
//! BM25F over the fields of definitions. Everything that does not depend on a question is computed when the index is
//! built. A sentence `Do not use it for X; use T instead` counts for `T`. Not here: scores of a question (`rank`).

pub(crate) mod fields;
mod vocabulary;

use std::sync::Arc;

use foldhash::{HashMap, HashSet};

pub(crate) use self::vocabulary::{Term, Token};
use self::{
    fields::{Counts, FIELDS, Fields, fields},
    vocabulary::{NAME, NONE, Vocabulary, pair},
};
use super::{
    lexicon::Words,
    spelling::Spelling,
    times::is_calendar,
    words::{Word, stem},
};
use crate::{english::english, weights::weights};
use toolwire_engine::registry::RegisteredTool;

/// The tools that a term speaks for, in order, and how much.
type Postings = Vec<(u32, f32)>;

/// The index of the tools of one snapshot, in the order of the snapshot.
#[derive(Debug)]
pub(crate) struct InvertedIndex {
    vocabulary: Vocabulary,
    /// Every known word, with its term: those of English, of the lexicons and of the tools.
    spelling: Spelling<String>,
    /// See the field of [`Words`].
    out_of_scope: HashSet<String>,
    /// Those of them that the lexicons' synonyms have.
    out_of_scope_terms: HashSet<Term>,
    postings: Vec<Postings>,
    /// The tools with an utterance or a keyword that stands so, if hardly a word of it says anything.
    said: HashMap<Box<[Term]>, Vec<u32>>,
    /// By tool: the terms of its title, utterances, keywords and values, in order.
    own: Vec<Box<[Term]>>,
    /// By term: the inverse document frequency.
    rarity: Vec<f32>,
    /// The rarity of a term that no tool has.
    pub(crate) unknown: f32,
}

impl InvertedIndex {
    /// Builds the index of these tools.
    pub(crate) fn new(tools: &[Arc<RegisteredTool>], words: &Words) -> Self {
        let mut vocabulary = Vocabulary::new(words);
        let documents = fields(tools, &mut vocabulary);
        let stems = |group: &Vec<String>| group.iter().map(|stem| vocabulary.stem(stem)).collect::<Vec<_>>();
        let related: Vec<_> = words.related.iter().map(stems).collect();
        let (mut postings, mut rarity) = weigh(&documents, &vocabulary);
        relate(&related, tools.len(), &mut postings, &mut rarity);
        let mut known: HashSet<String> = vocabulary.spellings().map(str::to_owned).collect();
        known.extend(words.spellings.iter().cloned());
        known.extend(english().words().map(str::to_owned));
        let spelling = Spelling::new(known.iter().map(|word| (word.as_str(), stem(word))));
        let (unknown, out_of_scope) = (unknown(tools.len()), words.out_of_scope.clone());
        let out_of_scope_terms = out_of_scope.iter().filter_map(|word| vocabulary.find(word));
        let is_of_none = |term: &Term| postings.get(*term as usize).is_none_or(Vec::is_empty);
        let out_of_scope_terms = out_of_scope_terms.filter(is_of_none).collect();
        let own = documents.iter().map(Fields::own).collect();
        let said = said(documents);
        Self { vocabulary, spelling, out_of_scope, out_of_scope_terms, postings, said, own, rarity, unknown }
    }

    /// Whether a tool or a lexicon has a word.
    pub(crate) fn knows(&self, word: &Word) -> bool {
        self.vocabulary.find(&word.term).is_some()
    }

    /// Whether a tool has a word just so: another one of the same stem may be mistyped.
    pub(crate) fn has_written(&self, word: &Word) -> bool {
        self.vocabulary.has_written(&word.lower)
    }

    /// Whether a word that no tool has shows that a message is about something that no tool does.
    pub(crate) fn is_out_of_scope(&self, word: &Word) -> bool {
        self.out_of_scope.contains(&word.term)
    }

    /// Whether a term is such a word, or stands for a phrase: `exchange rate`.
    pub(crate) fn is_term_out_of_scope(&self, term: Term) -> bool {
        self.out_of_scope_terms.contains(&term)
    }

    /// The known word that is meant by one that is not known: the one that it is mistyped for.
    pub(crate) fn meant_by(&self, word: &Word) -> Option<&str> {
        let is_known = self.knows(word) || self.is_out_of_scope(word);
        if is_known || word.is_stop() || is_english(word) {
            None
        } else {
            self.spelling.near(&word.lower).map(|(meant, _)| meant)
        }
    }

    /// Whether two words side by side are one thing: a phrase that a synonym stands for, such as `watch list`.
    pub(crate) fn is_one(&self, left: &Word, right: &Word) -> bool {
        self.vocabulary.is_phrase(&self.tokens(&[left, right]))
    }

    /// The terms of words, each `NONE` if it has none.
    pub(crate) fn tokens(&self, words: &[&Word]) -> Vec<Token> {
        let term = |word: &Word| self.vocabulary.find(&word.term).unwrap_or(NONE);
        words.iter().map(|word| (term(word), word.is_stop())).collect()
    }

    /// What words are about: terms, each with the place of its word.
    pub(crate) fn content(&self, tokens: &[Token]) -> Vec<(Term, usize)> {
        self.vocabulary.content(tokens)
    }

    /// The terms of two that stand side by side.
    pub(crate) fn pair(&self, left: Term, right: Term) -> Option<Term> {
        self.vocabulary.find_group(pair(left, right))
    }

    /// The terms of two and of three as they stand; `None` stands for a name.
    pub(crate) fn groups(&self, tokens: &[Option<Token>]) -> Vec<Term> {
        let groups = self.vocabulary.groups(tokens.iter().map(|token| token.unwrap_or((NAME, false))));
        groups.into_iter().filter_map(|group| self.vocabulary.find_group(group)).collect()
    }

    /// The tools with an utterance or a keyword that is just these words, but for the names in them; or, where
    /// `may_say_less`, with a keyword that is the only word of them that says something: `profit` of `what is my
    /// profit`.
    pub(crate) fn said_by(&self, tokens: &[Option<Token>], may_say_less: bool) -> &[u32] {
        let may_say_less = may_say_less && tokens.iter().all(Option::is_some);
        let tokens: Vec<_> = tokens.iter().map(|token| token.unwrap_or((NAME, false))).collect();
        let standing = self.vocabulary.standing_terms(&tokens);
        let terms = |is_kept: &dyn Fn(&Token) -> bool| {
            standing.iter().filter(|token| is_kept(token)).map(|(term, _)| *term).collect::<Vec<_>>()
        };
        let find = |terms: Vec<Term>| self.said.get(terms.as_slice()).filter(|_| !terms.contains(&NONE));
        let said = find(terms(&|_| true)).or_else(|| find(terms(&|token| !token.1)).filter(|_| may_say_less));
        said.map_or(&[], Vec::as_slice)
    }

    /// Whether a term stands in the title, the utterances or the keywords of a tool.
    pub(crate) fn is_own(&self, term: Term, tool: usize) -> bool {
        self.own[tool].binary_search(&term).is_ok()
    }

    /// The term of a word, if it has one.
    pub(crate) fn term(&self, word: &Word) -> Option<Term> {
        self.vocabulary.find(&word.term)
    }

    /// Words as they stand, with what stands for a phrase in its place.
    pub(crate) fn standing(&self, words: &[&Word]) -> Vec<Term> {
        self.vocabulary.standing_terms(&self.tokens(words)).into_iter().map(|(term, _)| term).collect()
    }

    /// The tools that a term speaks for, and how much.
    pub(crate) fn postings(&self, term: Term) -> &[(u32, f32)] {
        self.postings.get(term as usize).map_or(&[], Vec::as_slice)
    }

    /// How rare a term is; 0 if no tool has it.
    pub(crate) fn rarity(&self, term: Term) -> f32 {
        self.rarity.get(term as usize).copied().unwrap_or(0.0)
    }
}

/// The tools of each text as it stands.
fn said(documents: Vec<Fields>) -> HashMap<Box<[Term]>, Vec<u32>> {
    let mut said: HashMap<Box<[Term]>, Vec<u32>> = HashMap::default();
    for (tool, document) in (0..).zip(documents) {
        for text in document.said {
            let tools = said.entry(text).or_default();
            if tools.last() != Some(&tool) {
                tools.push(tool);
            }
        }
    }
    said
}

/// Whether English has a word.
fn is_english(word: &Word) -> bool {
    let is_form = || english().irregular.get(&word.lower).is_some();
    word.number().is_some() || is_calendar(&word.lower) || is_form()
}

/// How rare a term is that no tool has.
#[allow(clippy::cast_precision_loss, reason = "thousands of tools, not millions")]
fn unknown(tools: usize) -> f32 {
    (tools.max(1) as f32 + 1.0).ln_1p()
}

/// The tools that each term speaks for, and how rare it is.
#[allow(clippy::cast_precision_loss, reason = "thousands of tools, not millions")]
fn weigh(documents: &[Fields], vocabulary: &Vocabulary) -> (Vec<Postings>, Vec<f32>) {
    let words = &weights().words;
    let all = documents.len().max(1) as f32;
    let mean: [f32; FIELDS] = std::array::from_fn(|field| {
        let words: u32 = documents.iter().map(|document| document.lengths[field]).sum();
        (words as f32 / all).max(1.0)
    });
    let mut postings = vec![Postings::new(); vocabulary.len()];
    for (tool, document) in (0..).zip(documents) {
        let shares = shares(&document.lengths, &mean);
        for (term, counts) in &document.counts {
            postings[*term as usize].push((tool, weight(*counts, &shares)));
        }
    }
    let mut rarity = vec![0.0; postings.len()];
    for ((term, postings), rarity) in (0..).zip(&mut postings).zip(&mut rarity) {
        if postings.is_empty() {
            continue;
        }
        // What every tool says, says nothing.
        let with = postings.len() as f32;
        *rarity = ((all - with + 0.5) / (with + 0.5)).ln_1p();
        let share = *rarity * vocabulary.share(term, [1.0, words.pair, words.loose, words.triple]);
        for (_, weight) in postings {
            *weight *= share * (words.saturation + 1.0) / (words.saturation + *weight);
        }
    }
    (postings, rarity)
}

/// What one word adds in each field: less in a long one.
#[allow(clippy::cast_precision_loss, reason = "hundreds of words, not millions")]
fn shares(lengths: &[u32; FIELDS], mean: &[f32; FIELDS]) -> [f32; FIELDS] {
    let (weights, b) = (fields::weights(), weights().words.length);
    std::array::from_fn(|field| {
        let length = lengths[field] as f32 / mean[field];
        weights[field] / (1.0 - b + b * length)
    })
}

/// A word's count over all fields, the first half of BM25F.
fn weight(counts: Counts, shares: &[f32; FIELDS]) -> f32 {
    counts.iter().zip(shares).map(|(count, share)| f32::from(*count) * share).sum()
}

/// Lets each word of a group speak, less, for the tools of the others.
fn relate(groups: &[Vec<Term>], tools: usize, postings: &mut [Postings], rarity: &mut [f32]) {
    let (mut all, related) = (Vec::new(), weights().words.related);
    for (group, term) in groups.iter().flat_map(|group| group.iter().map(move |term| (group, *term))) {
        let others = group.iter().filter(|other| **other != term);
        let mut best = vec![0.0_f32; tools];
        for (tool, weight) in others.clone().flat_map(|other| &postings[*other as usize]) {
            let best = &mut best[*tool as usize];
            *best = best.max(related * weight);
        }
        all.push((term, best, others.map(|other| rarity[*other as usize]).fold(0.0, f32::max)));
    }
    for (term, mut best, rarest) in all {
        let (postings, rarity) = (&mut postings[term as usize], &mut rarity[term as usize]);
        if postings.is_empty() {
            *rarity = rarest;
        }
        for (tool, weight) in &*postings {
            let best = &mut best[*tool as usize];
            *best = best.max(*weight);
        }
        *postings = (0..).zip(best).filter(|(_, weight)| *weight > 0.0).collect();
    }
}
