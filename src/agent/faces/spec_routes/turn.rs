//! A turn as a route begins it, and its events: while it runs, or its end alone if it ended before.

use http::Extensions;

use super::chat_input::ChatInput;
use crate::{
    log::Reader,
    service::turns::{Begun, BudgetWish, NewTurn, Say, Turns, end_of},
};
use toolwire_base::clock;
use toolwire_contract::{Refusal, convert::timestamp, proto::agent::v1::TurnEvent};
use toolwire_server::faces::incoming;
use toolwire_state::sessions::StoredTurn;
use toolwire_tool::context::{RequestId, SessionId, ToolContext, User};

/// The events of a turn. Dropping them cancels the turn, unless it has other readers.
#[derive(Debug)]
pub enum TurnEvents {
    Running(Reader),
    /// The terminal event of a turn that ended before, until it is taken.
    Ended(Option<Box<TurnEvent>>),
}

/// Identity, deadline and session of a request that begins a turn.
pub fn context(extensions: &Extensions, session: Option<SessionId>) -> ToolContext {
    let (_, mut context) = incoming::caller(extensions);
    context.session_id = session;
    context
}

/// A turn with this input, and the server's default budget.
pub fn new(context: ToolContext, said: ChatInput, account: String, request_id: Option<RequestId>) -> NewTurn {
    NewTurn {
        context,
        say: Say::Message(said.question),
        account,
        request_id,
        tags: Vec::new(),
        unread: said.unread,
        before: said.before,
        budget: BudgetWish::default(),
    }
}

/// Begins or resumes a turn.
pub async fn begin(turns: &Turns, new: NewTurn) -> Result<TurnEvents, Refusal> {
    turns.begin(new).await.map(TurnEvents::from)
}

/// Listens to a turn of the user's.
pub async fn follow(turns: &Turns, user: &User, turn_id: &str) -> Result<TurnEvents, Refusal> {
    turns.follow(user, turn_id).await.map(TurnEvents::from)
}

impl TurnEvents {
    /// The next event; `None` after the last. Data in it is JSON text.
    pub async fn next(&mut self) -> Option<Result<TurnEvent, Refusal>> {
        match self {
            Self::Running(reader) => Some(reader.next().await?.map(|event| (*event).clone())),
            Self::Ended(event) => event.take().map(|event| Ok(*event)),
        }
    }

    /// The last event.
    pub async fn end(mut self) -> Result<TurnEvent, Refusal> {
        let mut last = Err(Refusal::CallerGone);
        while let Some(event) = self.next().await {
            last = Ok(event?);
        }
        last
    }
}

impl From<Begun> for TurnEvents {
    fn from(begun: Begun) -> Self {
        match begun {
            Begun::Runs(_, reader) => Self::Running(reader),
            Begun::Kept(kept) => Self::Ended(Some(Box::new(end_event(&kept)))),
        }
    }
}

fn end_event(kept: &StoredTurn) -> TurnEvent {
    TurnEvent {
        turn_id: kept.turn_id.to_string(),
        event_time: Some(timestamp(clock::wall())),
        event: Some(end_of(kept)),
        ..TurnEvent::default()
    }
}
