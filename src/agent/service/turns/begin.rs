//! Begins and resumes turns: one a session, and idempotent.

use prost::Message;
use tracing::Instrument;

use super::{Begun, NewTurn, Say, Turns, parse_id, pause_event, unknown};
use crate::{
    TurnId, TurnRequest,
    active_turns::{Admission, RunningTurn, TurnContent},
    log::Reader,
    memory::Checkpoint,
};
use toolwire_base::{clock, offload};
use toolwire_contract::{
    Refusal, TurnRefusal,
    proto::agent::v1::{Reply, turn_event::Event},
};
use toolwire_server::service::unavailable::unavailable;
use toolwire_state::{
    confirmations::life::State as Decided,
    sessions::{SessionGuard, SessionLock, State, StoredTurn},
};
use toolwire_tool::context::{RequestId, SessionId, ToolContext};

/// A turn that may begin, with what it holds until it ends.
struct AdmittedTurn {
    running: RunningTurn,
    /// Keeps other processes that share the state out of the session.
    guard: SessionGuard,
    reader: Reader,
    request: TurnRequest,
}

/// The result of locking the session of a turn.
enum LockOutcome {
    MayBegin(SessionGuard),
    /// The turn has ended already.
    Ended(Box<StoredTurn>),
}

impl Turns {
    /// Begins or resumes a turn. A repeat returns the turn's end, or its events while it runs. Dropping the events
    /// cancels the turn.
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
        let content = TurnContent { message, account: new.account.clone() };
        // First: a repeat of a turn that ended needs no capacity, so it is answered before the bounds are checked.
        if let Some(kept) = self.find_repeated(&new, turn_id, &content).await? {
            if kept.state != State::Cancelled {
                return Ok(Begun::Kept(Box::new(kept)));
            }
            // It begins again. Its caller may not know the session that was created for it.
            session = new.context.session_id.clone().unwrap_or(kept.session);
        }
        let request = self.turn_request(&new, turn_id, session, &content);
        let (running, reader) = match self.enter(&request, Some(content))? {
            Admission::Runs(reader) => return Ok(Begun::Runs(turn_id, reader)),
            Admission::New(running, reader) => (running, reader),
        };
        match self.lock_new(&new, &request).await {
            Ok(LockOutcome::MayBegin(guard)) => {
                Ok(self.spawn(AdmittedTurn { running, guard, reader, request }))
            }
            Ok(LockOutcome::Ended(kept)) => {
                // Repeats may have joined it meanwhile: they receive the same end.
                running.leave().tell(end_of(&kept));
                Ok(Begun::Kept(kept))
            }
            Err(refusal) => {
                running.leave().refuse(refusal.clone());
                Err(refusal)
            }
        }
    }

    /// The earlier turn of which this one is a repeat, unless it runs. Another content is refused.
    async fn find_repeated(
        &self,
        new: &NewTurn,
        turn_id: TurnId,
        content: &TurnContent,
    ) -> Result<Option<StoredTurn>, Refusal> {
        let user = &new.context.user;
        if new.request_id.is_none() || self.running.get(&user.id, turn_id).is_some() {
            return Ok(None);
        }
        let kept = self.find_kept(user, turn_id).await?;
        if kept.as_ref().is_some_and(|it| it.message != content.message || it.account != content.account) {
            return Err(Refusal::RequestIdReused { request_id: turn_id.to_string() });
        }
        Ok(kept)
    }

    /// Locks the session of a new turn. Whether it has ended is checked again under the lock: another process may have
    /// carried it out since.
    async fn lock_new(&self, new: &NewTurn, request: &TurnRequest) -> Result<LockOutcome, Refusal> {
        let guard = self.lock_session(request).await?;
        if new.request_id.is_some() {
            let kept = self.find_kept(&new.context.user, request.turn_id).await?;
            if let Some(kept) = kept.filter(|kept| kept.state != State::Cancelled) {
                return Ok(LockOutcome::Ended(Box::new(kept)));
            }
        }
        self.refuse_while_paused(request).await?;
        Ok(LockOutcome::MayBegin(guard))
    }

    /// Locks the session in all processes that share the state.
    async fn lock_session(&self, request: &TurnRequest) -> Result<SessionGuard, Refusal> {
        let store = &self.parts.store;
        match store.hold_session(&request.context.user.id, &request.session, request.turn_id).await {
            Ok(SessionLock::Acquired(guard)) => Ok(guard),
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
        let content = TurnContent { message: kept.message.clone(), account: kept.account.clone() };
        let mut request = self.turn_request(&new, turn_id, kept.session.clone(), &content);
        let (running, reader) = match self.enter(&request, None)? {
            Admission::Runs(reader) => return Ok(Begun::Runs(turn_id, reader)),
            Admission::New(running, reader) => (running, reader),
        };
        match self.lock_paused(&request, not_paused).await {
            Ok((checkpoint, guard)) => {
                request.tags.clone_from(&checkpoint.tags);
                request.unread.clone_from(&checkpoint.unread);
                request.checkpoint = Some(checkpoint);
                request.was_tainted = kept.tainted;
                request.created_at = kept.created_at;
                Ok(self.spawn(AdmittedTurn { running, guard, reader, request }))
            }
            Err(refusal) => {
                running.leave().refuse(refusal.clone());
                Err(refusal)
            }
        }
    }

    /// Locks the session of a paused turn, and reads its checkpoint under the lock: another process may have resumed it
    /// since.
    async fn lock_paused(
        &self,
        request: &TurnRequest,
        not_paused: impl Fn(&'static str) -> Refusal,
    ) -> Result<(Checkpoint, SessionGuard), Refusal> {
        let guard = self.lock_session(request).await?;
        let kept = self.find_kept(&request.context.user, request.turn_id).await?;
        let kept = kept.ok_or_else(|| unknown(&request.turn_id))?;
        Ok((checkpoint(&kept, not_paused)?, guard))
    }

    /// Admits a turn to this process, or joins it if it runs already. `content` is `None` for one that resumes.
    fn enter(&self, request: &TurnRequest, content: Option<TurnContent>) -> Result<Admission, Refusal> {
        let user = &request.context.user.id;
        self.running.enter(user, request.turn_id, &request.session, content, request.created_at)
    }

    /// The turn as the agent carries it out.
    fn turn_request(
        &self,
        new: &NewTurn,
        turn_id: TurnId,
        session: SessionId,
        opening: &TurnContent,
    ) -> TurnRequest {
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
            message: opening.message.clone(),
            account: opening.account.clone(),
            tags: new.tags.clone(),
            budget: new.budget.within(settings),
            unread: new.unread.clone(),
            before: new.before.clone(),
            created_at: clock::wall(),
            checkpoint: None,
            was_tainted: false,
        }
    }

    /// Refuses a turn while another one of the session waits for a decision: the person is asked about one turn at a
    /// time.
    async fn refuse_while_paused(&self, request: &TurnRequest) -> Result<(), Refusal> {
        let (user, store) = (&request.context.user, &self.parts.store);
        let waiting =
            store.paused_turns(&user.id, &request.session).await.map_err(|error| unavailable(&error))?;
        for turn in waiting.iter().filter(|turn| turn.turn_id != request.turn_id) {
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

    /// Carries a turn out in a task of its own.
    fn spawn(&self, AdmittedTurn { running, guard, reader, request }: AdmittedTurn) -> Begun {
        let (agent, turn_id) = (self.parts.agent.clone(), request.turn_id);
        let user = request.context.user.id.shared();
        let work = async move {
            let end = agent.carry_out(&request, &running.log, &running.cancelled).await;
            // Both are released before the end is sent, so that a reader of the end can begin the next turn. The lock
            // first: the turn that this process admits next must find it free.
            drop(guard);
            let log = running.leave();
            match end {
                Ok(event) => log.tell(event),
                Err(refusal) => log.refuse(refusal),
            }
        };
        let work = offload::on_behalf(user, offload::migrating(work));
        tokio::spawn(work.in_current_span());
        Begun::Runs(turn_id, reader)
    }
}

fn checkpoint(
    kept: &StoredTurn,
    not_paused: impl Fn(&'static str) -> Refusal,
) -> Result<Checkpoint, Refusal> {
    if kept.state != State::Paused {
        return Err(not_paused(kept.state.into_str()));
    }
    // One that cannot be read was written by another version of the program.
    serde_json::from_str(&kept.standing).map_err(|_| not_paused("of another version"))
}

/// The terminal event of a stored turn.
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
