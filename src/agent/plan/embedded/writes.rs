//! When a message may change something: only if it says so plainly, shortly, and what it is done to.

use super::{
    abstain::question,
    follow_up::{Before, has_pronoun},
    index::{Index, Indexed},
    lexicon::Words,
    message::Message,
    slots::{Filled, Slot},
};
use crate::{agent::plan::PlannedCall, registry::Category};

/// A message that changes something is no longer, in words. What is longer was as a rule written by somebody else.
const LONGEST: usize = 40;

/// With these something is not to be done, or not always.
const NOT_PLAIN: [&[&str]; 18] = [
    &["not"],
    &["never"],
    &["dont"],
    &["don", "t"],
    &["doesnt"],
    &["doesn", "t"],
    &["didnt"],
    &["didn", "t"],
    &["shouldnt"],
    &["shouldn", "t"],
    &["wont"],
    &["won", "t"],
    &["without"],
    &["unless"],
    &["if"],
    &["except"],
    &["avoid"],
    &["rather", "than"],
];

/// Who does something, or what there is: the message tells of it.
const TELLING: &str = "he she they we it this that these those there here the a an my his her their our someone \
    somebody dear hi hello from subject";

/// So much more must speak for one of two things that are added to.
const CLEARLY: f32 = 2.0;

/// What stands between texts.
const BREAKS: [&str; 4] = ["\n", "---", "===", "***"];

/// Why a message as a whole may change nothing, as what is said instead.
pub(super) fn unsure(whole: &Message<'_>) -> Option<String> {
    let text = whole.text.trim();
    if whole.words.len() > LONGEST || BREAKS.iter().any(|it| text.contains(it)) {
        return Some(
            "I change nothing for a long text, since others may have written it. What should I do? \
             Say it in one short sentence."
                .to_owned(),
        );
    }
    let says = |phrase: &&&[&str]| (0..whole.words.len()).any(|at| whole.says(at, phrase));
    let phrase = NOT_PLAIN.iter().find(says)?;
    let word = phrase.join("'");
    Some(format!("I have changed nothing, because of the word “{word}”. What should I do? Say it plainly."))
}

/// What is meant by a message that would change something, behind a call that takes several names.
pub(super) enum Meant {
    /// The change.
    Change,
    /// The last call, with one name more.
    Last,
    /// One of them: the question.
    Either(String),
}

/// Which of the two `add Wipro` means behind a comparison: that which its other words clearly speak for.
pub(super) fn meant(index: &Index, change: usize, before: &Before<'_>, whole: &Message<'_>) -> Meant {
    let takes_several = |(at, _): &&(usize, &PlannedCall)| {
        let several = |slot: &Slot| slot.fewest > 1 && whole.found.iter().any(|it| it.is_of(slot.of_kind()));
        index.tools[*at].slots.iter().any(several)
    };
    // Taking away adds to nothing.
    let adds = index.tools[change].tool.definition.category == Category::Write;
    let Some((last, _)) = before.calls.iter().find(takes_several).filter(|_| adds) else {
        return Meant::Change;
    };
    let verb = whole.words.get(whole.first()).map(|word| &word.term);
    let others = whole.content.iter().filter(|(_, at)| Some(&whole.words[*at].term) != verb);
    let others: Vec<_> = others.map(|(term, _)| index.postings(*term)).collect();
    let about = |tool: usize| {
        let of_tool = others.iter().flat_map(|of| of.iter().filter(|(at, _)| *at as usize == tool));
        of_tool.map(|(_, weight)| weight).sum::<f32>()
    };
    match (about(change), about(*last)) {
        (change, last) if change > CLEARLY * last => Meant::Change,
        (change, last) if last > CLEARLY * change => Meant::Last,
        _ => {
            let title = |tool: usize| format!("“{}”", index.tools[tool].tool.definition.title);
            let said = whole.text.trim_end_matches(['?', '.', '!', ' ']);
            let (last, change) = (title(*last), title(change));
            Meant::Either(format!("Does “{said}” mean {last}, with those of before, or {change}?"))
        }
    }
}

/// Whether a clause tells of something rather than says what is to be done.
pub(super) fn is_telling(clause: &Message<'_>) -> bool {
    let first = clause.words.get(clause.first());
    first.is_some_and(|word| TELLING.split_whitespace().any(|it| it == word.lower))
}

/// What must be asked before the tool is called: what it is done to is said, or meant by a word such as `it`.
pub(super) fn unnamed(
    tool: &Indexed,
    filled: &Filled,
    message: &Message<'_>,
    words: &Words,
) -> Option<String> {
    if tool.is_read || has_pronoun(message) {
        return None;
    }
    let is_unnamed = |(at, slot): &(usize, &_)| is_unsaid(*at, slot, filled);
    let (_, slot) = tool.slots.iter().enumerate().find(is_unnamed)?;
    Some(question(slot, message, words))
}

fn is_unsaid(at: usize, slot: &Slot, filled: &Filled) -> bool {
    slot.is_required && slot.takes_names() && !filled.said.contains(&at)
}
