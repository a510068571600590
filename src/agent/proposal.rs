//! Calls that the embedded planner proposes, and the answers that accept or decline them.
//!
//! The planner understands too little to change anything on its own, or to show what a message asks only in part. It
//! asks about such calls, and they are made only if the next message of the session is a clear yes. Not here:
//! confirmations that a manifest requires (`toolwire_engine::pipeline::confirm`), which a yes in a conversation never
//! gives.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::stored_call::StoredCall;
use toolwire_base::words::one_line;
use toolwire_engine::registry::RegisteredTool;
use toolwire_planner::Offer;

/// The lifetime of a proposal.
pub const EXPIRES_IN: Duration = Duration::from_mins(10);

/// Calls that wait for a yes. Kept as JSON with the turn that proposed them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    /// The calls in the order of the message. At least one.
    pub calls: Vec<ProposedCall>,
    /// What of the message the calls do not cover, as it is written. Such calls only read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unclear: Vec<String>,
    /// Milliseconds since the Unix epoch.
    expires_at: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProposedCall {
    /// The tool and its arguments.
    pub call: StoredCall,
    /// The idempotency key of the call: two equal answers make one call.
    pub request_id: String,
    /// The digest of the tool's definition at the time of the question.
    definition: String,
}

/// Maximum length, in characters, of what is not understood as a question repeats it.
const LONGEST_PART: usize = 80;

/// The end of the question about a proposal.
const QUESTION_END: &str = "? Yes or no.";

/// The answer of a message to a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProposalAnswer {
    /// A clear yes, and nothing else.
    Yes,
    /// A clear no, and nothing else.
    No,
    /// Anything else, which is a message of its own.
    Neither,
}

/// Phrases that accept, each sufficient by itself. It is an allowlist: a phrase that is missing here costs a second
/// question and never an unwanted change.
const ACCEPTING: [&[&str]; 19] = [
    &["yes"],
    &["y"],
    &["yep"],
    &["yeah"],
    &["yup"],
    &["aye"],
    &["confirm"],
    &["confirmed"],
    &["i", "confirm"],
    &["do", "it"],
    &["do", "that"],
    &["please", "do"],
    &["go", "ahead"],
    &["go", "for", "it"],
    &["proceed"],
    &["haan"],
    &["ji", "haan"],
    &["haan", "ji"],
    &["kar", "do"],
];

/// Phrases that decline, also an allowlist: with any other message the proposal is dropped and the message is planned.
const DECLINING: [&[&str]; 22] = [
    &["no"],
    &["n"],
    &["nope"],
    &["nah"],
    &["cancel"],
    &["cancel", "it"],
    &["cancel", "that"],
    &["never", "mind"],
    &["nevermind"],
    &["forget", "it"],
    &["forget", "that"],
    &["don't"],
    &["do", "not"],
    &["hold", "on"],
    &["wait"],
    &["stop"],
    &["not", "now"],
    &["not", "yet"],
    &["keep", "it"],
    &["leave", "it"],
    &["nahi"],
    &["nahin"],
];

/// Phrases that are accepted beside an answer and do not change it.
const COURTESY: [&[&str]; 9] = [
    &["please"],
    &["ok"],
    &["okay"],
    &["sure"],
    &["of", "course"],
    &["absolutely"],
    &["definitely"],
    &["thanks"],
    &["thank", "you"],
];

impl Proposal {
    /// Proposes calls, each with its idempotency key. `None` if there is none, or one of a tool that is not offered.
    pub fn new(
        calls: impl IntoIterator<Item = (StoredCall, String)>,
        unclear: Vec<String>,
        offer: &Offer,
        now: SystemTime,
    ) -> Option<Self> {
        let proposed = |(call, request_id): (StoredCall, String)| {
            let definition = offer.get(&call.tool)?.definition.digest.to_string();
            Some(ProposedCall { call, request_id, definition })
        };
        let calls: Vec<_> = calls.into_iter().map(proposed).collect::<Option<_>>()?;
        let expires_at = millis(now + EXPIRES_IN);
        (!calls.is_empty()).then_some(Self { calls, unclear, expires_at })
    }

