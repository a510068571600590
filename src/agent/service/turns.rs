//! Turns of conversations as every face offers them: admission, idempotency and ownership.
//!
//! Users see their own turns only. Not here: what is done in a turn (`run`), and what is stored
//! (`toolwire-state`).

mod begin;
mod input;
mod queries;

use std::sync::Arc;

use prost::Message;

pub use self::{
    begin::end_of,
    input::{BudgetWish, NewTurn, Say},
    queries::{CancelTarget, TurnView},
};
use crate::{
    Agent, TurnId,
    active_turns::ActiveTurns,
    log::Reader,
    memory::{Checkpoint, Pending},
};
use toolwire_contract::{Refusal, TurnRefusal, proto::agent::v1::Paused};
use toolwire_server::service::{confirmations::Confirmations, request, unavailable::unavailable};
use toolwire_state::{Store, sessions::StoredTurn};
use toolwire_tool::context::User;

/// The parts that turns need.
#[derive(Clone, Debug)]
pub struct Parts {
    pub agent: Agent,
    pub store: Arc<Store>,
    pub confirmations: Confirmations,
}

/// Turns, as every face offers them. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Turns {
    parts: Arc<Parts>,
    running: ActiveTurns,
}

/// The result of beginning or following a turn.
#[derive(Debug)]
pub enum Begun {
    /// The turn runs: its events from the first on.
    Runs(TurnId, Reader),
    /// The turn has ended or paused already.
    Kept(Box<StoredTurn>),
}

impl Turns {
    /// The turns that this agent carries out.
    pub fn new(parts: Parts) -> Self {
        let settings = parts.agent.settings();
        let running = ActiveTurns::new(settings.turns, settings.turns_per_user);
        Self { parts: Arc::new(parts), running }
    }

    /// The same turns, carried out by another agent.
    #[must_use]
    pub fn with_agent(&self, agent: Agent) -> Self {
        let parts = Arc::new(Parts { agent, ..(*self.parts).clone() });
        Self { parts, running: self.running.clone() }
    }

    /// The agent that carries them out.
    pub fn agent(&self) -> &Agent {
        &self.parts.agent
    }

    /// The turns that this process carries out.
    pub fn running(&self) -> &ActiveTurns {
        &self.running
    }

    /// Reads a turn of the user's that ended or paused.
    async fn find_kept(&self, user: &User, turn_id: TurnId) -> Result<Option<StoredTurn>, Refusal> {
        let kept = self.parts.store.turn(&user.id, turn_id).await;
        kept.map_err(|error| unavailable(&error))
    }
}

/// Parses the turn's name. A malformed one is unknown, in the same words as another user's.
fn parse_id(id: &str) -> Result<TurnId, Refusal> {
    match id.parse() {
        Ok(id) => Ok(id),
        Err(_) if id.is_empty() => Err(request::refuse(
            "turn_id",
            "required",
            "must name a turn; ListTurns lists those of a session",
        )),
        Err(_) => Err(unknown(id)),
    }
}

fn unknown(id: &(impl ToString + ?Sized)) -> Refusal {
    let id: String = id.to_string().chars().take(64).collect();
    TurnRefusal::Unknown { id }.into()
}

/// The terminal event of a paused turn, with the calls that wait.
fn pause_event(turn: &StoredTurn) -> Paused {
    Paused::decode(turn.reply.as_slice()).unwrap_or_default()
}

/// The calls of a paused turn that wait, from its checkpoint.
fn pending(turn: &StoredTurn) -> Vec<Pending> {
    serde_json::from_str::<Checkpoint>(&turn.standing).map(|it| it.pending).unwrap_or_default()
}
