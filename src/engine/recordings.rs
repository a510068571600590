//! Recordings of calls: what is kept of arguments and results for people, sealed before it is stored.
//!
//! One task writes them, several in one transaction, and no call waits for it: a call that finds the queue full is not
//! recorded, and what the queue holds is lost if the process is killed. Not here: who may read recordings.

mod contents;
mod sealing;

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use secrecy::ExposeSecret;
use tokio::{
    sync::{Mutex, OwnedSemaphorePermit, Semaphore, mpsc, watch},
    time::timeout,
};

pub use self::contents::{Contents, Missing};
use self::sealing::Keys;
use crate::registry::Definition;
use toolwire_base::{current::Current, offload};
use toolwire_config::{Calls, RecordLevel};
use toolwire_contract::{Payload, ToolName, ToolResult};
use toolwire_db::StoreError;
use toolwire_state::{Store, recordings::NewRecording};
use toolwire_tool::context::{CallId, UserId};

/// Maximum number of calls that wait to be written.
const MAX_QUEUE: usize = 1_000;
/// Maximum size of the arguments and results that wait to be written.
const MAX_QUEUE_BYTES: usize = 32 * 1024 * 1024;

/// Maximum number of recordings in one transaction.
const MAX_BATCH: usize = 100;

/// Maximum time that a reader waits for what is in the queue.
const MAX_READ_WAIT: Duration = Duration::from_secs(1);

/// Records calls. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Recorder(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    settings: Current<Settings>,
    store: Arc<Store>,
    sender: mpsc::Sender<Queued>,
    receiver: Mutex<mpsc::Receiver<Queued>>,
    /// The bytes that the queue may still hold.
    room: Arc<Semaphore>,
    /// Number of calls that were put into the queue.
    queued: AtomicU64,
    /// Number of calls that were taken out of the queue, and written or given up.
    done: watch::Sender<u64>,
}

/// `[calls]`, ready for use. Made before they are put into force, so that settings without a key replace nothing.
#[derive(Debug)]
pub struct Settings {
    calls: Calls,
    /// Whether any call may be recorded.
    records: bool,
    keys: Keys,
}

/// Calls are to be recorded, and there is no key to seal recordings with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "calls.keys holds no key, and [calls] says that calls are recorded: nothing is stored unsealed. Set a key, such as \
     `openssl rand -base64 32` prints, or record = \"none\""
)]
pub struct NoKey;

/// What is recorded of a call.
#[derive(Debug)]
pub struct CallData {
    pub user: UserId,
    pub call_id: CallId,
    pub tool: ToolName,
    /// The checked arguments as JSON text, the sensitive ones masked.
    pub arguments: String,
    pub result: Result<ToolResult, Missing>,
}

/// What the store holds of a call.
#[derive(Debug)]
pub enum Found {
    /// It holds nothing, or what it held has expired.
    Nothing,
    /// It holds nothing yet: what is in the queue is still to be written.
    Pending,
    /// None of the keys opens what it holds, or it was changed.
    Unreadable,
    Recording {
        contents: Box<Contents>,
        expires_at: SystemTime,
    },
}

#[derive(Debug)]
struct Queued {
    data: CallData,
    _room: OwnedSemaphorePermit,
}

impl Settings {
    pub fn new(calls: &Calls) -> Result<Self, NoKey> {
        let keys = Keys::new(calls.keys.iter().map(ExposeSecret::expose_secret));
        let records = calls.records();
        if records && keys.is_empty() {
            return Err(NoKey);
        }
        Ok(Self { calls: calls.clone(), records, keys })
    }
}

impl Recorder {
    pub fn new(settings: Settings, store: &Arc<Store>) -> Self {
        let (sender, receiver) = mpsc::channel(MAX_QUEUE);
        Self(Arc::new(Inner {
            settings: Current::new(settings),
            store: Arc::clone(store),
            sender,
            receiver: Mutex::new(receiver),
            room: Arc::new(Semaphore::new(MAX_QUEUE_BYTES)),
            queued: AtomicU64::default(),
            done: watch::Sender::default(),
        }))
    }

    /// A recorder that records nothing.
    pub fn off(store: &Arc<Store>) -> Self {
        let settings = Settings { calls: Calls::default(), records: false, keys: Keys::new([]) };
        Self::new(settings, store)
    }

    /// Puts other settings into force for the calls that begin from now on. Returns what differs.
    pub fn replace(&self, settings: Settings) -> Vec<String> {
        let changes = settings.calls.changes(&self.0.settings.load().calls);
        self.0.settings.replace(settings);
        changes
    }

