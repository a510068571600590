//! Whether two answers say the same but for the names that their requests have.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use super::{super::world::Planted, callers::Caller};
use crate::http::raw::Answer;

/// The shortest word with a digit that is taken for an id, an instant, a digest or a length of time.
const LONG: usize = 8;
/// How much of two answers is shown around their first difference.
const SHOWN: usize = 300;

/// What was found wrong, so that all of it is reported.
#[derive(Default)]
pub(super) struct Findings(Mutex<Vec<String>>);

/// Everything that an answer says.
pub(super) fn words(answer: &Answer) -> String {
    let Answer { status, headers, body } = answer;
    let is_kept = |(name, _): &(&String, &String)| !["date", "content-length"].contains(&name.as_str());
    let headers: BTreeMap<_, _> = headers.iter().filter(is_kept).collect();
    format!("{status} {headers:?}\n{body}")
}

impl Findings {
    /// Finds where an answer tells of one that is not the caller, but for what the request says itself.
    pub(super) fn tells_of_other(
        &self,
        caller: &Caller,
        planted: &[Planted],
        others: &[&Caller],
        request: &str,
        answer: &str,
    ) {
        for (other, planted) in others.iter().zip(planted) {
            if other.id == caller.id {
                continue;
            }
            // The ids of the others are part of these, and of the address that all have.
            let id = other.id.contains(':').then_some(other.id);
            for word in planted.words().chain(id).chain([other.own_tool]) {
                if !request.contains(word) && answer.contains(word) {
                    self.add(format!("{request} tells {} of {}: {word}: {answer}", caller.id, other.id));
                }
            }
        }
    }

    /// Finds where what another one has is answered otherwise than what there is not.
    pub(super) fn differ(
        &self,
        request: &str,
        (named, planted): (&str, &Planted),
        (unknown, nothing): (&str, &Planted),
    ) {
        let plain = |text: &str, names: &Planted| {
            let words = names.words().enumerate();
            words.fold(text.to_owned(), |text, (at, word)| text.replace(word, &format!("<{at}>")))
        };
        self.differ_as_they_are(request, &plain(named, planted), &plain(unknown, nothing));
    }

    /// Finds where two answers differ in more than ids and the like.
    pub(super) fn differ_as_they_are(&self, request: &str, one: &str, other: &str) {
        self.changed(&format!("{request}: an oracle"), &mask(one), &mask(other));
    }

    /// Finds where two texts differ, and shows what stands around that.
    pub(super) fn changed(&self, what: &str, one: &str, other: &str) {
        if one != other {
            let same = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
            let part = |text: &str| {
                let (from, to) = (same.saturating_sub(SHOWN), (same + SHOWN).min(text.len()));
                String::from_utf8_lossy(&text.as_bytes()[from..to]).into_owned()
            };
            self.add(format!("{what}:\n  {}\n  {}", part(one), part(other)));
        }
    }

    pub(super) fn add(&self, finding: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(finding);
    }

    #[track_caller]
    pub(super) fn assert_none(self) {
        let found = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut of_kind = BTreeMap::<_, Vec<_>>::new();
        for finding in &found {
            of_kind.entry(finding.split(' ').next()).or_default().push(finding.as_str());
        }
        let shown: Vec<_> = of_kind.values().flat_map(|all| all.iter().take(2).copied()).collect();
        assert!(found.is_empty(), "{} findings, such as\n{}", found.len(), shown.join("\n"));
    }
}

/// A text without ids, instants, digests and lengths of time: long words that have a digit, how long a step of a turn
/// took, which is left out where that is nothing, and how much the caller itself has made.
fn mask(text: &str) -> String {
    let is_of_word = |it: char| it.is_ascii_alphanumeric() || "_-.:+".contains(it);
    let text = without_counts(text);
    let (mut masked, mut rest) = (String::new(), &*text);
    while let Some(at) = rest.find(is_of_word) {
        let (before, from) = rest.split_at(at);
        let (word, after) = from.split_at(from.find(|it| !is_of_word(it)).unwrap_or(from.len()));
        let is_masked = word.len() >= LONG && word.contains(|it: char| it.is_ascii_digit());
        masked.extend([before, if is_masked { "#" } else { word }]);
        rest = after;
    }
    masked + rest
}

fn without_counts(text: &str) -> String {
    ["\"latencyMs\":", "\"latency_ms\":", "\"writes\":", "\\\"writes\\\":", "\"position\":", "\"duration\":"]
        .into_iter()
        .fold(text.to_owned(), |text, key| {
            let mut parts = text.split(key);
            let first = parts.next().unwrap_or_default().to_owned();
            let number = |it: char| it.is_ascii_digit() || it == '"' || it == '.' || it == 's';
            parts.fold(first, |text, part| text + part.trim_start_matches(number).trim_start_matches(','))
        })
}