    /// Whether its calls change something.
    pub fn is_change(&self) -> bool {
        self.unclear.is_empty()
    }

    /// Whether the lifetime is over.
    pub fn has_expired(&self, now: SystemTime) -> bool {
        millis(now) >= self.expires_at
    }

    /// The end of the lifetime.
    pub fn expires_at(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(self.expires_at)
    }

    /// The first call whose tool has another definition than at the time of the question.
    pub fn first_changed(&self, offer: &Offer) -> Option<&ProposedCall> {
        let is_same = |it: &&ProposedCall| {
            offer.get(&it.call.tool).is_some_and(|tool| tool.definition.digest.to_string() == it.definition)
        };
        self.calls.iter().find(|it| !is_same(it))
    }

    /// The answer of a message. If one call is proposed, a yes may restate it: `yes, remove it`.
    pub fn answer(&self, message: &str, offer: &Offer) -> ProposalAnswer {
        match (answer(message), self.calls.as_slice()) {
            (ProposalAnswer::Neither, [call]) if call.is_restated(message, offer) => ProposalAnswer::Yes,
            (answer, _) => answer,
        }
    }

    /// The question, with every argument of every call.
    pub fn question(&self, offer: &Offer) -> String {
        let orders = self.calls.iter().filter_map(|it| Some(order(offer.get(&it.call.tool)?, &it.call)));
        let orders: Vec<_> =
            orders.enumerate().map(|(at, order)| if at == 0 { order } else { within(&order) }).collect();
        if self.unclear.is_empty() {
            return format!("{}{QUESTION_END}", orders.join(", and "));
        }
        let unclear = self.unclear.iter().map(|text| one_line(text).chars().take(LONGEST_PART).collect());
        let unclear: Vec<String> = unclear.collect();
        let (shown, unclear) = (orders.join(", and "), unclear.join(", "));
        format!("I can show: {shown}. I did not understand: {unclear}. Show that{QUESTION_END}")
    }
}

impl ProposedCall {
    /// Whether a message is a yes and then the order or its beginning, with its names or a pronoun in place of them.
    fn is_restated(&self, message: &str, offer: &Offer) -> bool {
        let (tool, arguments) = (offer.get(&self.call.tool), &self.call.arguments);
        let order = tool.and_then(|tool| tool.narration.proposal(&arguments.clone().into()));
        let (mut order, message) = (normalize(&order.unwrap_or_default()), normalize(message));
        let words: Vec<_> = message.split_whitespace().collect();
        let (rest, has_yes) = strip(&words, &ACCEPTING);
        let mut said = normalize(&rest.join(" "));
        let names = arguments.values().filter_map(Value::as_str).map(normalize);
        let names: Vec<_> = names.filter(|name| order.contains(name)).collect();
        for name in names.iter().map(String::as_str).chain([" that ", " them "]) {
            (order, said) = (order.replace(name, " it "), said.replace(name, " it "));
        }
        let rest: Vec<_> = said.split_whitespace().collect();
        let same = rest.iter().zip(order.split_whitespace()).take_while(|(said, it)| *said == it).count();
        has_yes && same > 0 && strip(&rest[same..], &[]).0.is_empty()
    }
}

/// The answer of a message to any proposal.
pub fn answer(message: &str) -> ProposalAnswer {
    let message = normalize(message);
    let words: Vec<_> = message.split_whitespace().collect();
    match (strip(&words, &ACCEPTING), strip(&words, &DECLINING)) {
        (([], true), _) => ProposalAnswer::Yes,
        (_, ([], true)) => ProposalAnswer::No,
        _ => ProposalAnswer::Neither,
    }
}

/// Whether an answer may end with the question about a proposal.
pub fn may_ask(answered: &str) -> bool {
    answered.contains(QUESTION_END)
}

