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
mod history;
pub mod read;
mod rounds;
mod system;

use thiserror::Error;

use self::{
    blocks::{Block, Content},
    draft::{Draft, Part},
    given::{Given, Notes, Speaker},
};
use toolwire_tokens as tokens;

/// Messages for a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// What stands above the messages.
    pub system: String,
    pub messages: Vec<Message>,
    /// How many tokens it all takes.
    pub tokens: u64,
    /// What was left out, in the order in which it was cut.
    pub cuts: Vec<String>,
    /// The timeline up to this entry is in it.
    pub last_sequence: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub role: Speaker,
    /// What it holds, in order.
    pub blocks: Vec<Block>,
    /// The first and the last entry in it. 0 for what stands before those of the task.
    pub sequences: (u64, u64),
}

/// Even what must stay exceeds the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the budget is too small: system, request and last round take at least {least} tokens")]
pub struct BudgetTooSmall {
    /// The least budget with which this timeline can be rendered now.
    pub least: u64,
}

/// Renders a timeline. Notes are left out where nothing else can be.
pub fn render(given: &Given<'_>) -> Result<Rendered, BudgetTooSmall> {
    match fitted(given) {
        Err(_) if *given.notes != Notes::default() => {
            let mut rendered = fitted(&Given { notes: &Notes::default(), ..given.clone() })?;
            rendered.cuts.push("notes left out".to_owned());
            Ok(rendered)
        }
        rendered => rendered,
    }
}

fn fitted(given: &Given<'_>) -> Result<Rendered, BudgetTooSmall> {
    let system = system::text(given);
    let tokens = tokens::count(&system);
    let mut draft = Draft { system: (system, tokens), ..rounds::draft(given) };
    let (tokens, cuts) = budget::cut(&mut draft, given).map_err(|least| BudgetTooSmall { least })?;
    let last_sequence = given.events.last().map_or(given.request.sequence, |event| event.sequence);
    let own = |sequence: u64| sequence.saturating_sub(given.before);
    let system = std::mem::take(&mut draft.system.0);
    let mut messages = messages(draft.into_parts());
    for Message { sequences, .. } in &mut messages {
        *sequences = (own(sequences.0), own(sequences.1));
    }
    Ok(Rendered { system, messages, tokens, cuts, last_sequence: own(last_sequence) })
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
