//! Begins and resumes turns: one a session, and idempotent.

use prost::Message;
use tracing::Instrument;

use super::{Begun, NewTurn, Say, Turns, parse_id, pause_event, unknown};
use crate::service::unavailable::unavailable;
use toolwire_agent::{
    TurnId, TurnRequest,
    log::Reader,
    memory::Checkpoint,
    running::{Admission, RunningTurn, TurnContent},
};
use toolwire_base::clock;
use toolwire_contract::{
    Refusal, TurnRefusal,
    proto::agent::v1::{Reply, turn_event::Event},
};
use toolwire_store::{
    confirmations::life::State as Decided,
    sessions::{SessionGuard, SessionLock, State, StoredTurn},
};
use toolwire_tool::context::{RequestId, SessionId, ToolContext};

/// What is entered, and what the turn is carried out with.
struct Entry {
    place: RunningTurn,
    /// Keeps other processes that share the state from the session.
    hold: SessionGuard,
    reader: Reader,
    asking: TurnRequest,
}

/// Whether a turn may begin.
enum First {
    Begins(SessionGuard),
    Ended(Box<StoredTurn>),
}

impl Turns {
    /// Begins a turn, or goes on with one; of a repeat its end, or its events if it runs. Leaving the events cancels
    /// it.
    pub async fn begin(&self, new: NewTurn) -> Result<Begun, Refusal> {
        new.check()?;
        match new.say.clone() {
            Say::Message(message) => self.say(new, message).await,
            Say::Resume(turn_id) => self.resume(new, parse_id(&turn_id)?).await,
        }
    }

    async fn say(&self, new: NewTurn, message: String) -> Result<Begun, Refusal> {
        let turn_id = new.request_id.unwrap_or_else(RequestId::generate);
        let mut session = new.context.session_id.clone().unwrap_or_else(new_session);
        let said = TurnContent { message, account: new.account.clone() };
        // A repeat of a turn that ended must not take a place, so it is answered before the bounds are checked.
        if new.request_id.is_some()
            && self.running.get(&new.context.user.id, turn_id).is_none()
            && let Some(kept) = self.find_kept(&new.context.user, turn_id).await?
        {
            if kept.message != said.message || kept.account != said.account {
                return Err(Refusal::RequestIdReused { request_id: turn_id.to_string() });
            }
            if kept.state != State::Cancelled {
                return Ok(Begun::Kept(Box::new(kept)));
            }
            // Its caller may not have heard of the session that began with it.
            session = new.context.session_id.clone().unwrap_or(kept.session);
        }
        let asking = self.asking(&new, turn_id, session, &said);
        let entered = self.enter(&asking, Some(said))?;
        let (place, reader) = match entered {
            Admission::Runs(reader) => return Ok(Begun::Runs(turn_id, reader)),
            Admission::New(place, reader) => (place, reader),
        };
        // Checked again under the lock: another process may have ended the turn since.
        match self.first_look(&new, &asking).await {
            Ok(First::Begins(hold)) => Ok(self.spawn(Entry { place, hold, reader, asking })),
            Ok(First::Ended(kept)) => {
                // It ended just now; others may have joined what did not begin.
                place.leave().tell(end_of(&kept));
                Ok(Begun::Kept(kept))
            }
            Err(refusal) => {
                place.leave().refuse(refusal.clone());
                Err(refusal)
            }
        }
    }

    /// Checks under the turn's lock whether it may begin; returns its end, if it has ended already.
    async fn first_look(&self, new: &NewTurn, asking: &TurnRequest) -> Result<First, Refusal> {
        let hold = self.hold(asking)?;
        if new.request_id.is_some() {
            let kept = self.find_kept(&new.context.user, asking.turn_id).await?;
            if let Some(kept) = kept.filter(|kept| kept.state != State::Cancelled) {
                return Ok(First::Ended(Box::new(kept)));
            }
        }
        self.refuse_while_paused(asking).await?;
        Ok(First::Begins(hold))
    }

    /// Has the session in all processes that share the state.
    fn hold(&self, asking: &TurnRequest) -> Result<SessionGuard, Refusal> {
        let store = &self.parts.store;
        match store.hold_session(&asking.context.user.id, &asking.session, asking.turn_id) {
            Ok(SessionLock::Acquired(hold)) => Ok(hold),
            Ok(SessionLock::HeldBy(turn_id)) => Err(TurnRefusal::Running { turn_id }.into()),
            Err(error) => Err(unavailable(&error)),
        }
    }