/// Whether a message can answer a proposal: it begins with a yes or a no.
pub fn may_answer(message: &str) -> bool {
    let message = normalize(message);
    let words: Vec<_> = message.split_whitespace().collect();
    strip(&words, &ACCEPTING).1 || strip(&words, &DECLINING).1
}

/// The words of a text in lower case, with a space on either side of each. A question mark belongs to its word, so no
/// question equals a phrase, and a symbol such as an emoji is a word, which no phrase has.
fn normalize(text: &str) -> String {
    let lower = text.to_lowercase().replace('’', "'");
    let is_mark = |c: char| c.is_ascii_punctuation() && !matches!(c, '\'' | '?');
    let is_separator = |c: char| c.is_whitespace() || is_mark(c) || "…—–“”„‘·。，！、".contains(c);
    let words: Vec<_> = lower.split(is_separator).filter(|word| !word.is_empty()).collect();
    format!(" {} ", words.join(" "))
}

/// Strips leading phrases and courtesies. Returns the rest, and whether there was a phrase.
fn strip<'a, 'b>(mut words: &'a [&'b str], phrases: &[&[&str]]) -> (&'a [&'b str], bool) {
    let mut has_phrase = false;
    loop {
        let longest = |list: &[&[&str]]| {
            list.iter().filter(|phrase| words.starts_with(phrase)).map(|phrase| phrase.len()).max()
        };
        let (said, polite) = (longest(phrases), longest(&COURTESY));
        let Some(length) = said.max(polite) else { return (words, has_phrase) };
        has_phrase |= said >= polite;
        words = &words[length..];
    }
}

/// A call as an order, such as `Add TCS to the watchlist (note: “below 3,000”)`.
fn order(tool: &RegisteredTool, call: &StoredCall) -> String {
    let definition = &tool.definition;
    let text = |arguments: &Map<String, Value>| tool.narration.proposal(&arguments.clone().into());
    let order = text(&call.arguments);
    // A template truncates long values and may omit arguments: those are appended in full.
    let is_shown = |name: &String, value: &str| {
        let mut without = call.arguments.clone();
        without.remove(name);
        order.as_ref().is_some_and(|order| order.contains(value)) && text(&without) != order
    };
    let values = call.arguments.iter().map(|(name, value)| match value {
        Value::String(text) => (name, one_line(text), true),
        other => (name, other.to_string(), false),
    });
    let rest = values.filter(|(name, value, _)| !is_shown(name, value));
    let rest: Vec<_> = rest
        .map(|(name, value, is_text)| {
            let name = name.replace('_', " ");
            if is_text { format!("{name}: “{value}”") } else { format!("{name}: {value}") }
        })
        .collect();
    let title = || {
        Some(&definition.title).filter(|it| !it.is_empty()).map_or(definition.name.to_string(), Clone::clone)
    };
    let order = order.unwrap_or_else(title);
    if rest.is_empty() { order } else { format!("{order} ({})", rest.join(", ")) }
}

/// An order within a sentence: it begins in lower case.
fn within(order: &str) -> String {
    let mut rest = order.chars();
    rest.next().map(|first| first.to_lowercase().chain(rest).collect()).unwrap_or_default()
}

fn millis(at: SystemTime) -> u64 {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_accepts() {
        for yes in ["yes", "Yes.", "y", "YES!!", "yes please", "ok, do it", "Yeah, go ahead.", "sure, yes"] {
            assert_eq!(answer(yes), ProposalAnswer::Yes, "{yes}");
        }
        for other in [
            "",
            "ok",
            "sure",
            "ok thanks",
            "yes?",
            "yes, but not now",
            "yes or no",
            "yesterday",
            "no yes",
            "yes no",
            "don't do it",
            "do",
            "yes if it falls",
            "I said yes",
            "yes and remove INFY",
            "👍",
            "yes 🙄",
        ] {
            assert_ne!(answer(other), ProposalAnswer::Yes, "{other}");
        }
        for no in ["no", "No, thanks.", "nope, forget that", "cancel", "never mind", "don’t"] {
            assert_eq!(answer(no), ProposalAnswer::No, "{no}");
        }
    }
}
