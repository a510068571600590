//! Abstention: when no tool is meant, and the question or the refusal instead of a guess.

use crate::{
    english::english,
    matching::{
        index::Index,
        lexicon::{RefusedOrder, Words},
        message::Message,
        rank::{Candidate, Ranking},
        slots::Slot,
        words::Word,
    },
    weights::weights,
};
use toolwire_engine::registry::ExtractKind;

/// Maximum number of candidates named in a question.
const MOST_NAMED: usize = 6;

/// Whether the evidence for a tool is too weak to call it.
pub(crate) fn is_too_weak(ranking: &Ranking, candidate: &Candidate) -> bool {
    !candidate.is_said && is_hardly_meant(ranking, candidate)
}

/// Whether the evidence for a tool is weak, whatever the message is word for word: `profit` may answer a question.
pub(crate) fn is_hardly_meant(ranking: &Ranking, candidate: &Candidate) -> bool {
    support(ranking, candidate) < weights().regression.enough
}

/// The evidence for a tool: a linear model, fitted on questions that a tool answers and on others (`weights`).
fn support(ranking: &Ranking, candidate: &Candidate) -> f32 {
    let Ranking { coverage, unknown, foreign, .. } = *ranking;
    let weights = &weights().regression;
    let named = match () {
        () if candidate.takes_known => weights.named,
        () if candidate.takes_carried || candidate.takes_code => weights.carried,
        () => 0.0,
    };
    let score = candidate.score.max(weights.least_score).ln();
    let plain = if ranking.is_plain { weights.plain } else { 0.0 };
    let known = weights.score * score + weights.coverage * coverage + named + plain;
    known + weights.unknown * unknown + weights.foreign * foreign
}

/// The answer to an order that no tool carries out: one with a verb of the lexicon where an order begins, and an
/// object.
pub(crate) fn order<'a>(index: &Index, message: &Message<'_>, lexicon: &'a Words) -> Option<&'a str> {
    let is_order = message.is_order();
    let is_asked = message.text.trim_end().ends_with('?');
    let follows = |at: &usize| {
        let before = &message.text[..message.words[*at].begin];
        // An order may follow a question behind a mark, as in `what is my cash, invest 1000 of it`; behind `and` the
        // question goes on. `Short interest in Acme` is no order.
        let is_object = |word: &Word| {
            let is_amount = || lexicon.amounts.contains(&word.lower) || is_number(word);
            word.is_stop() || is_amount() || message.name_at(word).is_some()
        };
        let is_behind_mark = !is_asked
            && before.trim_end().ends_with([',', ';', '.'])
            && message.words.get(at + 1).is_some_and(is_object);
        let is_next = || is_order && english().next.has(&message.words[*at - 1].lower);
        *at > 0 && (is_behind_mark || is_next())
    };
    let begins = (0..message.words.len()).filter(follows);
    let begins = is_order.then(|| message.first()).into_iter().chain(begins);
    // `Exchange rate` is no order to exchange.
    let is_noun =
        |at: usize| message.words.get(at..at + 2).is_some_and(|two| index.words.is_one(&two[0], &two[1]));
    let mut begins = begins.filter(|at| !is_noun(*at));
    begins.find_map(|at| order_at(message, at, lexicon))
}

/// Whether a word is a number: `5`, `five` or `10k`.
fn is_number(word: &Word) -> bool {
    word.number().is_some() || word.lower.starts_with(|c: char| c.is_ascii_digit())
}

fn order_at<'a>(message: &Message<'_>, at: usize, lexicon: &'a Words) -> Option<&'a str> {
    let begins = |order: &&RefusedOrder| message.says(at, &order.verb);
    let RefusedOrder { verb, answer, is_of_money } = lexicon.orders.iter().find(begins)?;
    let rest = message.words.get(at + 1..)?;
    let is_sum = |two: &[Word]| {
        let is_marked = message.text[..two[0].begin].ends_with(['$', '₹', '€', '£']);
        two[0].number().is_some()
            && (is_marked || two.get(1).is_some_and(|it| lexicon.amounts.contains(&it.lower)))
    };
    let has_name = message.found.iter().any(|found| found.begin >= message.words[at].end);
    if *is_of_money {
        let mut places = (0..rest.len()).map(|at| &rest[at..rest.len().min(at + 2)]);
        return places.any(is_sum).then_some(answer.as_str());
    }
    let has_number = rest.iter().any(|word| is_number(word) && word.lower != "one");
    let has_amount = rest.iter().any(|word| lexicon.amounts.contains(&word.lower));
    // `Sell it`, `buy the same`.
    let object = message.words.get(at + verb.len()).map_or("", |word| word.lower.as_str());
    let english = english();
    let refers =
        [&english.pronouns, &english.demonstratives, &english.articles].iter().any(|all| all.has(object));
    (has_number || has_amount || has_name || refers).then_some(answer.as_str())
}

/// `I have no tool for this.`, with the nearest tools if there is some evidence for them, or else how to list all.
pub(crate) fn no_tool(index: &Index, ranking: &Ranking) -> String {
    let near = ranking.candidates.iter().filter(|it| support(ranking, it) >= weights().regression.some);
    let titles = near.map(|it| index.tools[it.tool].tool.definition.title.as_str());
    let titles: Vec<_> =
        titles.filter(|title| !title.is_empty()).take(2).map(|it| format!("“{it}”")).collect();
    match titles.as_slice() {
        [] => "I have no tool for this. Ask “What can you do?” for what there is.".to_owned(),
        near => format!("I have no tool for this. Did you mean {}?", near.join(" or ")),
    }
}

/// The question for a required value that the message does not give, with what it may be.
pub(crate) fn question(slot: &Slot, message: &Message<'_>, lexicon: &Words) -> String {
    let named = message.found.iter().flat_map(|found| &found.candidates).map(String::as_str);
    let near = named.take(MOST_NAMED).collect::<Vec<_>>().join(", ");
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
