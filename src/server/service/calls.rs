//! Calls as every face lists them: those that run, those that ended last, and those whose outcome is kept.
//!
//! They have three sources: the running calls and the last ended ones, both of this process, and the records of calls
//! with a `request_id`, which outlive the process and take precedence. Not here: calling, and cancelling calls of this
//! process.

mod cancel;
mod list;
mod record;
mod recording;
mod remote;
mod stages;
mod view;
mod watch;

use std::{ops::Deref, sync::Arc, time::Duration};

use tokio::time::{sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use self::remote::RemoteCalls;
pub use self::{
    list::{Filter, Page, VisibleUsers, Whose},
    record::{Record, State},
    recording::RecordingView,
    stages::StageBeginning,
    view::CallView,
    watch::{Watch, WatchEvent, Watched, What},
};
use super::{request::refuse, unavailable::unavailable};
use toolwire_base::clock;
use toolwire_contract::{ConsoleLinks, Refusal};
use toolwire_db::StoreError;
use toolwire_engine::{
    pipeline::{CallInfo, EndedCall, InFlight, Policy},
    recordings::Recorder,
    registry::Registry,
};
use toolwire_state::{
    Store,
    calls::{RecordSelector, RecordedCall},
    idempotency::Key,
};
use toolwire_tool::context::{CallId, RequestId, User, UserId};

/// Maximum wait for the end of a call in one request.
pub const MAX_WAIT: Duration = Duration::from_mins(1);

/// The interval of polling for changes by other processes, of which nothing notifies this one.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// The parts that queries of calls need.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The calls with a `request_id`.
    pub store: Arc<Store>,
    /// The confirmations for which they wait.
    pub confirmations: Arc<Store>,
    /// The tools, whose schemas stored results are read by.
    pub registry: Arc<Registry>,
    /// Decides which user may see whose calls.
    pub policy: Arc<dyn Policy>,
    /// The calls that are running.
    pub in_flight: InFlight,
    /// Maximum duration of a call.
    pub cap: Duration,
    /// Where persons decide on confirmations.
    pub console: ConsoleLinks,
    /// Reads what is recorded of calls.
    pub recorder: Recorder,
}

/// Calls, as every face offers them. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Calls(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    parts: Parts,
    /// Names this process in the positions of watches.
    process: RequestId,
    remote: RemoteCalls,
}

impl Deref for Shared {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.parts
    }
}

/// Names a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallRef {
    Call(CallId),
    /// The user's call of this identifier; of this tool, if one is named.
    Request(RequestId, Option<String>),
}

/// What is known of a call that was found.
enum Known {
    Running,
    /// It ended in this process and has no record.
    Ended(EndedCall),
    Recorded(RecordedCall),
}

impl Calls {
    /// Calls of these parts.
    pub fn new(parts: Parts) -> Self {
        let (process, remote) = (RequestId::generate(), RemoteCalls::default());
        Self(Arc::new(Shared { parts, process, remote }))
    }

    /// One call. With `wait`, returns once it has ended, the wait is over, or `ends` is cancelled.
    pub async fn get(
        &self,
        user: &User,
        which: &CallRef,
        wait: Duration,
        ends: &CancellationToken,
    ) -> Result<CallView, Refusal> {
        let until = clock::now() + wait.min(MAX_WAIT);
        loop {
            let (record, known) = self.find(user, which).await?;
            if record.state.is_final() || clock::now() >= until || ends.is_cancelled() {
                return self.view(user, record, known).await;
            }
            tokio::select! {
                () = self.0.in_flight.wait_for_end(record.call_id) => {}
                () = sleep(POLL_INTERVAL) => {}
                () = sleep_until(until) => {}
                () = ends.cancelled() => {}
            }
        }
    }

    /// Notes that a user has the outcome of an own call, so that an equal one is another call.
    pub async fn deliver(&self, user: &User, CallView { record, result, .. }: &CallView) {
        let (Ok(tool), Ok(request_id)) = (record.tool.parse(), record.request_id.parse()) else { return };
        // An unknown outcome is asked for again by an unchanged repeat.
        let is_known = result.is_some() && record.state != record::State::OutcomeUnknown;
        if !is_known || record.user != user.id.as_str() {
            return;
        }
        let key = Key { user: user.id.clone(), tool, request_id };
        if let Err(error) = self.0.store.release_call(&key).await {
            tracing::warn!(%error, %request_id, "a delivered write still lends its request_id");
        }
    }

