//! Ranks the tools for a message: by its words, then by how the parameters of each fit it.

mod prefer;

use std::cmp::Ordering;

use super::{
    index::{Index, Indexed},
    inverted_index::{InvertedIndex, Term},
    message::{Message, is_asking},
    names::{ACCOUNT, NameMatch, is_of_kind},
    slots::{Filled, Slot, SlotContext},
};
use crate::weights::weights;
use toolwire_engine::registry::ExtractKind;

/// Number of tools, the best by words alone, whose parameters are filled and scored too.
const CANDIDATES: usize = 16;

/// A tool that may be meant.
#[allow(clippy::struct_excessive_bools, reason = "what speaks for it, each")]
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    /// Its place in the index.
    pub(crate) tool: usize,
    /// The score by words and parameters.
    pub(crate) score: f32,
    /// Whether it takes something known that the message names.
    pub(crate) takes_known: bool,
    /// Whether it takes names, and the message has one in capitals that is not known.
    pub(crate) takes_code: bool,
    /// Whether it takes something that was named before, and the message names nothing.
    pub(crate) takes_carried: bool,
    /// Whether an utterance or a keyword of it is the message, word for word but for what is named.
    pub(crate) is_said: bool,
    /// The arguments that it would be called with.
    pub(crate) filled: Filled,
}

/// The tools that a message speaks for.
#[derive(Debug)]
pub(crate) struct Ranking {
    pub(crate) candidates: Vec<Candidate>,
    /// The share of the message, weighted by rarity, that some tool knows, 0 to 1.
    pub(crate) coverage: f32,
    /// Number of words that no tool knows.
    pub(crate) unknown: f32,
    /// Number of names and words of things that no tool is about.
    pub(crate) foreign: f32,
    /// Whether the message says what is wanted, without a question, and tools know all of it: `my positions`.
    pub(crate) is_plain: bool,
    terms: Vec<MessageTerm>,
}

/// A term, with its place and its weight.
#[derive(Debug)]
struct MessageTerm {
    /// `None` where no tool has it.
    term: Option<Term>,
    /// The place of its word. `None` of two words together.
    word: Option<usize>,
}

impl Ranking {
    /// Ranks the offered tools. `offered` has a flag for each tool of the index.
    pub(crate) fn new(index: &Index, offered: &[bool], given: SlotContext<'_>) -> Self {
        let message = given.message;
        let terms = message_terms(&index.words, message);
        let (mut scores, mut of_times) = (vec![0.0_f32; index.tools.len()], Vec::new());
        for (term, word) in terms.iter().filter_map(|said| Some((said.term?, said.word))) {
            let is_time = word.is_some_and(|word| message.times.takes(word));
            for (tool, weight) in index.words.postings(term) {
                scores[*tool as usize] += weight;
                if is_time {
                    of_times.resize(index.tools.len(), 0.0_f32);
                    of_times[*tool as usize] += weight;
                }
            }
        }
        // A tool of other things says nothing of how much a time speaks for one.
        let is_possible = |tool: usize| index.tools[tool].slots.iter().all(|slot| !takes_others(slot, given));
        let of_possible = of_times.iter().enumerate().filter(|(tool, _)| is_possible(*tool));
        let most_of_times = of_possible.map(|(_, of_times)| *of_times).fold(0.0, f32::max);
        let lack =
            |tool: usize| of_times.get(tool).map_or(0.0, |of_times| (most_of_times - of_times).max(0.0));
        let mut best: Vec<_> = (0..scores.len())
            .filter(|tool| scores[*tool] > 0.0 && offered[*tool] && index.tools[*tool].is_readable)
            .collect();
        let by_score = |a: &usize, b: &usize| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b));
        if best.len() > CANDIDATES {
            best.select_nth_unstable_by(CANDIDATES, by_score);
            best.truncate(CANDIDATES);
        }
        let mut candidates: Vec<_> = best
            .into_iter()
            .filter_map(|tool| Candidate::new(index, tool, (scores[tool], lack(tool)), given))
            .collect();
        candidates.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.tool.cmp(&b.tool)));
        prefer::plainer(index, message, &mut candidates);
        prefer::said(index, message, &mut candidates);
        let (coverage, unknown, foreign) = coverage(&index.words, message, &terms);
        let asks = || message.words.iter().any(|word| is_asking(&word.lower));
        let is_plain = unknown + foreign <= 0.0 && !message.content.is_empty() && !asks();
        Self { candidates, coverage, unknown, foreign, is_plain, terms }
    }

    /// The words of the message that speak for a tool, the strongest first.
    pub(crate) fn words(&self, index: &Index, message: &Message<'_>, tool: usize) -> Vec<String> {
        let weight = |said: &MessageTerm| {
            let postings = index.words.postings(said.term?);
            let it = postings.iter().find(|(of, _)| *of as usize == tool)?;
            Some((it.1, message.words[said.word?].lower.clone()))
        };
        let mut words: Vec<_> = self.terms.iter().filter_map(weight).collect();
        words.sort_by(|a, b| b.0.partial_cmp(&a.0).unwrap_or(Ordering::Equal));
        words.dedup_by(|a, b| a.1 == b.1);
        words.into_iter().map(|(_, word)| word).collect()
    }
}

