//! Tasks, made: roots, children, questions.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use super::{
    admit, documents,
    entries::{Of, append},
    fault::Fault,
    rows::{self, Row},
};
use crate::{
    sqlite::{
        Change,
        time::{instant, millis},
    },
    tasks::{
        Kind, MAX_DEPTH, MAX_OPEN_TREES, MAX_TASKS, MAX_TIMEOUT, NewRoot, Refused, Task, TreeLimit,
        entry::{Body, CallType, Created, DocumentVersion},
        life::State,
    },
};
use toolwire_tool::context::{TaskId, UserId};

const OPEN_TREES: &str =
    "SELECT count(*) FROM tasks WHERE user_id = ? AND parent IS NULL AND ended_at IS NULL";

const IN_TREE: &str = "SELECT count(*) FROM tasks WHERE root = ?";

/// A task that works for another.
#[derive(Debug)]
pub(super) struct Below<'a> {
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

/// Makes the root of a tree.
pub(super) async fn root(change: &mut Change, new: &NewRoot, now: SystemTime) -> Result<Row, Fault> {
    let open: u32 = sqlx::query_scalar(OPEN_TREES).bind(new.user.as_str()).fetch_one(&mut **change).await?;
    if open >= MAX_OPEN_TREES {
        return Err(Refused::TreeLimit(TreeLimit::OpenTrees).into());
    }
    admit::user(change, &new.user).await?;
    let (documents, untrusted) = documents::present(change, &new.id, &new.documents).await?;
    let task = Task {
        role: new.role.clone(),
        deadline: new.deadline.min(now + MAX_TIMEOUT),
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
    make(change, task, created, now).await
}

/// Makes a task that works for another, whose wait is still to begin.
pub(super) async fn below(
    change: &mut Change,
    parent: &Task,
    new: Below<'_>,
    now: SystemTime,
) -> Result<Row, Fault> {
    if parent.depth >= MAX_DEPTH {
        return Err(Refused::TreeLimit(TreeLimit::Depth).into());
    }
    let tasks: u32 = sqlx::query_scalar(IN_TREE).bind(parent.root.as_str()).fetch_one(&mut **change).await?;
    if tasks >= MAX_TASKS {
        return Err(Refused::TreeLimit(TreeLimit::Tasks).into());
    }
    admit::user(change, &parent.user).await?;
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
    make(change, task, created, now).await
}

async fn make(change: &mut Change, task: Task, created: Created, now: SystemTime) -> Result<Row, Fault> {
    let mut row = Row::new(task);
    append(change, &mut row, Of::default(), Body::Created(created), now).await?;
    // As it will be read.
    row.task.deadline = instant(millis(row.task.deadline));
    Ok(row)
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

/// Reads a task again, as it is stored.
pub(super) async fn again(change: &mut Change, id: &TaskId) -> Result<Row, Fault> {
    rows::find(change, id).await?.ok_or_else(|| Refused::Unknown.into())
}
