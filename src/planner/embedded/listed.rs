//! The entry of a list to which a message points by its place: `the first one`, `#2`. The list is the last one that was
//! shown: the choices of a question, the names of calls, or a table of an answer.
//!
//! Not here: what is wanted of the entry.

use std::{borrow::Cow, ops::Range};

use serde_json::Value;

use super::route::read;
use crate::{
    Exchange, PlanRequest,
    english::{Phrase, english},
    matching::{
        lexicon::Words,
        message::Message,
        names::{ACCOUNT, NameMatch},
        words::{Word, words},
    },
};

/// The number of newest turns in which a list is looked for.
const MOST_TURNS: usize = 4;

/// What a message points to.
pub(super) enum Pointed {
    /// It points to nothing.
    No,
    /// The message with the entry in the place of the words that point to it.
    To(String),
    /// The question which entry is meant.
    Unclear(String),
}

/// A place of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// From 0.
    At(usize),
    Last,
}

/// The entries of a list, `None` where one has no name that is known.
type Entries = Vec<Option<String>>;

/// Resolves the place of a list to which a message points.
pub(super) fn resolve(request: &PlanRequest<'_>, history: &[Exchange], text: &str) -> Pointed {
    if !words(text).iter().any(may_point) {
        return Pointed::No;
    }
    let choices = history.last().and_then(choices);
    let message = read(request, text);
    let Some((words, place)) = find_place(&message, request.offer.words(), choices.is_some()) else {
        return Pointed::No;
    };
    let shown = || history.iter().rev().take(MOST_TURNS).map(|exchange| lists(request, exchange));
    let lists = match choices {
        Some(choices) => vec![choices.into_iter().map(Some).collect()],
        None => shown().find(|lists| !lists.is_empty()).unwrap_or_default(),
    };
    let unclear = |why: String| Pointed::Unclear(format!("Which one do you mean? {why}"));
    let [entries] = &lists[..] else {
        let is_nothing = lists.is_empty();
        let why =
            if is_nothing { "No list with names was shown before." } else { "There are several lists." };
        return unclear(why.to_owned());
    };
    let entry = match place {
        Place::At(at) => entries.get(at),
        Place::Last => entries.last(),
    };
    match entry {
        Some(Some(entry)) => Pointed::To(format!("{}{entry}{}", &text[..words.start], &text[words.end..])),
        Some(None) => unclear("I cannot look up that one.".to_owned()),
        None => unclear(format!("The list has {} entries.", entries.len())),
    }
}

/// The earlier turns with entries in the place of the words that point to them: what is said next may be about them.
pub(super) fn resolve_history<'a>(request: &PlanRequest<'a>) -> Cow<'a, [Exchange]> {
    let mut history = Cow::Borrowed(request.history);
    for at in history.len().saturating_sub(MOST_TURNS)..history.len() {
        if let Pointed::To(said) = resolve(request, &history[..at], &history[at].said) {
            history.to_mut()[at].said = said;
        }
    }
    history
}

/// Whether a word may be the place of an entry.
fn may_point(word: &Word) -> bool {
    let english = english();
    let is_of = |names: &Phrase| names.words().contains(&word.lower);
    english.at_the_end.has(&word.lower)
        || word.lower.parse::<usize>().is_ok()
        || english.ordinals.iter().any(is_of)
}

