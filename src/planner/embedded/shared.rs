//! What a clause shares with those before it, written out: their names for `its`, their noun behind `have any`, and
//! their time for `the same year`.

use crate::{
    english::english,
    matching::{message::Message, names::NameMatch, words::Word},
};

/// The clause with what it shares written out. `None` if it names something itself, or shares nothing.
pub(super) fn write_out(clause: &Message<'_>, earlier: &[Message<'_>]) -> Option<String> {
    if let Some(timed) = with_same_time(clause, earlier) {
        return Some(timed);
    }
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
    if let Some(written) = with_noun(clause, before) {
        return Some(written);
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

/// The clause with the noun of the one before it in place of `one`: `which holding is up, and which one is down`.
fn with_noun(clause: &Message<'_>, before: &Message<'_>) -> Option<String> {
    let english = english();
    let asks = |two: &[Word]| english.asking.has(&two[0].lower) && !english.asking.has(&two[1].lower);
    let is_one = |two: &[Word]| asks(two) && english.pointed_at.has(&two[1].lower);
    let at = clause.words.windows(2).position(is_one)? + 1;
    let which = &clause.words[at - 1].lower;
    let asked = before.words.windows(2).find(|two| two[0].lower == *which && !two[1].is_stop());
    let noun = match asked {
        Some(two) => &two[1],
        None => before.content.last().map(|(_, at)| &before.words[*at])?,
    };
    let (head, tail) = (&clause.text[..clause.words[at].begin], &clause.text[clause.words[at].end..]);
    Some(format!("{head}{}{tail}", &before.text[noun.begin..noun.end]))
}

/// The clause with the time of the one before it in place of `the same year`.
fn with_same_time(clause: &Message<'_>, earlier: &[Message<'_>]) -> Option<String> {
    let english = english();
    let is_time = |word: &Word| english.units.get(&word.lower).is_some() || english.periods.has(&word.lower);
    let is_same = |two: &[Word]| english.same.has(&two[0].lower) && is_time(&two[1]);
    let at = clause.words.windows(2).position(is_same)?;
    let small = [&english.during, &english.since, &english.until, &english.determiners];
    let is_small = |at: &usize| small.iter().any(|words| words.has(&clause.words[*at].lower));
    let first = (0..at).rev().take_while(is_small).last().unwrap_or(at);
    let before = earlier.iter().rev().find_map(|it| Some(&it.text[it.time_at_the_end()?..]))?;
    let (head, tail) = (&clause.text[..clause.words[first].begin], &clause.text[clause.words[at + 1].end..]);
    Some(format!("{head}{before}{tail}"))
}

fn is_clear(found: &NameMatch) -> bool {
    !found.is_unknown() && found.candidates.is_empty()
}
