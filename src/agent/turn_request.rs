//! The request of a turn: its user, its session, and its bounds.

use std::time::SystemTime;

use super::{TurnId, memory::Checkpoint};
use toolwire_planner::Exchange;
use toolwire_tool::context::{SessionId, ToolContext};

/// A turn that is to be carried out.
#[derive(Clone, Debug)]
pub struct TurnRequest {
    /// The user, the session and the deadline.
    pub context: ToolContext,
    pub session: SessionId,
    /// Whether the request named no session, so that one begins with this turn.
    pub is_new_session: bool,
    pub turn_id: TurnId,
    pub message: String,
    /// The account of the request; empty if none.
    pub account: String,
    /// Only tools with all of these tags are offered.
    pub tags: Vec<String>,
    /// What it may spend.
    pub budget: Budget,
    /// The kinds of the message's parts other than text, such as `image`: the answer names them.
    pub unread: Vec<String>,
    /// The earlier exchanges as the caller has them: what is older than the stored history is used.
    pub before: Vec<Exchange>,
    pub created_at: SystemTime,
    /// The checkpoint to resume from, if the turn was paused.
    pub checkpoint: Option<Checkpoint>,
    /// Whether it had read text from outside when it paused.
    pub was_tainted: bool,
}

/// What a turn may spend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The most plans.
    pub max_steps: u32,
    /// The most calls.
    pub max_calls: u32,
    /// The most tokens of a model.
    pub max_tokens: u32,
}
