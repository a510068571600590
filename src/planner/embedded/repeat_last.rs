//! Repeats the last calls for a message that only gives another value: `And Infosys?`

use chrono::{Datelike, NaiveDate};
use serde_json::{Map, Value};

use super::{
    follow_up::{Before, denies, lead, leads},
    routed::{Routed, Routing, alternatives},
};
use crate::{
    PlanRequest, PlannedCall,
    matching::{
        index::Indexed,
        message::Message,
        rank::Ranking,
        slots::{Filled, Slot, SlotContext},
    },
    weights::weights,
};
use toolwire_engine::registry::ExtractKind;

/// The reason of a repeated call.
const REASON: &str = "the last call, with what is different now";

/// The last calls, with the values of the message in place of their own. `best` is the score of another tool that the
/// message speaks for.
pub(super) fn repeat_last(
    request: &PlanRequest<'_>,
    ranking: &Ranking,
    given: SlotContext<'_>,
    before: &Before<'_>,
    best: f32,
) -> Option<Routed> {
    let index = request.offer.index();
    let mut all: Vec<PlannedCall> = Vec::new();
    for (tool, last) in before.calls.iter() {
        if !request.offer.flags()[*tool] || all.iter().any(|call| call.tool == last.tool) {
            continue;
        }
        // Another tool for which the message speaks more clearly wins over a repeat.
        let score = ranking.candidates.iter().find(|it| it.tool == *tool).map_or(0.0, |it| it.score);
        if score < weights().others.near_the_last * best {
            continue;
        }
        // `And in October?` behind a time that has ended is October of that year.
        let dated = dated_like(request, last, given.message);
        let given = SlotContext { message: dated.as_ref().unwrap_or(given.message), ..given };
        all.extend(repeat(&index.tools[*tool], last, given));
    }
    (!all.is_empty()).then(|| Routed {
        step: Routing::Calls(all),
        reason: REASON.to_owned(),
        confidence: weights().confidence.again,
        score: weights().clauses.very_sure,
        sum: weights().clauses.very_sure,
        alternatives: alternatives(index, ranking, None),
    })
}

/// The message as it is read in the year of the last call's time, if both are times that have ended.
fn dated_like<'a>(
    request: &PlanRequest<'_>,
    last: &PlannedCall,
    message: &Message<'a>,
) -> Option<Message<'a>> {
    let date = |name: &str| last.arguments.get(name)?.as_str()?.parse::<NaiveDate>().ok();
    let slots = &request.offer.index().tools[request.offer.index().place(&last.tool)?].slots;
    let of = |kind: ExtractKind| slots.iter().find(|slot| slot.extract.kind == kind);
    let (since, until) = (date(&of(ExtractKind::Since)?.name)?, date(&of(ExtractKind::Until)?.name)?);
    let times = &message.times;
    let has_dates = times.spans.is_empty() && times.since.is_some() && times.until.is_some();
    let end = NaiveDate::from_ymd_opt(since.year(), 12, 31)?.min(request.today);
    let is_one_year = since.year() == until.year();
    let (names, words) = (request.offer.names(), &request.offer.index().words);
    (has_dates && is_one_year).then(|| Message::new(message.text, end, names, words))
}

/// Repeats a call, once for each name that the message gives. Empty if the message gives nothing that the tool takes.
fn repeat(indexed: &Indexed, last: &PlannedCall, given: SlotContext<'_>) -> Vec<PlannedCall> {
    let slots = &indexed.slots;
    // The message alone must fill a slot: names carried over from earlier turns would repeat any call.
    let mut filled = Filled::new(slots, SlotContext { carried: &[], ..given });
    if let Some((at, number)) = bare_number(indexed, last, given.message) {
        filled.arguments.insert(slots[at].name.clone(), number.into());
        filled.from_message.push(at);
    }
    let is_topic = |at: &usize| slots[*at].extract.kind == ExtractKind::Topic && !leads(given.message);
    let has_value = filled.from_message.iter().any(|at| !is_topic(at));
    // A change is repeated only on a full order, a read already on a new value.
    let is_ordered =
        indexed.is_read || indexed.orders.accounts_for(given.message, slots, lead(given.message), |_| false);
    if !has_value || !is_ordered || filled.correction.is_some() {
        return Vec::new();
    }
    let call = |arguments| PlannedCall {
        tool: last.tool.clone(),
        arguments: merge(indexed, last, arguments, given.message),
        reason: REASON.to_owned(),
        by_model: None,
    };
    filled.calls().into_iter().map(call).collect()
}

/// The parameter for a number with which the message says nothing else: `make it 10`.
fn bare_number(indexed: &Indexed, last: &PlannedCall, message: &Message<'_>) -> Option<(usize, u32)> {
    let [(_, at)] = message.content[..] else { return None };
    let number = message.words[at].number().filter(|_| message.found.is_empty() && !denies(message))?;
    let is_number = |slot: &Slot| {
        matches!(slot.extract.kind, ExtractKind::Count | ExtractKind::Days | ExtractKind::Quarters)
    };
    let places = || indexed.slots.iter().enumerate().filter(|(_, slot)| is_number(slot));
    let was_given = places().find(|(_, slot)| last.arguments.contains_key(&slot.name));
    let is_count = |(_, slot): &(usize, &Slot)| slot.extract.kind == ExtractKind::Count;
    let (place, slot) = was_given.or_else(|| places().find(is_count))?;
    slot.out_of_bounds(number.into()).is_none().then_some((place, number))
}

/// The arguments of the last call, with those of the message in their place.
fn merge(
    indexed: &Indexed,
    last: &PlannedCall,
    arguments: Map<String, Value>,
    message: &Message<'_>,
) -> Map<String, Value> {
    let slots = &indexed.slots;
    let mut merged = last.arguments.clone();
    if !indexed.is_read {
        // An optional value of one change, such as a note, does not belong to another.
        merged.retain(|name, _| slots.iter().any(|slot| slot.is_required && slot.name == *name));
    }
    for (name, value) in arguments {
        let slot = slots.iter().find(|slot| slot.name == name);
        let replaced = message.found.iter().filter(|found| message.is_replaced(found));
        let replaced: Vec<_> = replaced.filter_map(|found| found.value(slot?.of_kind())).collect();
        let fewest = slot.map_or(1, |slot| slot.fewest);
        merged.insert(name.clone(), with_more(last.arguments.get(&name), value, fewest, &replaced));
    }
    merged
}

/// Completes a list that is too short by the values of the last call that are not replaced: `Add Wipro to the
/// comparison`.
fn with_more(last: Option<&Value>, value: Value, fewest: usize, replaced: &[&str]) -> Value {
    match (last, value) {
        (Some(Value::Array(last)), Value::Array(more)) if more.len() < fewest => {
            let new = more.into_iter().filter(|it| !last.contains(it));
            let is_kept = |it: &&Value| it.as_str().is_none_or(|it| !replaced.contains(&it));
            Value::Array(last.iter().filter(is_kept).cloned().chain(new).collect())
        }
        (_, value) => value,
    }
}