impl Candidate {
    /// A tool with what the message gives for it. `None` if the message names what the tool knows nothing of.
    ///
    /// `words` is the score by words, and how much more those of its times speak for another tool.
    fn new(index: &Index, tool: usize, (words, lack): (f32, f32), given: SlotContext<'_>) -> Option<Self> {
        let indexed = &index.tools[tool];
        let filled = Filled::new(&indexed.slots, given);
        // A time speaks as much for each tool that takes it: `sold last month` is no `return of last month`.
        let has_dates = filled.from_message.iter().any(|at| indexed.slots[*at].takes_dates());
        // Of now, `today` says nothing of a range of dates: `what is the price of Acme today`.
        let is_range = has_dates && !given.message.times.is_today();
        let lack = if is_range && filled.missing.is_empty() { lack } else { 0.0 };
        let score = fit(indexed, &filled, given, words + lack)?;
        let takes_names = |slot: &Slot| slot.is_subject() || slot.extract.kind == ExtractKind::Account;
        let takes_known = indexed.slots.iter().any(|slot| takes_names(slot) && takes(slot, given));
        let is_code = |found: &NameMatch| found.is_unknown() && !found.is_foreign();
        let takes_code =
            given.message.found.iter().any(is_code) && indexed.slots.iter().any(Slot::takes_names);
        let is_carried = |(at, slot): (usize, &Slot)| {
            let is_filled = filled.arguments.contains_key(&slot.name);
            slot.takes_names() && is_filled && !filled.from_message.contains(&at)
        };
        let takes_carried =
            given.message.found.is_empty() && indexed.slots.iter().enumerate().any(is_carried);
        Some(Self { tool, score, takes_known, takes_code, takes_carried, is_said: false, filled })
    }
}

/// Whether the message names something known that a slot takes.
fn takes(slot: &Slot, given: SlotContext<'_>) -> bool {
    given.message.found.iter().any(|found| found.is_of(slot.of_kind()))
}

/// Whether a tool is about the names that a slot takes, and all that the message names is of other kinds.
fn takes_others(slot: &Slot, given: SlotContext<'_>) -> bool {
    let is_thing = |found: &&NameMatch| !found.is_of(ACCOUNT) && !found.is_unknown();
    let mut things = given.message.found.iter().filter(is_thing).peekable();
    slot.is_subject() && things.peek().is_some() && !things.any(|found| found.is_of(slot.of_kind()))
}

/// Adjusts the score by words: up for each value of the message that the tool takes, down for each that is missing.
fn fit(indexed: &Indexed, filled: &Filled, given: SlotContext<'_>, words: f32) -> Option<f32> {
    let weights = &weights().fit;
    let things = given.message.found.iter().filter(|found| !found.is_of(ACCOUNT) && !found.is_unknown());
    let known: Vec<_> = things.collect();
    let mut score = fit_of_names(indexed, &known, given, words)?;
    let is_range = |slot: &Slot| matches!(slot.extract.kind, ExtractKind::Since | ExtractKind::Days);
    let is_now = |slot: &Slot| is_range(slot) && given.message.times.is_today();
    let taken = filled.from_message.iter().map(|at| &indexed.slots[*at]).filter(|slot| !is_now(slot));
    score += taken.map(slot_score).sum::<f32>();
    let names_account = given.message.found.iter().any(|found| found.is_of(ACCOUNT));
    if names_account && !indexed.slots.iter().any(|slot| slot.extract.kind == ExtractKind::Account) {
        score *= weights.account_not_taken;
    }
    // What is named and not clear, or only pointed at, will be asked for; so will what an order lacks.
    let is_vague = known.iter().any(|found| !found.candidates.is_empty());
    let is_asked =
        is_vague || (given.refers && known.is_empty()) || (!indexed.is_read && given.message.is_order());
    let lacks = filled.missing.iter().map(|at| &indexed.slots[*at]);
    for slot in lacks.filter(|slot| !(is_asked && slot.takes_names())) {
        let is_time = slot.extract.kind == ExtractKind::Timeframe;
        score *= if is_time { weights.time_missing } else { weights.missing };
    }
    Some(score)
}

