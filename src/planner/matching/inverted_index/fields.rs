//! The fields of a definition as counted terms, each word beside what stands for it.

use std::{collections::HashMap, sync::Arc};

use serde_json::Value;

use super::vocabulary::{NAME, Term, Token, Vocabulary};
use crate::weights;
use toolwire_engine::registry::{Extract, ExtractKind, RegisteredTool};
use toolwire_state::workspace::terms;

pub(super) const FIELDS: usize = 8;

const TITLE: usize = 0;
const DESCRIPTION: usize = 1;
const CREDITED: usize = 2;
const PARAMETERS: usize = 3;
const TEXTS: usize = 4;
const UTTERANCES: usize = 5;
const KEYWORDS: usize = 6;
const RESULT: usize = 7;

/// How much a word says in each field.
pub(super) fn weights() -> [f32; FIELDS] {
    let of = &weights::weights().fields;
    let mut all = [0.0; FIELDS];
    all[TITLE] = of.title;
    all[DESCRIPTION] = of.description;
    all[CREDITED] = of.credited;
    all[PARAMETERS] = of.parameters;
    all[TEXTS] = of.texts;
    all[UTTERANCES] = of.utterances;
    all[KEYWORDS] = of.keywords;
    all[RESULT] = of.result;
    all
}

/// How often a term stands in each field.
pub(super) type Counts = [u8; FIELDS];

/// The terms of one tool.
#[derive(Debug, Default)]
pub(super) struct Fields {
    pub(super) counts: Vec<(Term, Counts)>,
    pub(super) lengths: [u32; FIELDS],
    /// Its utterances and keywords of at most one word that says something, as they stand: what such a text asks is
    /// not told by its words.
    pub(super) said: Vec<Box<[Term]>>,
}

impl Fields {
    /// The terms of the tool's title, utterances and keywords, in order.
    pub(super) fn own(&self) -> Box<[Term]> {
        let is_own =
            |(_, counts): &&(Term, Counts)| [TITLE, UTTERANCES, KEYWORDS].iter().any(|at| counts[*at] > 0);
        let mut own: Vec<_> = self.counts.iter().filter(is_own).map(|(term, _)| *term).collect();
        own.sort_unstable();
        own.into()
    }
}

/// Counts one tool after the other.
struct Counting<'a> {
    vocabulary: &'a mut Vocabulary,
    /// By term: its place among the counts of this tool, if it has one there.
    places: Vec<(u32, u32)>,
    /// The number of this tool, from 1.
    tool: u32,
    fields: Fields,
}

/// The terms of every tool.
pub(super) fn fields(tools: &[Arc<RegisteredTool>], vocabulary: &mut Vocabulary) -> Vec<Fields> {
    let credits = credits(tools);
    let mut counting = Counting { vocabulary, places: Vec::new(), tool: 0, fields: Fields::default() };
    tools.iter().zip(credits).map(|(tool, credits)| counting.tool(tool, &credits)).collect()
}

/// What other tools say of each.
fn credits(tools: &[Arc<RegisteredTool>]) -> Vec<Vec<&str>> {
    let names = tools.iter().enumerate().map(|(at, tool)| (tool.definition.name.as_str(), at));
    let names: HashMap<_, _> = names.collect();
    let mut credits = vec![Vec::new(); tools.len()];
    for (what, instead) in
        tools.iter().flat_map(|it| sentences(&it.definition.description)).filter_map(split_instead)
    {
        let words = instead.split(|c: char| !c.is_alphanumeric() && c != '_');
        for other in words.filter_map(|word| names.get(word)) {
            credits[*other].push(what);
        }
    }
    credits
}

