//! Narrows the last call by a message of few words: to what was named, or to a time.

use super::follow_up::{Before, leads};
use crate::{
    matching::{
        index::Index,
        message::Message,
        rank::{Candidate, Ranking},
        slots::Slot,
    },
    weights::weights,
};

/// The candidate for a single word after a call: `any news?` after a call for Acme is about Acme, if a tool answers
/// that.
pub(super) fn to_what_was_named<'a>(
    index: &Index,
    ranking: &'a Ranking,
    message: &Message<'_>,
    before: &Before<'_>,
    chosen: &'a Candidate,
) -> &'a Candidate {
    let takes_names = |it: &Candidate| index.tools[it.tool].slots.iter().any(Slot::takes_names);
    let says_more = !message.found.is_empty() || message.content.len() != 1;
    if says_more || takes_names(chosen) || !last_has_name(index, before) {
        return chosen;
    }
    let is_of_it = |it: &&Candidate| {
        let indexed = &index.tools[it.tool];
        let named = indexed.slots.iter().any(|slot| {
            slot.is_required && slot.takes_names() && it.filled.arguments.contains_key(&slot.name)
        });
        named && indexed.is_read && it.filled.missing.is_empty() && it.filled.correction.is_none()
    };
    let least = weights().others.near_without_a_name * chosen.score;
    let near = ranking.candidates.iter().filter(|it| it.score >= least);
    near.clone().find(is_of_it).unwrap_or(chosen)
}

/// Whether the last calls were about something that has a name.
fn last_has_name(index: &Index, before: &Before<'_>) -> bool {
    before.calls.iter().any(|(tool, call)| {
        let mut slots = index.tools[*tool].slots.iter().filter(|slot| slot.takes_names());
        slots.any(|slot| call.arguments.contains_key(&slot.name))
    })
}

/// The answer to `only those of December` if the last tool takes no times.
pub(super) fn to_a_time(index: &Index, message: &Message<'_>, before: &Before<'_>) -> Option<String> {
    let (tool, _) = before.calls.first()?;
    let tool = &index.tools[*tool];
    let says_time_alone = leads(message)
        && message.found.is_empty()
        && message.times.is_any()
        && message.content.iter().all(|(_, word)| message.times.takes(*word) || *word == 0);
    let title = &tool.tool.definition.title;
    let limits = match tool.slots.iter().find(|slot| slot.takes_a_time()) {
        None => "a time: it has everything there is".to_owned(),
        Some(_) if tool.slots.iter().any(Slot::takes_dates) => return None,
        Some(slot) => format!("that: its times end now ({})", slot.allowed.join(", ")),
    };
    says_time_alone
        .then(|| format!("“{title}” cannot be narrowed to {limits}. What else do you want to know?"))
}
