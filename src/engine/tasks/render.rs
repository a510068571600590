//! Renders a timeline as messages for a model: a pure, deterministic function, so that a
//! provider's prompt cache hits.
//!
//! Roles alternate, the first message is the user's, and every call has its result in the next message. What exceeds
//! the budget is cut in a fixed order and reported. Not here: reading entries and documents (`read`, `history`).

pub mod blocks;
mod budget;
mod draft;
mod entries;
pub mod frame;
mod history;
pub mod input;
pub mod read;
mod rounds;
mod system;

use thiserror::Error;

use self::{
    blocks::{Block, Content},
    draft::{Draft, Part},
    input::{Notes, RenderInput, Speaker},
};
use toolwire_tokens as tokens;

/// Messages for a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendering {
    pub system: String,
    pub messages: Vec<Message>,
    /// Tokens of the system prompt and all messages.
    pub tokens: u64,
    /// Descriptions of what was cut, in order.
    pub cuts: Vec<String>,
    /// The last entry of the timeline that is rendered.
    pub last_sequence: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub role: Speaker,
    pub blocks: Vec<Block>,
    /// The first and last entry of the timeline in it. 0 for entries of a master's timeline.
    pub sequences: (u64, u64),
}

/// The parts that are never cut exceed the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the budget is too small: system, request and last round take at least {least} tokens")]
pub struct BudgetTooSmall {
    /// The minimum budget for this timeline.
    pub least: u64,
}

/// Renders a timeline. Notes are dropped last, if it does not fit otherwise.
pub fn render(input: &RenderInput<'_>) -> Result<Rendering, BudgetTooSmall> {
    match render_to_budget(input) {
        Err(_) if *input.notes != Notes::default() => {
            let mut rendered = render_to_budget(&RenderInput { notes: &Notes::default(), ..input.clone() })?;
            rendered.cuts.push("notes left out".to_owned());
            Ok(rendered)
        }
        rendered => rendered,
    }
}

fn render_to_budget(input: &RenderInput<'_>) -> Result<Rendering, BudgetTooSmall> {
    let system = system::text(input);
    let tokens = tokens::count(&system);
    let mut draft = Draft { system: (system, tokens), ..rounds::draft(input) };
    let (tokens, cuts) = budget::cut(&mut draft, input).map_err(|least| BudgetTooSmall { least })?;
    let last_sequence = input.events.last().map_or(input.request.sequence, |event| event.sequence);
    // The input numbers the entries of masters and of this task as one timeline; the rendering has this task's numbers.
    let own = |sequence: u64| sequence.saturating_sub(input.before);
    let system = std::mem::take(&mut draft.system.0);
    let mut messages = messages(draft.into_parts());
    for Message { sequences, .. } in &mut messages {
        *sequences = (own(sequences.0), own(sequences.1));
    }
    Ok(Rendering { system, messages, tokens, cuts, last_sequence: own(last_sequence) })
}

/// Merges adjacent parts of one role into messages: providers require roles to alternate.
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
