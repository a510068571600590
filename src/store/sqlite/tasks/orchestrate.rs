//! Calls that do not execute: logged, handed off, delegated, asked. Each is one change with the call's own record, so
//! that a repeat has the same answer, and one that broke off did nothing.

use std::time::SystemTime;

use serde_json::{Map, Value, json};

use super::{
    admit,
    begin::entry_of,
    create::{self, Below},
    documents,
    end::{How, finish},
    entries::{Of, append},
    fault::{Fault, unreadable},
    lengths, memories, open,
    rows::{Row, find, load},
};
use crate::{
    idempotency::{ArgumentsDigest, Beginning, Begun, Key, Room},
    sqlite::{
        Change, Durability, Failed, Sqlite,
        calls::{self, Opening, Recorded, Standing},
        time::millis,
    },
    tasks::{
        Action, Ending, Kind, LoopControl, NewChild, NewQuestion, Refused, Stopped, TaskCall,
        entry::{Body, CallType, Cause, DocumentVersion, Lengths, Part, Thing, ToolCall},
        life::{Event, State},
    },
};
use toolwire_contract::{Payload, Provenance, ToolResult, payload::StoredPayload};

/// Whether a call ends its task.
#[derive(Clone, Copy)]
enum IsEnd {
    Yes,
    No,
}

/// What a call that does not execute meets.
enum Entered {
    Before(Action),
    /// Its task; whether the call has a record.
    Now(Box<Row>, bool),
}

impl Sqlite {
    pub(super) async fn log_task_call(&self, call: &TaskCall, now: SystemTime) -> Result<Action, Fault> {
        let logged = json!({"logged": true}).to_string();
        let lengths =
            Lengths { result: lengths::of_result(&logged).await.result, ..lengths::of_call(call).await };
        let mut change = self.change(Durability::Power).await?;
        let action = match enter(&mut change, call, IsEnd::No, now).await? {
            Entered::Before(action) => action,
            Entered::Now(mut row, recorded) => {
                let logged = Part::Whole(logged);
                let body = Body::ToolCall(ToolCall { result: Some(logged), ..entry_of(call) });
                let sequence = append(&mut change, &mut row, Of::call(call, lengths), body, now).await?;
                memories::keep(&mut change, call, &row.task, sequence).await?;
                leave(&mut change, call, Action::logged(sequence), recorded, self.room, now).await?
            }
        };
        self.done(change, action).await
    }

    pub(super) async fn hand_off_task(
        &self,
        call: &TaskCall,
        result: &Map<String, Value>,
        paths: &[String],
        now: SystemTime,
    ) -> Result<Ending<Action>, Fault> {
        let result = Value::Object(result.clone()).to_string();
        let (lengths, of_result) = (lengths::of_call(call).await, lengths::of_result(&result).await);
        let mut change = self.change(Durability::Power).await?;
        let (action, stopped) = match enter(&mut change, call, IsEnd::Yes, now).await? {
            Entered::Before(action) => (action, Stopped::default()),
            Entered::Now(mut row, recorded) => {
                if row.task.state != State::Pending {
                    admit::event(&row.task, Event::HandedOff)?;
                }
                let (documents, untrusted) = documents::present(&mut change, &row.task.root, paths).await?;
                let body = ToolCall { documents: documents.clone(), untrusted, ..entry_of(call) };
                let body = Body::ToolCall(body);
                let sequence = append(&mut change, &mut row, Of::call(call, lengths), body, now).await?;
                let action = Action { action: LoopControl::Return, sequence: Some(sequence), ..NOTHING };
                let action = leave(&mut change, call, action, recorded, self.room, now).await?;
                let how = How { lengths: of_result, ..How::completed(Cause::Handoff, result, documents) };
                (action, finish(&mut change, &mut row, how, now).await?)
            }
        };
        let action = self.done(change, action).await?;
        self.confirmations_withdrawn();
        Ok(Ending { of: action, stopped })
    }

    pub(super) async fn delegate_task(
        &self,
        call: &TaskCall,
        child: &NewChild,
        now: SystemTime,
    ) -> Result<Action, Fault> {
        let lengths = lengths::of_call(call).await;
        let mut change = self.change(Durability::Power).await?;
        let action = match enter(&mut change, call, IsEnd::No, now).await? {
            Entered::Before(action) => action,
            Entered::Now(mut row, recorded) => {
                admit::wait(&row.task)?;
                let (documents, untrusted) =
                    documents::present(&mut change, &row.task.root, &child.documents).await?;
                let new = Below {
                    kind: Kind::Agent,
                    tool_type: CallType::AgentAsTool,
                    tool: call.key.tool.as_str(),
                    role: child.role.clone(),
                    request: &child.request,
                    documents: documents.clone(),
                    untrusted,
                    timeout: child.timeout,
                    master: None,
                };
                let made = create::below(&mut change, &row.task, new, now).await?;
                let status = format!("→ delegated (task {})", made.task.id);
                let thing = Thing::Child(made.task.id.clone());
                let began = Began { made: &made, status, thing, documents, lengths };
                wait(&mut change, call, &mut row, began, recorded, self.room, now).await?
            }
        };
        self.done(change, action).await
    }