    async fn resume(&self, new: NewTurn, turn_id: TurnId) -> Result<Begun, Refusal> {
        let user = new.context.user.clone();
        let not_paused =
            |state| Refusal::from(TurnRefusal::NotPaused { turn_id: turn_id.to_string(), state });
        if self.running.get(&user.id, turn_id).is_some_and(|entry| entry.said.is_some()) {
            return Err(not_paused("running"));
        }
        let kept = self.find_kept(&user, turn_id).await?.ok_or_else(|| unknown(&turn_id))?;
        let said = TurnContent { message: kept.message.clone(), account: kept.account.clone() };
        let mut asking = self.asking(&new, turn_id, kept.session.clone(), &said);
        let (place, reader) = match self.enter(&asking, None)? {
            Admission::Runs(reader) => return Ok(Begun::Runs(turn_id, reader)),
            Admission::New(place, reader) => (place, reader),
        };
        match self.standing(&asking, not_paused).await {
            Ok((standing, hold)) => {
                asking.tags.clone_from(&standing.tags);
                asking.unread.clone_from(&standing.unread);
                asking.checkpoint = Some(standing);
                asking.was_tainted = kept.tainted;
                asking.created_at = kept.created_at;
                Ok(self.spawn(Entry { place, hold, reader, asking }))
            }
            Err(refusal) => {
                place.leave().refuse(refusal.clone());
                Err(refusal)
            }
        }
    }

    /// The checkpoint of a paused turn, under the turn's lock.
    async fn standing(
        &self,
        asking: &TurnRequest,
        not_paused: impl Fn(&'static str) -> Refusal,
    ) -> Result<(Checkpoint, SessionGuard), Refusal> {
        let hold = self.hold(asking)?;
        let kept = self.find_kept(&asking.context.user, asking.turn_id).await?;
        let kept = kept.ok_or_else(|| unknown(&asking.turn_id))?;
        Ok((standing(&kept, not_paused)?, hold))
    }

    fn enter(&self, asking: &TurnRequest, said: Option<TurnContent>) -> Result<Admission, Refusal> {
        let user = &asking.context.user.id;
        self.running.enter(user, asking.turn_id, &asking.session, said, asking.created_at)
    }

    /// What the turn is carried out with.
    fn asking(&self, new: &NewTurn, turn_id: TurnId, session: SessionId, said: &TurnContent) -> TurnRequest {
        let settings = self.parts.agent.settings();
        let latest = clock::now() + new.budget.time(settings);
        let context = ToolContext {
            session_id: Some(session.clone()),
            deadline: new.context.deadline.no_later_than(latest),
            ..new.context.clone()
        };
        TurnRequest {
            context,
            session,
            is_new_session: new.context.session_id.is_none(),
            turn_id,
            message: said.message.clone(),
            account: said.account.clone(),
            tags: new.tags.clone(),
            budget: new.budget.within(settings),
            unread: new.unread.clone(),
            before: new.before.clone(),
            created_at: clock::wall(),
            checkpoint: None,
            was_tainted: false,
        }
    }

    /// A person who is asked about one turn is not to be asked past it.
    async fn refuse_while_paused(&self, asking: &TurnRequest) -> Result<(), Refusal> {
        let (user, store) = (&asking.context.user, &self.parts.store);
        let waiting =
            store.paused_turns(&user.id, &asking.session).await.map_err(|error| unavailable(&error))?;
        for turn in waiting.iter().filter(|turn| turn.turn_id != asking.turn_id) {
            for call in pause_event(turn).pending {
                let id = call.confirmation_required.unwrap_or_default().confirmation_id;
                let found = self
                    .parts
                    .confirmations
                    .get(user, &id, std::time::Duration::ZERO, &tokio_util::sync::CancellationToken::new())
                    .await;
                if found.is_ok_and(|viewed| viewed.confirmation.state == Decided::Pending) {
                    return Err(TurnRefusal::Paused { turn_id: turn.turn_id.to_string() }.into());
                }
            }
        }
        Ok(())
    }

    /// Carries a turn out in a task of its own. The place is freed before the end is sent, so that a reader of the end
    /// can begin the next turn.
    fn spawn(&self, Entry { place, hold, reader, asking }: Entry) -> Begun {
        let (agent, turn_id) = (self.parts.agent.clone(), asking.turn_id);
        let work = async move {
            let end = agent.carry_out(&asking, &place.log, &place.cancelled).await;
            drop(hold);
            let log = place.leave();
            match end {
                Ok(event) => log.tell(event),
                Err(refusal) => log.refuse(refusal),
            }
        };
        tokio::spawn(work.in_current_span());
        Begun::Runs(turn_id, reader)
    }
}

fn standing(kept: &StoredTurn, not_paused: impl Fn(&'static str) -> Refusal) -> Result<Checkpoint, Refusal> {
    if kept.state != State::Paused {
        return Err(not_paused(kept.state.into_str()));
    }
    // What is not understood was written by another program.
    serde_json::from_str(&kept.standing).map_err(|_| not_paused("of another version"))
}

/// The event that told the end of a turn.
pub fn end_of(kept: &StoredTurn) -> Event {
    match kept.state {
        State::Paused => Event::Paused(pause_event(kept)),
        State::Ended | State::Cancelled => {
            Event::Final(Reply::decode(kept.reply.as_slice()).unwrap_or_default())
        }
    }
}

fn new_session() -> SessionId {
    RequestId::generate().to_string().parse().expect("a UUID is short enough")
}
