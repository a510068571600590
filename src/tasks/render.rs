//! A timeline as messages for a model (spec 002 `render_for_llm`): a pure function, the same to the byte each time, so
//! that a provider's cache of prompts holds.
//!
//! Roles alternate, the first message is the user's, and every call stands with its result. What exceeds the budget is
//! cut in a fixed order and named. Not here: reading entries and documents.

pub mod blocks;
mod budget;
mod draft;
mod entries;
pub mod frame;
pub mod given;
pub mod read;
mod rounds;
mod system;

use thiserror::Error;

use self::{
    blocks::{Block, Content},
    draft::{Draft, Part},
    given::{Given, Speaker},
};
use crate::workspace::tokens;

/// Messages for a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// What stands above the messages.
    pub system: String,
    /// The messages.
    pub messages: Vec<Message>,
    /// How many tokens it all takes.
    pub tokens: u64,
    /// What was left out, in the order in which it was cut.
    pub cuts: Vec<String>,
    /// The timeline up to this entry is in it.
    pub last_sequence: u64,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Whose.
    pub role: Speaker,
    /// What it holds, in order.
    pub blocks: Vec<Block>,
    /// The first and the last entry in it.
    pub sequences: (u64, u64),
}

/// Even what must stay exceeds the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the budget is too small: system, request and last round take at least {least} tokens")]
pub struct BudgetTooSmall {
    /// The least budget with which this timeline can be rendered now.
    pub least: u64,
}

/// Renders a timeline.
pub fn render(given: &Given<'_>) -> Result<Rendered, BudgetTooSmall> {
    let system = system::text(given);
    let tokens = tokens::count(&system);
    let mut draft = Draft { system: (system, tokens), ..rounds::draft(given) };
    let (tokens, cuts) = budget::cut(&mut draft, given).map_err(|least| BudgetTooSmall { least })?;
    let last_sequence = given.events.last().map_or(given.request.sequence, |event| event.sequence);
    let system = std::mem::take(&mut draft.system.0);
    Ok(Rendered { system, messages: messages(draft.into_parts()), tokens, cuts, last_sequence })
}

/// The messages of all parts; neighbours of one role are one.
fn messages(parts: Vec<Part>) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    for Part { role, mut blocks, sequences } in parts {
        blocks.retain(|block| block.content != Content::default());
        match messages.last_mut() {
            _ if blocks.is_empty() => {}
            Some(last) if last.role == role => {
                last.blocks.append(&mut blocks);
                last.sequences.1 = last.sequences.1.max(sequences.1);
            }
            _ => messages.push(Message { role, blocks, sequences }),
        }
    }
    messages
}

#[cfg(test)]
mod tests;
