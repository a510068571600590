//! Repeats the last calls for a message that only gives another value: `And Infosys?`

use serde_json::{Map, Value};

use super::{
    follow_up::{Before, lead, leads},
    routed::{Routed, Routing, alternatives},
};
use crate::{
    PlanRequest, PlannedCall,
    matching::{
        index::Indexed,
        rank::Ranking,
        slots::{Filled, SlotContext},
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
        all.extend(repeat(&index.tools[*tool], last, given));
    }
    (!all.is_empty()).then(|| Routed {
        step: Routing::Calls(all),
        reason: REASON.to_owned(),
        confidence: weights().confidence.again,
        score: weights().clauses.very_sure,
        alternatives: alternatives(index, ranking, None),
    })
}

/// Repeats a call, once for each name that the message gives. Empty if the message gives nothing that the tool takes.
fn repeat(indexed: &Indexed, last: &PlannedCall, given: SlotContext<'_>) -> Vec<PlannedCall> {
    let slots = &indexed.slots;
    // The message alone must fill a slot: names carried over from earlier turns would repeat any call.
    let filled = Filled::new(slots, SlotContext { carried: &[], ..given });
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
        arguments: merge(indexed, last, arguments),
        reason: REASON.to_owned(),
        by_model: None,
    };
    filled.calls().into_iter().map(call).collect()
}

/// The arguments of the last call, with those of the message in their place.
fn merge(indexed: &Indexed, last: &PlannedCall, arguments: Map<String, Value>) -> Map<String, Value> {
    let slots = &indexed.slots;
    let mut merged = last.arguments.clone();
    if !indexed.is_read {
        // An optional value of one change, such as a note, does not belong to another.
        merged.retain(|name, _| slots.iter().any(|slot| slot.is_required && slot.name == *name));
    }
    for (name, value) in arguments {
        let fewest = slots.iter().find(|slot| slot.name == name).map_or(1, |slot| slot.fewest);
        merged.insert(name.clone(), with_more(last.arguments.get(&name), value, fewest));
    }
    merged
}

/// Completes a list that is too short by the values of the last call: `Add Wipro to the comparison.`
fn with_more(last: Option<&Value>, value: Value, fewest: usize) -> Value {
    match (last, value) {
        (Some(Value::Array(last)), Value::Array(more)) if more.len() < fewest => {
            let new = more.into_iter().filter(|it| !last.contains(it));
            Value::Array(last.iter().cloned().chain(new).collect())
        }
        (_, value) => value,
    }
}