    /// What is recorded of the calls of a tool: the less of what its manifest and the settings say. Allocates nothing.
    pub fn level(&self, tool: &Definition) -> RecordLevel {
        let settings = self.0.settings.load();
        if !settings.records {
            return RecordLevel::None;
        }
        settings.calls.of_tool(&tool.name).min(tool.record.unwrap_or(RecordLevel::All))
    }

    /// Has a call recorded soon, unless too many wait for that.
    pub fn offer(&self, data: CallData) {
        let result = data.result.as_ref().ok().and_then(|it| it.outcome.as_ref().ok());
        let bytes = data.arguments.len() + result.map_or(0, Payload::encoded_len);
        let bytes = u32::try_from(bytes.max(1)).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.0.room).try_acquire_many_owned(bytes);
        let (Ok(room), Ok(place)) = (room, self.0.sender.try_reserve()) else {
            tracing::warn!(call_id = %data.call_id, "a call is not recorded: too many wait to be written");
            return;
        };
        // Before it is in the queue, so that a reader who waits for this many waits for it.
        self.0.queued.fetch_add(1, Ordering::Relaxed);
        place.send(Queued { data, _room: room });
    }

    /// Writes what is offered, for as long as it is polled.
    pub async fn run(&self) -> Infallible {
        let mut receiver = self.0.receiver.lock().await;
        loop {
            let mut batch = Vec::with_capacity(MAX_BATCH);
            // Never ends: `self` holds a sender.
            receiver.recv_many(&mut batch, MAX_BATCH).await;
            let count = batch.len() as u64;
            self.write(batch).await;
            self.0.done.send_modify(|done| *done += count);
        }
    }

    /// Waits until all that is in the queue now is written or given up.
    pub async fn flush(&self) {
        let queued = self.0.queued.load(Ordering::Relaxed);
        // The sender lives as long as `self`.
        let _ = self.0.done.subscribe().wait_for(|done| *done >= queued).await;
    }

    /// Whether something in the queue is still to be written.
    fn is_behind(&self) -> bool {
        *self.0.done.borrow() < self.0.queued.load(Ordering::Relaxed)
    }

    async fn write(&self, batch: Vec<Queued>) {
        let settings = self.0.settings.load_full();
        let bytes = batch.iter().map(|it| it.data.arguments.len() + 1_024).sum();
        let seal =
            move || batch.into_iter().filter_map(|it| seal(&settings.keys, it.data)).collect::<Vec<_>>();
        let recordings = offload::if_large(bytes, seal).await;
        if let Err(error) = self.0.store.keep_recordings(&recordings).await {
            tracing::warn!(%error, calls = recordings.len(), "calls are not recorded: they cannot be written");
        }
    }

    /// What is recorded of a user's call of a tool. Waits a moment for what is still to be written.
    pub async fn find(&self, user: &UserId, call_id: CallId, tool: &str) -> Result<Found, StoreError> {
        // Before the state is read: what is written meanwhile is not seen by that.
        let may_come = self.is_behind();
        let mut found = self.0.store.recording(call_id).await?;
        if found.is_none() && may_come {
            let _ = timeout(MAX_READ_WAIT, self.flush()).await;
            found = self.0.store.recording(call_id).await?;
        }
        let Some(found) = found else {
            return Ok(if self.is_behind() { Found::Pending } else { Found::Nothing });
        };
        let settings = self.0.settings.load_full();
        let opened = settings.keys.open(&bound_to(user, call_id, tool), &found.sealed);
        let Some(contents) = opened.and_then(|it| Contents::decode(&it, tool)) else {
            tracing::warn!(%call_id, "a recording cannot be opened: calls.keys lacks its key, or it was changed");
            return Ok(Found::Unreadable);
        };
        Ok(Found::Recording { contents: Box::new(contents), expires_at: found.expires_at })
    }
}

/// `None` if the last key was removed since the call began.
fn seal(keys: &Keys, data: CallData) -> Option<NewRecording> {
    let CallData { user, call_id, tool, arguments, result } = data;
    let contents = Contents::new(arguments, result).encode();
    let sealed = keys.seal(&bound_to(&user, call_id, &tool), contents)?;
    Some(NewRecording { user, call_id, sealed })
}

/// What a recording is bound to: copied to the row of another call, user or tool, it cannot be opened. A tool's name
/// contains no NUL, so that two of these are equal only if all of their parts are.
fn bound_to(user: &UserId, call_id: CallId, tool: &str) -> Vec<u8> {
    [call_id.as_bytes().as_slice(), user.as_str().as_bytes(), b"\0", tool.as_bytes()].concat()
}
