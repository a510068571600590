//! Warnings about what could not be read of a call's sources, collected until the call's result carries them.
//!
//! Pinned to the call, as its requests are, and kept by call: nested calls share the pins, and each warns of its own.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

use crate::upstream::json::Faults;
use toolwire_tool::context::{CallId, ToolContext};

/// What was lost, by call and by the source's name for people.
#[derive(Debug, Default)]
struct ByCall(Mutex<HashMap<CallId, BTreeMap<&'static str, Faults>>>);

/// Notes what was lost of an answer to a call.
pub(super) fn note(context: &ToolContext, source: &'static str, faults: Faults) {
    let by_call = context.pins.get_or_pin(Arc::<ByCall>::default);
    let mut by_call = by_call.0.lock().unwrap_or_else(PoisonError::into_inner);
    by_call.entry(context.call_id).or_default().entry(source).or_default().add(faults);
}

/// What the result of a call must warn of, in words.
pub fn warnings(context: &ToolContext) -> Vec<String> {
    let by_call = context.pins.get_or_pin(Arc::<ByCall>::default);
    let mut by_call = by_call.0.lock().unwrap_or_else(PoisonError::into_inner);
    let by_source = by_call.remove(&context.call_id).unwrap_or_default();
    by_source.into_iter().flat_map(|(source, faults)| faults.warnings(source)).collect()
}
