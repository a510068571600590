//! Fills the parameters of a tool from a message, by the `extract` of its manifest.
//!
//! A value is never clamped to its bounds: one out of bounds becomes a question. Not here: which tool is meant.

mod read;
mod slot;
mod slot_context;

use serde_json::{Map, Value, json};

use self::read::Reading;
pub(crate) use self::{
    read::{joined_values, value_places},
    slot::Slot,
    slot_context::SlotContext,
};

/// The arguments of one tool, as far as a message gives them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filled {
    pub(crate) arguments: Map<String, Value>,
    /// The indices of the required slots that are not filled.
    pub(crate) missing: Vec<usize>,
    /// The question about a value that cannot be taken.
    pub(crate) correction: Option<String>,
    /// The further values for a parameter that takes one, each for a call of its own.
    pub(crate) others: Option<(String, Vec<String>)>,
    /// The indices of the slots that the message itself fills, and no earlier turn.
    pub(crate) from_message: Vec<usize>,
}

impl Filled {
    /// The arguments that a message gives for these slots.
    pub(crate) fn new(slots: &[Slot], given: SlotContext<'_>) -> Self {
        let mut filled = Self::default();
        let note = slots.iter().find_map(|slot| slot.note(given.message));
        for (at, slot) in slots.iter().enumerate() {
            let read = read::slot(slot, given, note.as_ref());
            let Some(Reading { value, others, is_said }) = read else {
                if slot.is_required {
                    filled.missing.push(at);
                }
                continue;
            };
            if let Some(number) = value.as_f64() {
                filled.correction = filled.correction.take().or_else(|| slot.out_of_bounds(number));
            }
            if let (Some(word), false) = (value.as_str(), slot.allowed.is_empty())
                && !slot.allowed.iter().any(|it| it == word)
            {
                filled.correction =
                    Some(format!("Which {} do you mean: {}?", slot.name, slot.allowed.join(", ")));
            }
            if value.as_array().is_some_and(|list| list.len() < slot.fewest) {
                filled.missing.push(at);
            }
            if is_said {
                filled.from_message.push(at);
            }
            if !others.is_empty() && filled.others.is_none() {
                filled.others = Some((slot.name.clone(), others));
            }
            filled.arguments.insert(slot.name.clone(), value);
        }
        filled
    }

    /// The arguments of each call: one for each name where the tool takes one.
    pub(crate) fn calls(self) -> Vec<Map<String, Value>> {
        let Some((name, others)) = self.others else { return vec![self.arguments] };
        let other = |value: String| {
            let mut arguments = self.arguments.clone();
            arguments.insert(name.clone(), json!(value));
            arguments
        };
        std::iter::once(self.arguments.clone()).chain(others.into_iter().map(other)).collect()
    }
}
