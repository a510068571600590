//! Trees of tasks and their timelines (spec 002): durable, and exact to the entry.
//!
//! A task is the fold of its timeline, which is kept beside it in the same change. A call of a task's agent and its
//! record under its `request_id` are one change too, at both ends. Not here: what a type of tool does, who may drive a
//! task, and documents. There is no store of this in memory: what was acknowledged outlives the process.

mod as_text;
mod bounds;
pub mod entry;
pub mod fold;
pub mod life;
mod memory;
mod mistake;
mod outcome;
mod refused;
mod request;
mod task;

use std::time::{Duration, SystemTime};

use futures_util::future::BoxFuture;
use tokio::sync::watch;

use self::entry::Entry;
pub use self::{
    bounds::{
        DEFAULT_TIMEOUT, ENTRIES_FOR_THE_END, MAX_BYTES, MAX_DEPTH, MAX_ENTRIES, MAX_OPEN_TREES,
        MAX_PAGE_BYTES, MAX_PART, MAX_TASKS, MAX_TIMEOUT, MAX_TREE_BYTES, MAX_USER_BYTES, MAX_WAITS,
        MUTATIONS_KEPT,
    },
    memory::{Memories, Memory, Remembered},
    mistake::Mistake,
    outcome::{Ending, Recovered, Stopped},
    refused::{Refused, TaskError, TreeLimit},
    request::{
        Action, Asking, CallEnd, LoopControl, Mutation, NewChild, NewEnd, NewMessage, NewQuestion, NewRoot,
        Recorded, Resolution, RootCall, TaskCall, Turn,
    },
    task::{
        Changes, EntryOf, Filter, Kind, Lease, Leased, Listed, OpenCall, Page, PageOf, Place, Scope,
        Standing, Task, Tree, Waiting, Wanted, Wish,
    },
};
use super::{StoreError, confirmations::Opened, secret::Secret};
use toolwire_base::digest::Digest;
use toolwire_tool::context::{CallId, RequestId, TaskId, UserId};

/// What comes of asking.
pub type Done<'a, T> = BoxFuture<'a, Result<T, TaskError>>;

/// Keeps tasks, in one store with their calls and confirmations. Tasks of other users are unknown.
pub trait Tasks: Secret + Send + Sync + std::fmt::Debug {
    /// Creates a root. Its documents must be in the workspace that its name names.
    fn create_root<'a>(&'a self, new: &'a NewRoot, mutation: Mutation, now: SystemTime) -> Done<'a, Task>;

