//! What is known of the words of tools: which word speaks for which tool, and how much.
//!
//! BM25F over the fields of definitions. Everything that does not depend on a question is computed when the index is
//! made. A sentence `Do not use it for X; use T instead` speaks for `T`. Not here: scores of a question (`rank`).

mod fields;

use std::{collections::HashMap, sync::Arc};

use self::fields::{FIELDS, Fields, fields};
use super::{lexicon::Words, slots::Slot, words::Word};
use crate::registry::{Category, RegisteredTool};

/// How soon more of the same word says no more, and how much long fields count less.
const K1: f32 = 1.2;
const B: f32 = 0.3;

/// How much two words side by side say, beside what each says.
const PAIR: f32 = 0.5;
/// And three words as they stand, the small ones included.
const TRIPLE: f32 = 0.4;

/// A term by its number.
pub(in crate::agent::plan) type Term = u32;

/// The words of the tools of one snapshot.
#[derive(Debug)]
pub(in crate::agent::plan) struct Index {
    /// In the order of the snapshot.
    pub(in crate::agent::plan) tools: Box<[Indexed]>,
    terms: HashMap<String, Term>,
    /// By term: the tools it speaks for, and how much.
    postings: Vec<Box<[(u32, f32)]>>,
    /// By term: how rare it is.
    rarity: Vec<f32>,
    /// Of a term that no tool has.
    pub(in crate::agent::plan) unknown: f32,
}

/// What is known of one tool.
#[derive(Debug)]
pub(in crate::agent::plan) struct Indexed {
    /// The tool.
    pub(in crate::agent::plan) tool: Arc<RegisteredTool>,
    /// What it takes, and how that is read from a message.
    pub(in crate::agent::plan) slots: Vec<Slot>,
    /// Whether it changes nothing.
    pub(in crate::agent::plan) is_read: bool,
}

impl Index {
    /// Of the given tools.
    pub(in crate::agent::plan) fn new<'a>(
        tools: impl IntoIterator<Item = &'a Arc<RegisteredTool>>,
        words: &Words,
    ) -> Self {
        let tools: Vec<_> = tools.into_iter().cloned().collect();
        let documents = fields(&tools, words);
        let mut building = Building::new(&documents);
        building.add_all(&documents);
        let indexed = |tool: Arc<RegisteredTool>| Indexed {
            slots: Slot::all(&tool),
            is_read: tool.definition.category == Category::Read,
            tool,
        };
        let Building { terms, postings, rarity, unknown, .. } = building;
        let postings = postings.into_iter().map(Vec::into_boxed_slice).collect();
        Self { tools: tools.into_iter().map(indexed).collect(), terms, postings, rarity, unknown }
    }

    /// Whether it is of these tools, in whatever status they are.
    pub(in crate::agent::plan) fn is_of<'a>(
        &self,
        tools: impl ExactSizeIterator<Item = &'a Arc<RegisteredTool>>,
    ) -> bool {
        let is_same = |(indexed, tool): (&Indexed, &Arc<RegisteredTool>)| {
            Arc::ptr_eq(&indexed.tool.routing, &tool.routing)
        };
        tools.len() == self.tools.len() && self.tools.iter().zip(tools).all(is_same)
    }

    /// The number of a term that some tool has.
    pub(in crate::agent::plan) fn term(&self, text: &str) -> Option<Term> {
        self.terms.get(text).copied()
    }

    /// Whether some tool has a word.
    pub(in crate::agent::plan) fn knows(&self, word: &Word) -> bool {
        self.terms.contains_key(&word.term)
    }

    /// The tools that a term speaks for, and how much.
    pub(in crate::agent::plan) fn postings(&self, term: Term) -> &[(u32, f32)] {
        &self.postings[term as usize]
    }

    /// How rare a term is.
    pub(in crate::agent::plan) fn rarity(&self, term: Term) -> f32 {
        self.rarity[term as usize]
    }
}

/// An index in the making.
struct Building {
    terms: HashMap<String, Term>,
    postings: Vec<Vec<(u32, f32)>>,
    rarity: Vec<f32>,
    unknown: f32,
    /// The mean length of each field.
    mean: [f32; FIELDS],
}

impl Building {
    #[allow(clippy::cast_precision_loss, reason = "thousands of tools, not millions")]
    fn new(documents: &[Fields]) -> Self {
        let count = documents.len().max(1) as f32;
        let mean = std::array::from_fn(|field| {
            let words: usize = documents.iter().map(|document| document.lengths[field]).sum();
            (words as f32 / count).max(1.0)
        });
        let unknown = (count + 1.0).ln_1p();
        Self { terms: HashMap::new(), postings: Vec::new(), rarity: Vec::new(), unknown, mean }
    }

    fn add_all(&mut self, documents: &[Fields]) {
        for (tool, document) in documents.iter().enumerate() {
            let tool = u32::try_from(tool).expect("no registry has so many tools");
            for (term, counts) in &document.counts {
                let term = self.number(term);
                let weight = self.weight(counts, &document.lengths);
                self.postings[term as usize].push((tool, weight));
            }
        }
        self.finish(documents.len());
    }

    /// A word's count over all fields, long fields less, as the first half of BM25F.
    #[allow(clippy::cast_precision_loss, reason = "hundreds of words, not millions")]
    fn weight(&self, counts: &[f32; FIELDS], lengths: &[usize; FIELDS]) -> f32 {
        let of_field = |field: usize| {
            let length = lengths[field] as f32 / self.mean[field];
            fields::WEIGHTS[field] * counts[field] / (1.0 - B + B * length)
        };
        (0..FIELDS).map(of_field).sum()
    }

    fn number(&mut self, term: &str) -> Term {
        if let Some(term) = self.terms.get(term) {
            return *term;
        }
        let number = Term::try_from(self.postings.len()).expect("no language has so many words");
        self.terms.insert(term.to_owned(), number);
        self.postings.push(Vec::new());
        number
    }

    /// The second half: what every tool says, says nothing.
    #[allow(clippy::cast_precision_loss, reason = "thousands of tools, not millions")]
    fn finish(&mut self, tools: usize) {
        let mut rarity = vec![0.0; self.postings.len()];
        for (text, term) in &self.terms {
            let postings = &mut self.postings[*term as usize];
            let (all, with) = (tools as f32, postings.len() as f32);
            let rare = ((all - with + 0.5) / (with + 0.5)).ln_1p();
            let share = match text.matches(' ').count() {
                0 => 1.0,
                1 => PAIR,
                _ => TRIPLE,
            };
            for (_, weight) in postings.iter_mut() {
                *weight = share * rare * *weight * (K1 + 1.0) / (K1 + *weight);
            }
            rarity[*term as usize] = rare;
        }
        self.rarity = rarity;
    }
}
