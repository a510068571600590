//! Trees of tasks and their timelines: durable event logs, of which a task is the fold.
//!
//! A task is stored beside its timeline, in the same transaction. A call of a task's agent and its record under its
//! `request_id` share one transaction too, both when it begins and when it ends. A task of another user is reported as
//! unknown. Not here: what a type of tool does, authorization to drive a task, and documents.

mod as_text;
mod bounds;
pub mod entry;
mod error;
pub mod fold;
pub mod life;
mod memory;
mod mistake;
mod outcome;
mod request;
pub(crate) mod rows;
mod task;
pub mod texts;

pub use self::{
    bounds::{
        DEFAULT_TIMEOUT, MAX_BYTES, MAX_DEPTH, MAX_ENTRIES, MAX_INLINE_TEXT, MAX_OPEN_TREES, MAX_PAGE_BYTES,
        MAX_TASKS, MAX_TIMEOUT, MAX_TREE_BYTES, MAX_USER_BYTES, MAX_WAITS, MUTATION_RETENTION,
        RESERVED_ENTRIES,
    },
    error::{Refused, TaskError, TreeLimit},
    memory::{Memories, Memory, SavedNote},
    mistake::Mistake,
    outcome::{Ending, Recovered, Stopped},
    request::{
        Action, CallEnd, ExpiringRequest, LoopControl, Mutation, NewChild, NewEnd, NewMessage, NewQuestion,
        NewRoot, Recorded, Resolution, RootCall, Settled, StepRef, TaskCall,
    },
    task::{
        CallEntry, Changes, Cursor, Filter, Kind, Lease, LeaseRequest, LeaseTarget, Leased, OpenCall,
        OpenCallState, Page, PageRequest, Scope, Task, TaskPage, Tree, Waiting,
    },
};
