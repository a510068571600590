//! One sentence, item or row: its links, its citations, its numbers, its names.

use std::ops::Range;

use super::allowed_facts::AllowedFacts;
use crate::ground::{
    citations::{Citation, citations},
    issue::{Issue, IssueKind},
    links::{Link, links},
    markdown::{Covered, Line, code},
    numbers::{Token, is_past, phrase, spelled, tokens, words},
    sentences::Part,
};

/// The numbers that belong to results.
#[derive(Clone, Debug)]
pub(super) struct Need {
    /// One bit for each result that has all of the numbers.
    pub(super) origins: u64,
    pub(super) first: String,
}

/// What a sentence that passed says.
#[derive(Debug, Default)]
pub(super) struct Checked {
    /// The sources that it cites.
    pub(super) source_ids: Vec<String>,
    /// The numbers for which it needs a citation.
    pub(super) need: Option<Need>,
    /// Whether it is a part of a line that began before.
    pub(super) goes_on: bool,
    has_numbers: bool,
}

impl Checked {
    /// Whether it is nothing but a statement of sources, which belongs to the block before.
    pub(super) fn is_source_line(&self) -> bool {
        !self.source_ids.is_empty() && !self.has_numbers
    }
}

pub(super) fn check(part: &Part, line: Line, known: &AllowedFacts, ordinals: u32) -> Result<Checked, Issue> {
    let text = part.text.as_str();
    let goes_on = !part.begins_line;
    let links = links(text, part.is_code);
    if let Some(wrong) = links.iter().find(|link| !known.allowed.allows(&link.target)) {
        return Err(Issue::new(IssueKind::Link, &text[wrong.range.clone()]));
    }
    if part.is_code {
        return Ok(Checked { goes_on, ..Checked::default() });
    }
    let code = code(text);
    let cited = citations(text, &code, |id| known.source_ids.iter().any(|it| it == id))?;
    let source_ids = cited.iter().flat_map(|it| &it.source_ids).map(|id| (*id).to_owned()).collect();
    let left_out = left_out(line, ordinals, code, &cited, &links);
    let (need, has_numbers) = numbers(text, &left_out, known)?;
    if let Some(word) = turned(text, known) {
        return Err(Issue::new(IssueKind::Number, word));
    }
    if need.is_some()
        && let Some(names) = &known.names
        && let Some(name) = names.find_foreign(text, line, &left_out)
    {
        return Err(Issue::new(IssueKind::Name, name));
    }
    Ok(Checked { source_ids, need, goes_on, has_numbers })
}

/// The parts whose digits say nothing, in order.
fn left_out(
    line: Line,
    ordinals: u32,
    code: Vec<Range<usize>>,
    citations: &[Citation<'_>],
    links: &[Link<'_>],
) -> Vec<Range<usize>> {
    let marker = match line {
        // Lists count on: another number at the beginning of a line is one.
        Line::Item { ordinal: Some(ordinal), marker } if ordinal <= ordinals + 1 => Some(0..marker),
        _ => None,
    };
    let mut parts = code;
    parts.extend(marker);
    parts.extend(citations.iter().map(|it| it.range.clone()));
    parts.extend(links.iter().map(|it| it.range.clone()));
    parts.sort_unstable_by_key(|part| part.start);
    parts
}

/// The citation that the numbers need, and whether there are any. Dates count as no numbers.
fn numbers(
    text: &str,
    left_out: &[Range<usize>],
    known: &AllowedFacts,
) -> Result<(Option<Need>, bool), Issue> {
    let (mut need, mut has_numbers) = (None::<Need>, false);
    for (token, range) in all_tokens(text, left_out, known.facts.is_strict) {
        let said = &text[range];
        let found = known.facts.find(&token).ok_or_else(|| Issue::new(IssueKind::Number, said))?;
        if matches!(token, Token::Date(_) | Token::Time(_)) {
            continue;
        }
        has_numbers = true;
        if found.origins == 0 {
            continue;
        }
        let need = need.get_or_insert_with(|| Need { origins: u64::MAX, first: said.to_owned() });
        // What the user said may come from there: then no result has to have it.
        let narrowed = need.origins & found.origins;
        if !found.free || narrowed != 0 {
            need.origins = narrowed;
        }
    }
    Ok((need, has_numbers))
}

/// What a text says of numbers, without the parts that are left out, in order; where words count, those in words too.
fn all_tokens<'a>(
    text: &'a str,
    left_out: &[Range<usize>],
    is_strict: bool,
) -> impl Iterator<Item = (Token<'a>, Range<usize>)> {
    let in_words: Vec<_> = if is_strict { spelled(text).collect() } else { Vec::new() };
    let mut all: Vec<_> = tokens(text).chain(in_words).collect();
    all.sort_by_key(|(_, range)| range.start);
    let mut left_out = Covered::of(left_out);
    all.retain(|(_, range)| !left_out.has(range.start));
    all.into_iter()
}

/// A word that says that something has risen or fallen, if nothing in the turn has.
fn turned<'a>(text: &'a str, known: &AllowedFacts) -> Option<&'a str> {
    if !known.facts.is_strict {
        return None;
    }
    let has = |direction| known.facts.has_direction(direction);
    let wrong = words(text).find(|(direction, word)| is_past(word) && !has(*direction));
    let wrong = wrong.or_else(|| phrase(text).filter(|(direction, _)| !has(*direction)));
    wrong.map(|(_, word)| word)
}