    /// Creates a root by a call of a tool that has no task, and records the call's outcome.
    fn start_root<'a>(&'a self, call: &'a RootCall, new: &'a NewRoot, now: SystemTime) -> Done<'a, Action>;

    fn task<'a>(&'a self, user: &'a UserId, id: &'a TaskId) -> Done<'a, Task>;

    fn tree<'a>(&'a self, user: &'a UserId, id: &'a TaskId) -> Done<'a, Tree>;

    /// At most so many of a user's tasks from a place on. A page ends at [`MAX_PAGE_BYTES`].
    fn tasks<'a>(
        &'a self,
        user: &'a UserId,
        filter: &'a Filter,
        from: Option<Place>,
        limit: u32,
    ) -> Done<'a, Listed>;

    /// At most so many of a user's tasks that changed after a position, in the order of their last changes. After
    /// position 0: those that have not ended.
    fn task_changes<'a>(
        &'a self,
        user: &'a UserId,
        filter: &'a Filter,
        after: u64,
        limit: u32,
    ) -> Done<'a, Changes>;

    /// Takes or renews a lease. `None` if no task of the wanted roles is to be had. An expired lease may be renewed by
    /// its token while nobody else has taken the task.
    fn lease<'a>(&'a self, user: &'a UserId, wish: &'a Wish, now: SystemTime) -> Done<'a, Option<Leased>>;

    /// Gives a lease back. One that was lost already is fine.
    fn release<'a>(&'a self, user: &'a UserId, id: &'a TaskId, token: u64, now: SystemTime) -> Done<'a, ()>;

    /// Begins a call that executes: its own record, and what the task has open. With `asking` it needs a confirmation,
    /// as in `Confirmations::begin_confirmed`: then its entry is made and the task waits. A repeat meets its record
    /// whatever the task does.
    fn begin_call<'a>(
        &'a self,
        call: &'a TaskCall,
        asking: Option<Asking<'a>>,
        now: SystemTime,
    ) -> Done<'a, Opened>;

    /// Ends a call that began, with its entry. One of which it is not known what became blocks the task.
    fn end_call<'a>(&'a self, call: &'a TaskCall, end: CallEnd<'a>, now: SystemTime) -> Done<'a, Recorded>;

    /// A call that began waits for a confirmation that a call within it needs: its entry is made and the task waits.
    fn suspend_call<'a>(
        &'a self,
        call: &'a TaskCall,
        confirmation: &'a toolwire_contract::ConfirmationId,
        now: SystemTime,
    ) -> Done<'a, Recorded>;

    /// Forgets a call that began and turned out to be refused: it has no entry. `code` is how it ended.
    fn forget_call<'a>(&'a self, call: &'a TaskCall, code: &'a str) -> Done<'a, ()>;

    /// Records a call that is only logged. This and the next three begin and end the call in one change, or end one
    /// that `begin_call` began; a repeat has the same answer.
    fn log<'a>(&'a self, call: &'a TaskCall, now: SystemTime) -> Done<'a, Action>;

    /// Ends the task with a result and documents, and answers its parent.
    fn hand_off<'a>(
        &'a self,
        call: &'a TaskCall,
        result: &'a serde_json::Map<String, serde_json::Value>,
        documents: &'a [String],
        now: SystemTime,
    ) -> Done<'a, Ending<Action>>;

    /// Makes a child and waits for it.
    fn delegate<'a>(&'a self, call: &'a TaskCall, child: &'a NewChild, now: SystemTime) -> Done<'a, Action>;

    /// Asks the parent's agent if the parent has a role, otherwise a person, and waits for the answer.
    fn ask<'a>(&'a self, call: &'a TaskCall, question: &'a NewQuestion, now: SystemTime) -> Done<'a, Action>;

    /// Adds a message and returns its sequence.
    fn append_message<'a>(
        &'a self,
        user: &'a UserId,
        id: &'a TaskId,
        message: &'a NewMessage,
        mutation: Mutation,
        now: SystemTime,
    ) -> Done<'a, u64>;

    /// Ends a task whose agent has stopped.
    fn end_task<'a>(
        &'a self,
        user: &'a UserId,
        id: &'a TaskId,
        end: &'a NewEnd,
        lease_token: u64,
        mutation: Mutation,
        now: SystemTime,
    ) -> Done<'a, Ending<Task>>;

    /// Cancels a task, all its descendants, and what they wait for. One that is over stays as it is.
    fn cancel_task<'a>(
        &'a self,
        user: &'a UserId,
        id: &'a TaskId,
        reason: &'a str,
        now: SystemTime,
    ) -> Done<'a, Ending<Task>>;

    /// Answers a question. The first answer counts: an equal one again is fine.
    fn answer_question<'a>(
        &'a self,
        user: &'a UserId,
        id: &'a TaskId,
        answer: &'a str,
        documents: &'a [String],
        now: SystemTime,
    ) -> Done<'a, Ending<Task>>;

    /// Says what became of a write whose end is not known.
    fn resolve_unknown<'a>(
        &'a self,
        user: &'a UserId,
        id: &'a TaskId,
        call_id: CallId,
        resolution: &'a Resolution,
        reason: &'a str,
        now: SystemTime,
    ) -> Done<'a, Task>;

    /// A user has given credentials for a source: whatever waits for them goes on. How many tasks.
    fn credentials_given<'a>(&'a self, user: &'a UserId, source: &'a str, now: SystemTime)
    -> Done<'a, usize>;

    /// A page of a timeline. What is long is kept apart; a page ends at [`MAX_PAGE_BYTES`].
    fn page<'a>(&'a self, user: &'a UserId, id: &'a TaskId, page: PageOf) -> Done<'a, Page>;

    fn entry<'a>(&'a self, user: &'a UserId, id: &'a TaskId, sequence: u64) -> Done<'a, Option<Entry>>;

    /// The newest entry of the call with this identifier, and where its task stands.
    fn entry_of<'a>(
        &'a self,
        user: &'a UserId,
        id: &'a TaskId,
        request_id: RequestId,
    ) -> Done<'a, Option<EntryOf>>;

    /// What has no end yet.
    fn open_calls<'a>(&'a self, user: &'a UserId, id: &'a TaskId) -> Done<'a, Vec<OpenCall>>;

    /// Keeps a call in the timeline that its agent got wrong, so that nothing was begun. Its entry; of a repeat, that
    /// of the first time.
    fn note_mistake<'a>(&'a self, mistake: &'a Mistake, now: SystemTime) -> Done<'a, u64>;

    /// The newest notes that agents asked to be remembered, at most so many for the task's tree and for its user.
    fn memories<'a>(&'a self, user: &'a UserId, id: &'a TaskId, limit: u32) -> Done<'a, Memories>;

    /// A secret of the task's: the same each time, and nobody outside the store can foresee it.
    fn secret<'a>(&'a self, id: &'a TaskId) -> Done<'a, Digest>;

    /// Tells, by changing, that it is worth looking: this process or another committed something. Of others it knows
    /// within 50 ms.
    fn followed(&self) -> BoxFuture<'_, Result<watch::Receiver<u64>, StoreError>>;

    /// Settles the calls that processes which are gone left open. At start, and every few seconds.
    fn recover(&self, now: SystemTime) -> Done<'_, Recovered>;

    /// Fails tasks whose deadline has passed, some at a time. What that stopped.
    fn expire_tasks(&self, now: SystemTime) -> Done<'_, Stopped>;

    /// Deletes, a part at a time, trees that ended longer ago than `keep` and those that `delete_tree` named. Whether
    /// there is more to do.
    fn sweep_tasks(&self, keep: Duration, now: SystemTime) -> Done<'_, bool>;

    /// Deletes a tree that has ended: it is gone at once, and its rows by [`Tasks::sweep_tasks`]. Again is fine.
    fn delete_tree<'a>(&'a self, user: &'a UserId, root: &'a TaskId, now: SystemTime) -> Done<'a, ()>;
}
