//! The fields of a definition as counted terms, each word beside what stands for it.

use std::{collections::HashMap, sync::Arc};

use serde_json::Value;

use crate::{
    agent::plan::embedded::{
        lexicon::Words,
        words::{Known, NAME, Word, pair, triples, words_by},
    },
    registry::RegisteredTool,
};

/// How much each field says: name and title, description, what other tools say of this one, names of parameters, their
/// texts, utterances, keywords, result.
pub(super) const WEIGHTS: [f32; FIELDS] = [2.0, 1.0, 1.0, 0.5, 0.5, 1.0, 2.0, 0.3];
pub(super) const FIELDS: usize = 8;

const TITLE: usize = 0;
const DESCRIPTION: usize = 1;
const CREDITED: usize = 2;
const PARAMETERS: usize = 3;
const TEXTS: usize = 4;
const UTTERANCES: usize = 5;
const KEYWORDS: usize = 6;
const RESULT: usize = 7;

/// The terms of one tool.
#[derive(Debug, Default)]
pub(super) struct Fields {
    pub(super) counts: HashMap<String, [f32; FIELDS]>,
    pub(super) lengths: [usize; FIELDS],
}

/// What the texts of tools are read with.
struct Reading<'a> {
    lexicon: &'a Words,
    known: Known,
}

/// The terms of every tool.
pub(super) fn fields(tools: &[Arc<RegisteredTool>], lexicon: &Words) -> Vec<Fields> {
    let reading = &mut Reading { lexicon, known: Known::default() };
    let names: HashMap<_, _> =
        tools.iter().enumerate().map(|(at, tool)| (tool.definition.name.as_str(), at)).collect();
    let mut all: Vec<Fields> = tools.iter().map(|tool| of_tool(tool, reading)).collect();
    for tool in tools {
        for sentence in sentences(&tool.definition.description) {
            let Some((what, instead)) = credited(sentence) else { continue };
            for other in
                instead.split(|c: char| !c.is_alphanumeric() && c != '_').filter_map(|it| names.get(it))
            {
                all[*other].add(CREDITED, what, reading);
            }
        }
    }
    all
}

fn of_tool(tool: &RegisteredTool, reading: &mut Reading<'_>) -> Fields {
    let (definition, mut fields) = (&tool.definition, Fields::default());
    fields.add(TITLE, &definition.name.as_str().replace('_', " "), reading);
    fields.add(TITLE, &definition.title, reading);
    for sentence in sentences(&definition.description).filter(|it| credited(it).is_none()) {
        fields.add(DESCRIPTION, sentence, reading);
    }
    for (field, texts) in [(UTTERANCES, &definition.utterances), (KEYWORDS, &tool.routing.keywords)] {
        for text in texts {
            fields.add(field, text, reading);
        }
    }
    fields.add_schema(&definition.input_schema, PARAMETERS, Some(TEXTS), reading);
    fields.add_schema(&definition.output_schema, RESULT, None, reading);
    fields
}

impl Fields {
    fn add(&mut self, field: usize, text: &str, reading: &mut Reading<'_>) {
        let mut before: Option<String> = None;
        let words = words_by(text, |word| reading.known.term(word));
        if matches!(field, UTTERANCES | KEYWORDS) {
            for triple in triples(words.iter().map(|word| masked(text, word))) {
                self.count(field, &triple);
            }
        }
        for (term, at) in reading.lexicon.content(&words) {
            // Whoever is named in an example, the question is the same.
            if field == UTTERANCES && masked(text, &words[at]) == NAME {
                before = None;
                continue;
            }
            self.count(field, &term);
            self.lengths[field] += 1;
            if let Some(before) = before.filter(|_| matches!(field, TITLE | UTTERANCES | KEYWORDS)) {
                self.count(field, &pair(&before, &term));
            }
            before = Some(term);
        }
    }

    fn count(&mut self, field: usize, term: &str) {
        self.counts.entry(term.to_owned()).or_insert([0.0; FIELDS])[field] += 1.0;
    }

    /// The names of an object's properties, and their texts and words where these have a field too.
    fn add_schema(&mut self, schema: &Value, names: usize, texts: Option<usize>, reading: &mut Reading<'_>) {
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            self.add(names, &name.replace('_', " "), reading);
            if let Some(texts) = texts {
                let described = property.get("description").and_then(Value::as_str);
                let allowed = property.get("enum").and_then(Value::as_array).into_iter().flatten();
                for text in described.into_iter().chain(allowed.filter_map(Value::as_str)) {
                    self.add(texts, &text.replace('_', " "), reading);
                }
            }
            let inner = property.pointer("/anyOf/0").unwrap_or(property);
            self.add_schema(inner.get("items").unwrap_or(inner), names, texts, reading);
        }
    }
}

/// The term of a word of an example, or the sign of a name: with a capital where no sentence begins, or in capitals.
fn masked<'a>(text: &str, word: &'a Word) -> &'a str {
    let written = &text[word.begin..word.end];
    let capitals = written.chars().filter(|c| c.is_uppercase()).count();
    let is_name = (word.begin > 0 && capitals > 0 && written.len() > 1) || capitals > 2;
    if is_name { NAME } else { &word.term }
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split(". ").map(str::trim).filter(|sentence| !sentence.is_empty())
}

/// Of `Do not use it for X; use T instead`: `X` and the rest.
fn credited(sentence: &str) -> Option<(&str, &str)> {
    let rest = sentence.strip_prefix("Do not use ")?;
    let (what, instead) = rest.split_once(';')?;
    Some((what.strip_prefix("it ").unwrap_or(what), instead))
}
