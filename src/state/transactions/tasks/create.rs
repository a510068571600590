//! Creation of tasks: roots, children, questions.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use super::{
    admit, documents,
    entries::{EntryMeta, append},
    error::TxError,
    load::LoadedTask,
};
use crate::tasks::{
    Kind, MAX_DEPTH, MAX_OPEN_TREES, MAX_TASKS, MAX_TIMEOUT, NewRoot, Refused, Task, TreeLimit,
    entry::{Body, CallType, Created, DocumentVersion},
    life::State,
    rows,
};
use toolwire_db::{
    Tx,
    time::{instant, millis},
};
use toolwire_tool::context::{TaskId, UserId};

/// A subtask to be created.
#[derive(Debug)]
pub(super) struct NewSubtask<'a> {
    pub(super) kind: Kind,
    pub(super) tool_type: CallType,
    pub(super) tool: &'a str,
    pub(super) role: String,
    pub(super) request: &'a str,
    pub(super) documents: Vec<DocumentVersion>,
    pub(super) untrusted: bool,
    pub(super) timeout: Duration,
    pub(super) master: Option<(TaskId, u64)>,
}

/// Creates the root of a tree.
pub(super) async fn root(tx: &mut Tx, new: &NewRoot, now: SystemTime) -> Result<LoadedTask, TxError> {
    if rows::count_open_trees(&new.user).one(tx).await? >= MAX_OPEN_TREES {
        return Err(Refused::TreeLimit(TreeLimit::OpenTrees).into());
    }
    admit::user(tx, &new.user).await?;
    let (documents, untrusted) = documents::pin(tx, &new.id, &new.documents).await?;
    let task = Task {
        role: new.role.clone(),
        deadline: now + new.timeout.min(MAX_TIMEOUT),
        labels: new.labels.clone(),
        ..blank(new.id.clone(), new.id.clone(), new.user.clone(), Kind::Root)
    };
    let created = Created {
        tool_type: CallType::Root,
        tool: new.tool.clone(),
        request: new.request.clone(),
        documents,
        tainted: untrusted,
    };
    insert(tx, task, created, now).await
}

/// Creates a subtask. The wait of its parent is still to begin.
pub(super) async fn subtask(
    tx: &mut Tx,
    parent: &Task,
    new: NewSubtask<'_>,
    now: SystemTime,
) -> Result<LoadedTask, TxError> {
    if parent.depth >= MAX_DEPTH {
        return Err(Refused::TreeLimit(TreeLimit::Depth).into());
    }
    if rows::count_in_tree(&parent.root).one(tx).await? >= MAX_TASKS {
        return Err(Refused::TreeLimit(TreeLimit::Tasks).into());
    }
    admit::user(tx, &parent.user).await?;
    let task = Task {
        parent: Some(parent.id.clone()),
        role: new.role,
        depth: parent.depth + 1,
        deadline: parent.deadline.min(now + new.timeout),
        master: new.master,
        ..blank(TaskId::generate(), parent.root.clone(), parent.user.clone(), new.kind)
    };
    let created = Created {
        tool_type: new.tool_type,
        tool: new.tool.to_owned(),
        request: new.request.to_owned(),
        documents: new.documents,
        tainted: parent.tainted || new.untrusted,
    };
    insert(tx, task, created, now).await
}

async fn insert(tx: &mut Tx, task: Task, created: Created, now: SystemTime) -> Result<LoadedTask, TxError> {
    let mut loaded = LoadedTask::new(task);
    append(tx, &mut loaded, EntryMeta::default(), Body::Created(created), now).await?;
    // Rounded to milliseconds, as it is when it is read.
    loaded.task.deadline = instant(millis(loaded.task.deadline));
    Ok(loaded)
}

/// A task without a timeline.
pub(super) fn blank(id: TaskId, root: TaskId, user: UserId, kind: Kind) -> Task {
    Task {
        id,
        root,
        parent: None,
        user,
        kind,
        role: String::new(),
        request: String::new(),
        documents: Vec::new(),
        state: State::Pending,
        waits: Vec::new(),
        waiting_step: 0,
        result: None,
        result_documents: Vec::new(),
        message: String::new(),
        cause: None,
        depth: 0,
        next_sequence: 0,
        newest_step: 0,
        lease: None,
        created_at: SystemTime::UNIX_EPOCH,
        updated_at: SystemTime::UNIX_EPOCH,
        ended_at: None,
        deadline: SystemTime::UNIX_EPOCH,
        labels: BTreeMap::new(),
        position: 0,
        tainted: false,
        master: None,
    }
}