    pub(super) async fn ask_in_task(
        &self,
        call: &TaskCall,
        question: &NewQuestion,
        now: SystemTime,
    ) -> Result<Action, Fault> {
        let lengths = lengths::of_call(call).await;
        let mut change = self.change(Durability::Power).await?;
        let action = match enter(&mut change, call, IsEnd::No, now).await? {
            Entered::Before(action) => action,
            Entered::Now(mut row, recorded) => {
                admit::wait(&row.task)?;
                let (documents, untrusted) =
                    documents::present(&mut change, &row.task.root, &question.documents).await?;
                let parent = match &row.task.parent {
                    Some(parent) => find(&mut change, parent).await?,
                    None => None,
                };
                // An agent of a role is asked before a person is.
                let master = parent.map(|parent| parent.task).filter(|parent| !parent.role.is_empty());
                let who = master.as_ref().map_or_else(|| "a person".to_owned(), |it| it.id.to_string());
                let new = Below {
                    kind: Kind::Question,
                    tool_type: CallType::AskMaster,
                    tool: call.key.tool.as_str(),
                    role: master.as_ref().map(|it| it.role.clone()).unwrap_or_default(),
                    request: &question.question,
                    documents: documents.clone(),
                    untrusted,
                    timeout: question.timeout,
                    master: master.map(|it| (it.id, it.next_sequence)),
                };
                let made = create::below(&mut change, &row.task, new, now).await?;
                let status = format!("→ asked {who}");
                let thing = Thing::Question(made.task.id.clone());
                let began = Began { made: &made, status, thing, documents, lengths };
                wait(&mut change, call, &mut row, began, recorded, self.room, now).await?
            }
        };
        self.done(change, action).await
    }

    /// Commits, and tells followers.
    pub(super) async fn done<T>(&self, change: Change, done: T) -> Result<T, Fault> {
        change.commit().await?;
        self.tasks_changed();
        Ok(done)
    }
}

const NOTHING: Action = Action {
    action: LoopControl::Continue,
    status: String::new(),
    task_id: None,
    sequence: None,
    logged: false,
};

/// A task that was made for another.
struct Began<'a> {
    made: &'a Row,
    status: String,
    thing: Thing,
    documents: Vec<DocumentVersion>,
    lengths: Lengths,
}

/// Lets a task wait for one that was made for it.
async fn wait(
    change: &mut Change,
    call: &TaskCall,
    row: &mut Row,
    began: Began<'_>,
    recorded: bool,
    room: Room,
    now: SystemTime,
) -> Result<Action, Fault> {
    let Began { made, status, thing, documents, lengths } = began;
    let body = ToolCall { status: status.clone(), waits_for: Some(thing), documents, ..entry_of(call) };
    let sequence = append(change, row, Of::call(call, lengths), Body::ToolCall(body), now).await?;
    let task_id = Some(made.task.id.clone());
    let action =
        Action { action: LoopControl::Block, status, task_id, sequence: Some(sequence), logged: false };
    leave(change, call, action, recorded, room, now).await
}

async fn enter(
    change: &mut Change,
    call: &TaskCall,
    is_end: IsEnd,
    now: SystemTime,
) -> Result<Entered, Fault> {
    let mut row = load(change, &call.key.user, &call.task).await?;
    let record = calls::find(change, &call.key, millis(now)).await?;
    let recorded = record.is_some();
    if let Some(record) = record
        && let Some(action) = before(record, call.digest, &call.key)?
    {
        return Ok(Entered::Before(action));
    }
    admit::in_time(&row.task, now)?;
    admit::driver(&row.task, call.turn.lease_token, now)?;
    match is_end {
        // Its place in the table is looked up by itself, and there is room for it.
        IsEnd::Yes => {}
        IsEnd::No => admit::call(change, &mut row, call.turn.step).await?,
    }
    Ok(Entered::Now(Box::new(row), recorded))
}

/// What a call came to before. One that began and did not end has done nothing: what it does is one change.
pub(super) fn before(record: Recorded, digest: ArgumentsDigest, key: &Key) -> Result<Option<Action>, Fault> {
    if !record.is_of(digest) {
        return Err(Refused::RequestIdReused(key.request_id).into());
    }
    let Standing::Ended(Begun::Ended(result)) = record.standing else { return Ok(None) };
    let payload = result.outcome.map(|data: StoredPayload| data.read(None));
    let action = match &payload {
        Ok(Ok(payload)) => Action::from_json(payload.json()),
        _ => None,
    };
    Ok(Some(action.ok_or_else(|| unreadable("outcome", "it does not say what was done"))?))
}

/// Records what a call came to.
async fn leave(
    change: &mut Change,
    call: &TaskCall,
    action: Action,
    recorded: bool,
    room: Room,
    now: SystemTime,
) -> Result<Action, Fault> {
    open::take(change, call).await?;
    record(change, &call.begins(), &action, recorded, room, now).await?;
    Ok(action)
}

/// The record of a call that came to this.
pub(super) async fn record(
    change: &mut Change,
    call: &Beginning<'_>,
    action: &Action,
    recorded: bool,
    room: Room,
    now: SystemTime,
) -> Result<(), Fault> {
    if !recorded {
        let full = calls::add(change, call, Opening::Started(None), millis(now), room).await?;
        match full {
            None => {}
            Some(Begun::Full { until, bound }) => return Err(Refused::Full { until, bound }.into()),
            Some(_) => return Err(Failed::from(sqlx::Error::RowNotFound).into()),
        }
    }
    let result = ToolResult {
        tool: call.key.tool.clone(),
        fetched_at: now,
        outcome: Ok(Payload::from_json(action.to_json())),
        provenance: Provenance::default(),
    };
    Ok(calls::end(change, call.key, &result).await?)
}
