//! When a message may change something: only if it says so plainly, shortly, and what it is done to.

use super::{
    abstain::question,
    follow_up::{Before, has_pronoun},
    index::{Index, Indexed},
    lexicon::Words,
    message::Message,
    slots::{Filled, Slot},
};
use crate::agent::plan::PlannedCall;

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

/// What is asked where a message may add to what was called last as well as change something: `add Wipro` behind a
/// comparison.
pub(super) fn either(
    index: &Index,
    tool: &Indexed,
    before: &Before<'_>,
    whole: &Message<'_>,
) -> Option<String> {
    let says_more = whole.content.iter().any(|(_, word)| *word > whole.first());
    if says_more || whole.found.is_empty() {
        return None;
    }
    let takes_several = |(at, _): &&(usize, &PlannedCall)| {
        let several = |slot: &Slot| slot.fewest > 1 && whole.found.iter().any(|it| it.is_of(slot.of_kind()));
        index.tools[*at].slots.iter().any(several)
    };
    let (last, _) = before.calls.iter().find(takes_several)?;
    let title = |it: &Indexed| format!("“{}”", it.tool.definition.title);
    let (last, other) = (title(&index.tools[*last]), title(tool));
    let said = whole.text.trim_end_matches(['?', '.', '!', ' ']);
    Some(format!("Does “{said}” mean {last}, with those of before, or {other}?"))
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