impl Counting<'_> {
    fn tool(&mut self, tool: &RegisteredTool, credits: &[&str]) -> Fields {
        self.tool += 1;
        let definition = &tool.definition;
        self.add(TITLE, definition.name.as_str());
        self.add(TITLE, &definition.title);
        for sentence in sentences(&definition.description).filter(|it| split_instead(it).is_none()) {
            self.add(DESCRIPTION, sentence);
        }
        for text in credits {
            self.add(CREDITED, text);
        }
        for (field, texts) in [(UTTERANCES, &definition.utterances), (KEYWORDS, &tool.hints.keywords)] {
            for text in texts {
                self.add(field, text);
            }
        }
        self.add_schema(&definition.input_schema, PARAMETERS, Some(TEXTS));
        self.add_schema(&definition.output_schema, RESULT, None);
        let extracts = tool.hints.extracts.values();
        let are_values = |it: &&Extract| matches!(it.kind, ExtractKind::Words | ExtractKind::Profile);
        for (_, phrases) in extracts.filter(are_values).flat_map(|it| &it.words) {
            for phrase in phrases {
                self.add(TEXTS, phrase);
            }
        }
        std::mem::take(&mut self.fields)
    }

    fn add(&mut self, field: usize, text: &str) {
        let words: Vec<_> = terms::words(text).collect();
        let tokens: Vec<Token> = words.iter().map(|(_, word)| self.vocabulary.read(word)).collect();
        let is_masked = |at: usize| is_name(words[at]);
        if matches!(field, UTTERANCES | KEYWORDS) {
            let masked = |(at, token): (usize, &Token)| if is_masked(at) { (NAME, false) } else { *token };
            let masked: Vec<_> = tokens.iter().enumerate().map(masked).collect();
            for group in self.vocabulary.groups(masked.iter().copied()) {
                let group = self.vocabulary.standing(group);
                self.count(field, group);
            }
            self.add_said(&masked, field == KEYWORDS);
        }
        let mut before: Option<Term> = None;
        for (term, at) in self.vocabulary.content(&tokens) {
            // The question is the same whatever name stands in an example.
            if field == UTTERANCES && is_masked(at) {
                before = None;
                continue;
            }
            self.count(field, term);
            self.fields.lengths[field] += 1;
            if let Some(before) = before.filter(|_| matches!(field, TITLE | UTTERANCES | KEYWORDS)) {
                let pair = self.vocabulary.pair(before, term);
                self.count(field, pair);
            }
            before = Some(term);
        }
    }

    /// Keeps a text as it stands if hardly a word of it says anything.
    fn add_said(&mut self, tokens: &[Token], is_keyword: bool) {
        let standing = self.vocabulary.standing_terms(tokens);
        let says = standing.iter().filter(|(term, is_stop)| !is_stop && *term != NAME).count();
        // One word of an utterance is no whole one.
        if says <= 1 && (standing.len() > 1 || (is_keyword && says == 1)) {
            self.fields.said.push(standing.iter().map(|(term, _)| *term).collect());
        }
    }

    fn count(&mut self, field: usize, term: Term) {
        if self.places.len() <= term as usize {
            self.places.resize(self.vocabulary.len(), (0, 0));
        }
        let (tool, place) = &mut self.places[term as usize];
        let counts = &mut self.fields.counts;
        if *tool != self.tool {
            (*tool, *place) = (self.tool, u32::try_from(counts.len()).expect("a tool has fewer words"));
            counts.push((term, [0; FIELDS]));
        }
        let count = &mut counts[*place as usize].1[field];
        *count = count.saturating_add(1);
    }

    /// The names of an object's properties, and their texts and words where these have a field too.
    fn add_schema(&mut self, schema: &Value, names: usize, texts: Option<usize>) {
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            self.add(names, name);
            if let Some(texts) = texts {
                let described = property.get("description").and_then(Value::as_str);
                let allowed = property.get("enum").and_then(Value::as_array).into_iter().flatten();
                for text in described.into_iter().chain(allowed.filter_map(Value::as_str)) {
                    self.add(texts, text);
                }
            }
            let inner = property.pointer("/anyOf/0").unwrap_or(property);
            self.add_schema(inner.get("items").unwrap_or(inner), names, texts);
        }
    }
}

/// Whether a word of an example is a name: with a capital where no sentence begins, or in capitals.
pub(crate) fn is_name((begin, word): (usize, &str)) -> bool {
    let capitals = word.chars().filter(|c| c.is_uppercase()).count();
    (begin > 0 && capitals > 0 && word.len() > 1) || capitals > 2
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split(". ").map(str::trim).filter(|sentence| !sentence.is_empty())
}

/// Of `Do not use it for X; use T instead`: `X` and the rest.
fn split_instead(sentence: &str) -> Option<(&str, &str)> {
    let rest = sentence.strip_prefix("Do not use ")?;
    let (what, instead) = rest.split_once(';')?;
    Some((what.strip_prefix("it ").unwrap_or(what), instead))
}