/// The words of a message, in bytes, that point to a place of a list. A number by itself does only among choices.
fn find_place(message: &Message<'_>, lexicon: &Words, has_choices: bool) -> Option<(Range<usize>, Place)> {
    let english = english();
    let words = &message.words;
    let lower = |at: usize| words.get(at).map_or("", |word: &Word| word.lower.as_str());
    // Nothing behind it says more of the entry, as `the first one I bought`.
    let ends = |at: usize| {
        let rest = words.get(at..).unwrap_or_default();
        let is_more = |word: &Word| english.subjects.has(&word.lower) || english.determiners.has(&word.lower);
        rest.iter().all(|word| word.is_stop() && word.number().is_none() && !is_more(word))
    };
    let (first, end) = (message.first(), words.len() - message.tag());
    for (at, word) in words.iter().enumerate() {
        if message.name_at(word).is_some() {
            continue;
        }
        let number = word.lower.parse::<usize>().ok().filter(|number| (1..=99).contains(number));
        let is_marked = message.text[..word.begin].ends_with('#');
        let is_numbered = at > 0 && english.numbered.has(lower(at - 1)) && ends(at + 1);
        let is_alone = first == at && end == at + 1;
        if let Some(number) = number.filter(|_| is_marked || is_numbered || (has_choices && is_alone)) {
            let begin = match () {
                () if is_marked => word.begin - 1,
                () if is_numbered => words[at - 1].begin,
                () => word.begin,
            };
            return Some((begin..word.end, Place::At(number - 1)));
        }
        let is_of = |names: &Phrase| names.words().contains(&word.lower);
        let place = match english.ordinals.iter().position(is_of) {
            Some(place) => Place::At(place),
            None if english.at_the_end.has(&word.lower) => Place::Last,
            None => continue,
        };
        let is_the = at > 0 && lower(at - 1) != "of" && english.determiners.has(lower(at - 1));
        let begin = if is_the { words[at - 1].begin } else { word.begin };
        let is_one = lower(at + 1) == "one" && !english.subjects.has(lower(at + 2));
        let is_thing = lexicon.things.contains(lower(at + 1)) && ends(at + 2);
        if is_one || is_thing {
            return Some((begin..words[at + 1].end, place));
        }
        if (is_the && end == at + 1) || is_alone {
            return Some((begin..word.end, place));
        }
    }
    None
}

/// The choices of a question: `Which one do you mean: Acme, Initech?`, or titles in quotation marks.
fn choices(exchange: &Exchange) -> Option<Vec<String>> {
    // That nothing was changed may stand behind the question.
    let (asked, note) = exchange.answered.split_once("\n\n").unwrap_or((&exchange.answered, ""));
    if !exchange.calls.is_empty() || asked.lines().count() != 1 || note.lines().count() > 1 {
        return None;
    }
    let titles = || {
        let (_, offered) = asked.split_once("There is “").or_else(|| asked.split_once("Did you mean “"))?;
        let titles = offered.split('“').filter_map(|title| Some(title.split_once('”')?.0.to_owned()));
        Some(titles.collect::<Vec<_>>())
    };
    let listed = || {
        let (_, listed) = asked[..asked.find('?')?].rsplit_once(": ")?;
        Some(listed.split(", ").map(str::to_owned).collect())
    };
    titles().or_else(listed).filter(|all| all.len() > 1)
}

/// The lists of an answer that name things.
fn lists(request: &PlanRequest<'_>, exchange: &Exchange) -> Vec<Entries> {
    let called = called_for(request, exchange);
    if called.len() > 1 {
        return vec![called.into_iter().map(Some).collect()];
    }
    let mut tables: Vec<Entries> = Vec::new();
    let mut is_row = false;
    for line in exchange.answered.lines() {
        let Some(row) = line.strip_prefix('|') else {
            is_row = false;
            continue;
        };
        if row.starts_with("---") {
            is_row = true;
            tables.push(Vec::new());
        } else if let Some(table) = tables.last_mut().filter(|_| is_row) {
            table.push(row.split('|').find_map(|cell| name_of(request, cell)));
        }
    }
    tables.retain(|table| table.iter().any(Option::is_some));
    tables
}

/// The names that the calls of a turn take, if they are several.
fn called_for(request: &PlanRequest<'_>, exchange: &Exchange) -> Vec<String> {
    let index = request.offer.index();
    let mut all: Vec<String> = Vec::new();
    for call in &exchange.calls {
        let Some(tool) = index.place(&call.tool) else { continue };
        let slots = index.tools[tool].slots.iter().filter(|slot| slot.takes_names());
        for value in slots.filter_map(|slot| call.arguments.get(&slot.name)) {
            let names = match value {
                Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
                Value::String(name) => vec![name.as_str()],
                _ => Vec::new(),
            };
            for name in names {
                if !all.iter().any(|it| it == name) {
                    all.push(name.to_owned());
                }
            }
        }
    }
    all
}

/// The text of a cell, if it is a name and nothing else.
fn name_of(request: &PlanRequest<'_>, cell: &str) -> Option<String> {
    let cell = cell.trim().trim_matches('*');
    let message = read(request, cell);
    let is_whole = |found: &NameMatch| {
        let is_clear = found.candidates.is_empty() && !found.is_unknown() && !found.is_of(ACCOUNT);
        is_clear && found.begin == 0 && found.end == cell.len()
    };
    matches!(&message.found[..], [found] if is_whole(found)).then(|| cell.to_owned())
}
