//! What a clause shares with those before it, written out: their names for `its`, and their noun behind `have any`.

use crate::{
    english::english,
    matching::{message::Message, names::NameMatch, words::Word},
};

/// The clause with what it shares written out. `None` if it names something itself, or shares nothing.
pub(super) fn write_out(clause: &Message<'_>, earlier: &[Message<'_>]) -> Option<String> {
    let has_name = |message: &Message<'_>| message.found.iter().any(is_clear);
    let before = earlier.iter().rev().find(|before| has_name(before)).or(earlier.last())?;
    if has_name(clause) {
        return None;
    }
    let named: Vec<_> =
        before.found.iter().filter(|it| is_clear(it)).map(|it| &before.text[it.begin..it.end]).collect();
    let english = english();
    // `Each of my accounts` and `both accounts` refer to nothing before.
    let refers = |at: usize| {
        let behind = clause.words.get(at + 1);
        behind.is_none_or(|word| word.is_stop() && !english.determiners.has(&word.lower))
    };
    let stands = |(at, word): &(usize, &Word)| {
        english.pronouns.has(&word.lower) || (english.distributives.has(&word.lower) && refers(*at))
    };
    if let Some((_, word)) = clause.words.iter().enumerate().find(stands)
        && let Some(last) = named.last()
    {
        let (before, after) = (&clause.text[..word.begin], &clause.text[word.end..]);
        let is_one = english.singular.has(&word.lower);
        let subject = if is_one { (*last).to_owned() } else { named.join(" and ") };
        return Some(format!("{before}{subject}{after}"));
    }
    let last = clause.words.last().filter(|word| english.indefinites.has(&word.lower))?;
    let noun = match named.last() {
        Some(name) => name,
        None => before
            .content
            .last()
            .map(|(_, at)| &before.text[before.words[*at].begin..before.words[*at].end])?,
    };
    Some(format!("{} {noun}", &clause.text[..last.end]))
}

fn is_clear(found: &NameMatch) -> bool {
    !found.is_unknown() && found.candidates.is_empty()
}