    /// Finds a call in all three sources. Also returns what the source knows of it.
    async fn find(&self, user: &User, which: &CallRef) -> Result<(Record, Known), Refusal> {
        // Before the stored records are read: a call that ends in between is in one of both.
        let (mut running, mut ended) = self.0.in_flight.list(|seen| self.is_meant(user, which, seen));
        let recorded = match self.find_recorded(user, which).await {
            Ok(recorded) => recorded,
            // Without the state, the calls of this process are still known.
            Err(_) if !running.is_empty() || !ended.is_empty() => Vec::new(),
            Err(error) => return Err(unavailable(&error)),
        };
        // An unresolved call says nothing of a tool.
        running.retain(|it| it.facts.tool().is_none_or(|it| self.is_for(user, &it.definition.name)));
        ended.retain(|it| self.is_for(user, &it.tool));
        check_unique(which, &recorded)?;
        if let CallRef::Request(_, Some(tool)) = which {
            running.retain(|it| it.facts.tool().is_some_and(|it| *it.definition.name == **tool));
            ended.retain(|it| *it.tool == **tool);
        }
        // The stored record takes precedence: after a restart it alone knows the outcome.
        if let Some(recorded) = recorded.into_iter().next() {
            let runs = self.0.in_flight.is_running(recorded.call_id);
            let mut record = Record::of_recorded(&recorded, runs, self.0.cap, self.0.store.now());
            let running = running.iter().filter(|it| it.info.call_id == recorded.call_id);
            let ended = ended.iter().filter(|it| it.info.call_id == recorded.call_id);
            let instances = running.map(|it| it.facts.instance()).chain(ended.map(|it| it.instance.clone()));
            record.instance = instances.flatten().next().map(|it| it.to_string()).unwrap_or_default();
            return Ok((record, Known::Recorded(recorded)));
        }
        let replica = self.own_name().await;
        let running = running.iter().max_by_key(|it| it.info.call_id);
        if let Some(running) = running {
            return Ok((Record::of_running(running, &replica), Known::Running));
        }
        let ended = ended.into_iter().max_by_key(|it| it.info.call_id).ok_or_else(|| unknown(which))?;
        Ok((Record::of_ended(&ended, &replica), Known::Ended(ended)))
    }

    /// What this process names itself in records; empty where the state cannot be asked.
    async fn own_name(&self) -> Arc<str> {
        self.0.store.current_name().await.unwrap_or_else(|_| "".into())
    }

    /// The stored records of a call that the user may see.
    async fn find_recorded(&self, user: &User, which: &CallRef) -> Result<Vec<RecordedCall>, StoreError> {
        let selector = match which {
            CallRef::Call(call_id) => RecordSelector::Call(*call_id),
            CallRef::Request(id, tool) => RecordSelector::Request(&user.id, *id, tool.as_deref()),
        };
        let mut recorded = self.0.store.find_calls(selector).await?;
        recorded.retain(|it| self.may_see(user, &it.key.user) && self.is_for(user, &it.key.tool));
        Ok(recorded)
    }

    fn is_meant(&self, user: &User, which: &CallRef, seen: &CallInfo) -> bool {
        match which {
            CallRef::Call(call_id) => seen.call_id == *call_id && self.may_see(user, &seen.user),
            CallRef::Request(id, _) => seen.request_id == Some(*id) && seen.user == user.id,
        }
    }

    /// Whether a user sees the calls of all users.
    pub fn observes(&self, user: &User) -> bool {
        self.0.policy.may_observe(user)
    }

    fn may_see(&self, user: &User, of: &UserId) -> bool {
        *of == user.id || self.observes(user)
    }

    /// Whether the user's token is for the tool of a call.
    fn is_for(&self, user: &User, tool: &str) -> bool {
        self.0.policy.is_for(user, self.0.registry.snapshot().rule_target(tool))
    }
}

/// Refuses an identifier that names calls of several tools: the caller must name the tool, too.
fn check_unique(which: &CallRef, recorded: &[RecordedCall]) -> Result<(), Refusal> {
    let (CallRef::Request(_, None), [one, other, ..]) = (which, recorded) else { return Ok(()) };
    if one.key.tool == other.key.tool {
        return Err(unknown(which));
    }
    Err(refuse("tool", "required", &format!("must say which call: {} and others", one.key.tool)))
}

/// The same refusal whether the call does not exist or is another user's.
fn unknown(which: &CallRef) -> Refusal {
    let id = match which {
        CallRef::Call(call_id) => call_id.to_string(),
        CallRef::Request(request_id, _) => request_id.to_string(),
    };
    Refusal::UnknownCall { id }
}
