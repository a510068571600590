//! The clauses of a message that asks for more than one thing.

use std::ops::Range;

use super::{
    lexicon::Words,
    message::is_asking,
    words::{Word, words},
};
use crate::{
    english::{Phrase, english},
    hinglish::english_for,
};

/// Maximum number of clauses that are planned; a message with more is one clause.
const MOST: usize = 4;

/// The number of questions in a text, each ended by `?` or `;`, if it is more than [`MOST`].
pub(crate) fn too_many(text: &str) -> Option<usize> {
    let parts = text.split(['?', ';']).filter(|part| part.contains(char::is_alphanumeric)).count();
    (parts > MOST).then_some(parts)
}

/// The answer to more than [`MOST`] questions.
pub(crate) fn refusal(count: usize) -> String {
    format!("These are {count} questions, and I look into at most {MOST} at a time. Which {MOST} first?")
}

/// Whether a text only takes back what was said before it: `forget it`.
pub(crate) fn is_retraction(text: &str) -> bool {
    let text = text.to_lowercase();
    let words = || text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    english().retractions.iter().any(|phrase| words().eq(phrase.words()))
}

/// A message without the words at its beginning that only take back the one before, or set a part of it aside: `never
/// mind the news, the price of Acme`.
pub(crate) fn without_retraction(text: &str) -> &str {
    let is_mark = |(at, mark): &(usize, &str)| text[at + mark.len()..].starts_with(char::is_whitespace);
    let Some((at, _)) = text.match_indices([',', '.', ';', '!']).find(is_mark) else { return text };
    let (head, rest) = (&text[..at], &text[at + 1..]);
    let is_left_out = is_retraction(head) || sets_aside(head);
    if is_left_out && rest.contains(char::is_alphanumeric) { rest.trim_start() } else { text }
}

/// Whether a text sets aside what it names: `not Acme`, but not `not only Acme` or `not sure`.
fn sets_aside(text: &str) -> bool {
    let words = words(text);
    english().setting_aside.iter().map(Phrase::words).any(|phrase| {
        let is_said =
            words.len() > phrase.len() && words.iter().zip(phrase).all(|(word, said)| word.lower == *said);
        let names = |word: &Word| {
            let english = english();
            english.determiners.has(&word.lower) || english.articles.has(&word.lower) || !word.is_stop()
        };
        is_said && names(&words[phrase.len()])
    })
}

/// The clauses of a text, in order: at least one.
pub(crate) fn clauses<'a>(text: &'a str, lexicon: &Words) -> Vec<&'a str> {
    let mut parts: Vec<&str> = sentences(text).into_iter().flat_map(|part| split(part, lexicon)).collect();
    parts.retain(|part| part.contains(char::is_alphanumeric));
    if parts.is_empty() || parts.len() > MOST { vec![text] } else { parts }
}

/// Where a text may be split into halves that do not begin as a sentence does, in bytes.
pub(crate) fn joints(text: &str) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    // Every joint begins with a comma or a space.
    for (at, _) in text.match_indices([',', ' ']) {
        let stands =
            |it: &&String| text[at..].get(..it.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(it));
        let is_within = all.last().is_some_and(|last| at < last.end);
        if let Some(joint) = english().joints.iter().find(stands).filter(|_| !is_within) {
            all.push(at..at + joint.len());
        }
    }
    all
}

/// Where a text has a comma that is no joint, or an `or`, and so may be split all the same, in bytes.
pub(crate) fn commas(text: &str) -> Vec<Range<usize>> {
    let joints = joints(text);
    // The space behind the comma may begin a joint: `, along with `.
    let is_joint =
        |comma: &Range<usize>| joints.iter().any(|it| it.start < comma.end && comma.start < it.end);
    let mut all: Vec<_> = [", or ", " or ", ", "]
        .iter()
        .flat_map(|mark| text.match_indices(mark))
        .map(|(at, mark)| at..at + mark.len())
        .filter(|place| !is_joint(place))
        .collect();
    all.sort_by_key(|place| (place.start, std::cmp::Reverse(place.end)));
    all.dedup_by(|next, before| next.start < before.end);
    all
}

/// Whether markup says that a text is quoted, an example or a comment.
pub(crate) fn is_quoted(text: &str) -> bool {
    let text = text.trim_start();
    ["> ", "# ", "```", "<!--"].iter().any(|mark| text.starts_with(mark)) || text.contains('`')
}

/// Splits a text at `?`, `;`, `!` and at a full stop before a space.
fn sentences(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut begin = 0;
    for (at, mark) in text.char_indices() {
        let after = at + mark.len_utf8();
        let ends = matches!(mark, '?' | ';' | '!') || (mark == '.' && text[after..].starts_with(' '));
        if ends {
            parts.push(&text[begin..after]);
            begin = after;
        }
    }
    parts.push(&text[begin..]);
    parts
}

/// Splits a text at a word such as `and` that a question or an order follows.
fn split<'a>(text: &'a str, lexicon: &Words) -> Vec<&'a str> {
    // Every separator begins with a comma or a space.
    for (at, _) in text.match_indices([',', ' ']) {
        let rest = &text[at..];
        let stands = |it: &&String| rest.get(..it.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(it));
        let Some(between) = english().between.iter().find(stands) else { continue };
        let second = &rest[between.len()..];
        let is_pair = between != ", " || begins_clause(text, lexicon);
        if begins_clause(second, lexicon) && at > 0 && is_pair {
            let mut parts = vec![&text[..at]];
            parts.extend(split(second, lexicon));
            return parts;
        }
    }
    vec![text]
}

fn begins_clause(text: &str, lexicon: &Words) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    // `Meri positions` begins with `my`.
    let meant = |word: String| english_for(&word).map(str::to_owned).unwrap_or(word);
    let mut lower = || words.next().map(|word| meant(word.to_lowercase())).unwrap_or_default();
    let first = lower();
    is_asking(&first)
        || lexicon.verbs.contains(&first)
        || english().wanted.has(&first)
        // `At what price …`
        || (english().fronted.has(&first) && is_asking(&lower()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_places_of_a_split_overlap() {
        let marks = english().joints.iter().map(String::as_str).chain([", ", ",", " "]);
        let marks: Vec<_> = marks.collect();
        for first in &marks {
            for second in &marks {
                let text = format!("price{first}news{second}results{first}{second}RSI of \u{130}TC");
                let mut all = [joints(&text), commas(&text)].concat();
                all.sort_by_key(|place| place.start);
                assert!(all.is_sorted_by(|one, next| one.end <= next.start), "{text:?}: {all:?}");
            }
        }
    }
}
