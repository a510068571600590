//! Repeats the last calls, for a message that only says what is different.

use serde_json::{Map, Value};

use super::{
    follow_up::{Before, lead, leads},
    routed::{Routed, Routing, alternatives},
};
use crate::{
    PlanRequest, PlannedCall,
    matching::{
        rank::Ranking,
        slots::{Filled, SlotContext},
    },
    weights::weights,
};
use toolwire_engine::registry::ExtractKind;

/// The last calls once more, with what the message says in place of what was said then. `best` is the score of another
/// tool that the message speaks for.
pub(super) fn repeat_last(
    asked: &PlanRequest<'_>,
    ranking: &Ranking,
    given: SlotContext<'_>,
    before: &Before<'_>,
    best: f32,
) -> Option<Routed> {
    let index = asked.offer.index();
    let mut all: Vec<PlannedCall> = Vec::new();
    for (tool, last) in before.calls.iter() {
        if !asked.offer.flags()[*tool] || all.iter().any(|call| call.tool == last.tool) {
            continue;
        }
        // The message alone must fill a slot: names carried over from earlier turns would repeat any call.
        let score = ranking.candidates.iter().find(|it| it.tool == *tool).map_or(0.0, |it| it.score);
        let slots = &index.tools[*tool].slots;
        let filled = Filled::new(slots, SlotContext { carried: &[], ..given });
        let is_topic = |at: &usize| slots[*at].extract.kind == ExtractKind::Topic && !leads(given.message);
        let says = filled.said.iter().any(|at| !is_topic(at));
        let indexed = &index.tools[*tool];
        // A change is repeated only on a full order, a read already on a new value.
        let is_ordered = indexed.is_read
            || indexed.orders.accounts_for(given.message, slots, lead(given.message), |_| false);
        // Another tool for which the message speaks more clearly wins over a repeat.
        if !says || !is_ordered || filled.wrong.is_some() || score < weights().others.near_the_last * best {
            continue;
        }
        let merged = |arguments: Map<String, Value>| {
            let mut both = last.arguments.clone();
            if !index.tools[*tool].is_read {
                // What was said beside one thing that was changed is not said of another.
                both.retain(|name, _| slots.iter().any(|slot| slot.is_required && slot.name == *name));
            }
            for (name, value) in arguments {
                let fewest = slots.iter().find(|slot| slot.name == name).map_or(1, |slot| slot.fewest);
                both.insert(name.clone(), with_more(last.arguments.get(&name), value, fewest));
            }
            both
        };
        let reason = "the last call, with what is different now".to_owned();
        let call = |arguments| PlannedCall {
            tool: last.tool.clone(),
            arguments: merged(arguments),
            reason: reason.clone(),
            by_model: None,
        };
        all.extend(filled.calls().into_iter().map(call));
    }
    let first = all.first()?;
    let reason = first.reason.clone();
    Some(Routed {
        step: Routing::Calls(all),
        reason,
        confidence: weights().confidence.again,
        score: weights().clauses.very_sure,
        alternatives: alternatives(index, ranking, None),
    })
}

/// A list of too few has those of the last call too: `Add Wipro to the comparison.`
fn with_more(last: Option<&Value>, value: Value, fewest: usize) -> Value {
    match (last, value) {
        (Some(Value::Array(last)), Value::Array(more)) if more.len() < fewest => {
            let new = more.into_iter().filter(|it| !last.contains(it));
            Value::Array(last.iter().cloned().chain(new).collect())
        }
        (_, value) => value,
    }
}
