//! When no tool is meant, and what is then said instead of guessing.

use std::ops::Range;

use crate::matching::{
    index::Index,
    lexicon::Words,
    message::Message,
    rank::{Candidate, Ranking},
    slots::Slot,
};
use toolwire_engine::registry::ExtractKind;

/// What says that a tool is meant, and what says that none is: a logistic regression over the questions in
/// tests/fixtures/agent. In it are the logarithm of the first tool's score, the share of the message that tools know,
/// whether something is named that the tool takes, how many words nobody knows, and how many words and names are of
/// other things.
const SCORE: f32 = 3.72;
const COVERAGE: f32 = 4.92;
const NAMED: f32 = 1.87;
const UNKNOWN: f32 = -0.87;
const FOREIGN: f32 = -3.24;
/// So much must speak for a tool.
const ENOUGH: f32 = 10.2;
/// So much must speak for a tool that is named as perhaps meant.
const SOME: f32 = 4.0;

/// Words behind which one more order may begin.
const NEXT: [&str; 2] = ["and", "then"];

/// Words for how much of something an order is about.
const AMOUNTS: [&str; 10] =
    ["all", "half", "some", "my", "more", "shares", "everything", "order", "money", "cash"];

/// So many candidates are named in a question.
const MOST_NAMED: usize = 6;

/// Whether a ranking says too little to call its first tool.
pub(crate) fn is_too_weak(ranking: &Ranking, candidate: &Candidate) -> bool {
    support(ranking, candidate) < ENOUGH
}

/// How much speaks for a tool.
fn support(ranking: &Ranking, candidate: &Candidate) -> f32 {
    let Ranking { coverage, unknown, foreign, .. } = *ranking;
    let named = if candidate.takes_known { NAMED } else { 0.0 };
    let known = SCORE * candidate.score.max(0.3).ln() + COVERAGE * coverage + named;
    known + UNKNOWN * unknown + FOREIGN * foreign
}

/// What is said to an order that no tool carries out, if the message gives one: a verb of orders where an order begins,
/// and what it is done to.
/// With the answer, the places of the verb's words.
pub(crate) fn order<'a>(message: &Message<'_>, lexicon: &'a Words) -> Option<(&'a str, Range<usize>)> {
    if !message.is_order() {
        return None;
    }
    let follows = |at: &usize| *at > 0 && NEXT.contains(&message.words[*at - 1].lower.as_str());
    let begins = (0..message.words.len()).filter(follows);
    let mut begins = std::iter::once(message.first()).chain(begins);
    begins.find_map(|at| order_at(message, at, lexicon))
}

fn order_at<'a>(message: &Message<'_>, at: usize, lexicon: &'a Words) -> Option<(&'a str, Range<usize>)> {
    let begins = |(order, _): &&(Vec<String>, String)| message.says(at, order);
    let (verb, answer) = lexicon.orders.iter().find(begins)?;
    let rest = message.words.get(at + 1..)?;
    let has_number = rest.iter().any(|word| word.number().is_some() && word.lower != "one");
    let has_amount = rest.iter().any(|word| AMOUNTS.contains(&word.lower.as_str()));
    let has_name = message.found.iter().any(|found| found.begin >= message.words[at].end);
    (has_number || has_amount || has_name).then_some((answer, at..at + verb.len()))
}

/// `I have no tool for this.`, with the nearest ones if something speaks for them, and else how to learn what there is.
pub(crate) fn no_tool(index: &Index, ranking: &Ranking) -> String {
    let near = ranking.candidates.iter().filter(|it| support(ranking, it) >= SOME);
    let titles = near.map(|it| index.tools[it.tool].tool.definition.title.as_str());
    let titles: Vec<_> =
        titles.filter(|title| !title.is_empty()).take(2).map(|it| format!("“{it}”")).collect();
    match titles.as_slice() {
        [] => "I have no tool for this. Ask “What can you do?” for what there is.".to_owned(),
        near => format!("I have no tool for this. Did you mean {}?", near.join(" or ")),
    }
}

/// The question for what a tool must know and the message does not say.
pub(crate) fn question(slot: &Slot, message: &Message<'_>, lexicon: &Words) -> String {
    let named: Vec<_> = message.found.iter().flat_map(|found| &found.candidates).take(MOST_NAMED).collect();
    let near = named.iter().map(|it| it.as_str()).collect::<Vec<_>>().join(", ");
    let near = if near.is_empty() { String::new() } else { format!(": {near}") };
    let noun = lexicon.nouns.get(slot.of_kind()).cloned().unwrap_or_else(|| slot.name.replace('_', " "));
    match slot.extract.kind {
        ExtractKind::Symbols if slot.fewest > 1 => {
            format!("Which {noun}s do you mean{near}? Name at least {}.", slot.fewest)
        }
        ExtractKind::Timeframe => format!("Over which time: {}?", slot.allowed.join(", ")),
        ExtractKind::Topic => "What should I explain?".to_owned(),
        _ => format!("Which {noun} do you mean{near}?"),
    }
}