/// The score with what is named. `None` if that is nothing that the tool takes, and the tool takes names.
fn fit_of_names(indexed: &Indexed, known: &[&NameMatch], given: SlotContext<'_>, words: f32) -> Option<f32> {
    let weights = &weights().fit;
    let Some(slot) = indexed.slots.iter().find(|slot| slot.is_subject()) else {
        let is_before = given.refers && !given.carried.is_empty();
        return Some(match () {
            () if known.iter().any(|found| indexed.asked_of.iter().any(|of| found.is_of(of))) => {
                words + weights.name_asked
            }
            () if !known.is_empty() => words * weights.name_not_taken,
            () if is_before && given.carried.iter().any(|(kind, _)| indexed.asked_of.contains(kind)) => {
                words + weights.name_asked
            }
            () if is_before => words * weights.nothing_referred,
            () => words,
        });
    };
    let of = slot.of_kind();
    let takes_all = slot.extract.kind == ExtractKind::Symbols;
    let is_carried = || given.carried.iter().any(|(kind, _)| is_of_kind(kind, of));
    Some(match known.iter().filter(|found| of.is_empty() || found.is_of(of)).count() {
        0 if !known.is_empty() => return None,
        0 if given.refers && is_carried() => words + weights.name_taken,
        0 if given.refers => words + weights.name_referred,
        0 => words,
        // It takes names of any kind, and is asked of others.
        1 if of.is_empty() && !known.iter().any(|it| indexed.asked_of.iter().any(|of| it.is_of(of))) => {
            words * weights.name_not_taken
        }
        1 => words + weights.name_taken,
        _ if takes_all && slot.fewest > 1 => words + weights.name_taken + weights.several_taken,
        _ if takes_all => words + weights.name_taken + weights.several_taken / 2.0,
        _ => (words + weights.name_taken) * weights.one_each,
    })
}

/// The term that is added if the message gives a value for a slot.
fn slot_score(slot: &Slot) -> f32 {
    match slot.extract.kind {
        ExtractKind::Timeframe | ExtractKind::Since => weights().fit.time_taken,
        ExtractKind::Symbol
        | ExtractKind::Symbols
        | ExtractKind::Company
        | ExtractKind::Topic
        | ExtractKind::Count
        | ExtractKind::Until
        | ExtractKind::Rest => 0.0,
        // It is said in the unit of the slot.
        ExtractKind::Quarters => 2.0 * weights().fit.time_taken,
        _ => weights().fit.word_taken,
    }
}

/// The terms of a message: each by itself, and two and three that stand side by side.
fn message_terms(index: &InvertedIndex, message: &Message<'_>) -> Vec<MessageTerm> {
    let known = |term: Term| Some(term).filter(|term| !index.postings(*term).is_empty());
    let singles =
        message.content.iter().map(|(term, word)| MessageTerm { term: known(*term), word: Some(*word) });
    let pairs = message.content.windows(2).filter_map(|two| index.pair(two[0].0, two[1].0));
    let together = pairs.chain(index.groups(&message.tokens));
    singles.chain(together.map(|term| MessageTerm { term: Some(term), word: None })).collect()
}

/// The coverage of a message, and the numbers of unknown and of foreign words. Numbers and times do not count; unknown
/// names count against it.
fn coverage(index: &InvertedIndex, message: &Message<'_>, terms: &[MessageTerm]) -> (f32, f32, f32) {
    let (mut known, mut all, mut unknown, mut out_of_scope) = (0.0, 0.0, 0.0, 0.0);
    for MessageTerm { term, word } in terms {
        let Some(word) = *word else {
            // Words that say nothing by themselves, but stand as in a question of a tool.
            let rarity = term.map_or(0.0, |term| index.rarity(term)) * weights().coverage.together;
            known += rarity;
            all += rarity;
            continue;
        };
        match term {
            Some(term) => {
                let rarity = index.rarity(*term);
                known += rarity;
                all += rarity;
            }
            None if message.times.takes(word) || message.words[word].number().is_some() => {}
            // `Another customer's balance` is nothing of the user's.
            None if message.is_out_of_scope(index, word) || message.is_possessor(word) => {
                out_of_scope += 1.0;
            }
            None => unknown += 1.0,
        }
    }
    let names = message.found.iter().filter(|found| found.is_foreign());
    let foreign = out_of_scope + names.map(|_| 1.0).sum::<f32>();
    all += index.unknown * (unknown + weights().coverage.foreign * foreign);
    (if all > 0.0 { known / all } else { 0.0 }, unknown, foreign)
}
