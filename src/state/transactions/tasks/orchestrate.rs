//! Calls that do not execute: logged, handed off, delegated, asked. Each is one transaction with the call's record, so
//! that a repeat receives the same response and an interrupted call had no effect. Each begins and ends its call at
//! once, or ends one that `begin_task_call` began.

use serde_json::{Map, Value, json};

use super::{
    admit,
    begin::entry_of,
    create::{self, NewSubtask},
    documents,
    end::{TaskEnd, finish},
    entries::{EntryMeta, append},
    error::TxError,
    lengths,
    load::{LoadedTask, find, load},
    open_calls,
    record::{CONTINUE, record, response_of},
};
use crate::{
    Store,
    idempotency::Quota,
    tasks::{
        Action, Ending, Kind, LoopControl, NewChild, NewQuestion, Stopped, TaskCall, TaskError,
        entry::{Body, CallType, Cause, DocumentVersion, Lengths, Text, ToolCall, WaitTarget},
        life::{Event, State},
        rows::memories,
        texts,
    },
    transactions::calls,
};
use toolwire_db::{Durability, Tx, scoped, time::millis};
use toolwire_tool::context::TaskId;

/// A call that does not execute, within its transaction.
#[derive(Clone, Copy)]
struct ControlCall<'a> {
    call: &'a TaskCall,
    lengths: Lengths,
    quota: Quota,
}

/// The result of admission: the task, and whether the call has a record.
enum Admission {
    /// A repeat, with its response.
    Repeat(Action),
    New(Box<LoadedTask>, bool),
}

impl Store {
    /// Records a call that is only logged.
    pub async fn log_task_call(&self, call: &TaskCall) -> Result<Action, TaskError> {
        let logged = json!({"logged": true}).to_string();
        let lengths =
            Lengths { result: lengths::of_result(&logged).await.result, ..lengths::of_call(call).await };
        let (logged, call) = (&logged, ControlCall { call, lengths, quota: self.calls_quota });
        self.transact_tasks(&call.call.key.user, Durability::Power, |tx| scoped(call.log(tx, logged))).await
    }

    /// Ends the task with a result and documents, and answers its parent.
    pub async fn hand_off_task(
        &self,
        call: &TaskCall,
        result: &Map<String, Value>,
        documents: &[String],
    ) -> Result<Ending<Action>, TaskError> {
        let result = Value::Object(result.clone()).to_string();
        let result = (&result, lengths::of_result(&result).await);
        let call = ControlCall { call, lengths: lengths::of_call(call).await, quota: self.calls_quota };
        let ending = self
            .transact_tasks(&call.call.key.user, Durability::Power, |tx| {
                scoped(call.hand_off(tx, result, documents))
            })
            .await?;
        self.notify_confirmation_withdrawals();
        Ok(ending)
    }

    /// Creates a child task and waits for it.
    pub async fn delegate_task(&self, call: &TaskCall, child: &NewChild) -> Result<Action, TaskError> {
        let call = ControlCall { call, lengths: lengths::of_call(call).await, quota: self.calls_quota };
        self.transact_tasks(&call.call.key.user, Durability::Power, |tx| scoped(call.delegate(tx, child)))
            .await
    }

    /// Asks the parent's agent if the parent has a role, otherwise a person, and waits for the answer.
    pub async fn ask_question(&self, call: &TaskCall, question: &NewQuestion) -> Result<Action, TaskError> {
        let call = ControlCall { call, lengths: lengths::of_call(call).await, quota: self.calls_quota };
        self.transact_tasks(&call.call.key.user, Durability::Power, |tx| scoped(call.ask(tx, question))).await
    }
}

impl ControlCall<'_> {
    async fn log(self, tx: &mut Tx, logged: &str) -> Result<Action, TxError> {
        let (mut loaded, has_record) = match self.admit(tx).await? {
            Admission::Repeat(action) => return Ok(action),
            Admission::New(loaded, has_record) => (loaded, has_record),
        };
        let result = Some(Text::Inline(logged.to_owned()));
        let sequence = self.append(tx, &mut loaded, ToolCall { result, ..entry_of(self.call) }).await?;
        if let Some(memory) = self.call.remembers {
            memories::insert(&loaded.task, sequence, memory).run(tx).await?;
        }
        self.record(tx, Action::logged(sequence), has_record).await
    }

    async fn hand_off(
        self,
        tx: &mut Tx,
        (result, lengths): (&String, Lengths),
        paths: &[String],
    ) -> Result<Ending<Action>, TxError> {
        let (mut loaded, has_record) = match self.find(tx).await? {
            Admission::Repeat(of) => return Ok(Ending { of, stopped: Stopped::default() }),
            Admission::New(loaded, has_record) => (loaded, has_record),
        };
        // The call itself begins a pending task. No quota is checked: entries are reserved for an end.
        if loaded.task.state != State::Pending {
            admit::event(&loaded.task, Event::HandedOff)?;
        }
        let (documents, untrusted) = documents::pin(tx, &loaded.task.root, paths).await?;
        let body = ToolCall { documents: documents.clone(), untrusted, ..entry_of(self.call) };
        let sequence = self.append(tx, &mut loaded, body).await?;
        let action = Action { action: LoopControl::Return, sequence: Some(sequence), ..CONTINUE };
        // Before the end, which deletes the open calls of the task.
        let of = self.record(tx, action, has_record).await?;
        let end = TaskEnd { lengths, ..TaskEnd::completed(Cause::Handoff, result.clone(), documents) };
        let now = tx.now();
        let stopped = finish(tx, &mut loaded, end, now).await?;
        Ok(Ending { of, stopped })
    }

    async fn delegate(self, tx: &mut Tx, child: &NewChild) -> Result<Action, TxError> {
        let (mut loaded, has_record) = match self.admit(tx).await? {
            Admission::Repeat(action) => return Ok(action),
            Admission::New(loaded, has_record) => (loaded, has_record),
        };
        admit::wait(&loaded.task)?;
        let (documents, untrusted) = documents::pin(tx, &loaded.task.root, &child.documents).await?;
        let new = NewSubtask {
            kind: Kind::Agent,
            tool_type: CallType::AgentAsTool,
            tool: self.call.key.tool.as_str(),
            role: child.role.clone(),
            request: &child.request,
            documents: documents.clone(),
            untrusted,
            timeout: child.timeout,
            master: None,
        };
        let now = tx.now();
        let subtask = create::subtask(tx, &loaded.task, new, now).await?.task.id;
        let status = texts::delegated(&subtask);
        let wait = Wait { target: WaitTarget::Child(subtask.clone()), subtask, status, documents };
        self.wait(tx, &mut loaded, wait, has_record).await
    }

    async fn ask(self, tx: &mut Tx, question: &NewQuestion) -> Result<Action, TxError> {
        let (mut loaded, has_record) = match self.admit(tx).await? {
            Admission::Repeat(action) => return Ok(action),
            Admission::New(loaded, has_record) => (loaded, has_record),
        };
        admit::wait(&loaded.task)?;
        let (documents, untrusted) = documents::pin(tx, &loaded.task.root, &question.documents).await?;
        let parent = match &loaded.task.parent {
            Some(parent) => find(tx, parent).await?,
            None => None,
        };
        // A parent with a role has an agent, which is asked instead of a person.
        let master = parent.map(|parent| parent.task).filter(|parent| !parent.role.is_empty());
        let status = texts::asked(master.as_ref().map(|it| &it.id));
        let new = NewSubtask {
            kind: Kind::Question,
            tool_type: CallType::AskMaster,
            tool: self.call.key.tool.as_str(),
            role: master.as_ref().map(|it| it.role.clone()).unwrap_or_default(),
            request: &question.question,
            documents: documents.clone(),
            untrusted,
            timeout: question.timeout,
            master: master.map(|it| (it.id, it.next_sequence)),
        };
        let now = tx.now();
        let subtask = create::subtask(tx, &loaded.task, new, now).await?.task.id;
        let wait = Wait { target: WaitTarget::Question(subtask.clone()), subtask, status, documents };
        self.wait(tx, &mut loaded, wait, has_record).await
    }

    /// Admits a call that ends nothing.
    async fn admit(self, tx: &mut Tx) -> Result<Admission, TxError> {
        let mut admission = self.find(tx).await?;
        if let Admission::New(loaded, _) = &mut admission {
            admit::call(tx, loaded, self.call.step_ref.step).await?;
        }
        Ok(admission)
    }

    /// Finds the task, which must be driven by the caller, and the call if it has ended already.
    async fn find(self, tx: &mut Tx) -> Result<Admission, TxError> {
        let (call, now) = (self.call, tx.now());
        let loaded = load(tx, &call.key.user, &call.task).await?;
        let record = calls::find(tx, &call.key, millis(now)).await?;
        let has_record = record.is_some();
        // Before the task is checked: a repeat receives its response even if the task has ended or is leased to another
        // worker.
        if let Some(record) = record
            && let Some(action) = response_of(record, call.digest, &call.key)?
        {
            return Ok(Admission::Repeat(action));
        }
        admit::in_time(&loaded.task, now)?;
        admit::driver(&loaded.task, call.step_ref.lease_token, now)?;
        Ok(Admission::New(Box::new(loaded), has_record))
    }

    async fn append(self, tx: &mut Tx, loaded: &mut LoadedTask, body: ToolCall) -> Result<u64, TxError> {
        let meta = EntryMeta::of_call(self.call, self.lengths);
        let now = tx.now();
        Ok(append(tx, loaded, meta, Body::ToolCall(body), now).await?)
    }

    /// Lets the task wait for a new subtask.
    async fn wait(
        self,
        tx: &mut Tx,
        loaded: &mut LoadedTask,
        Wait { subtask, status, target, documents }: Wait,
        has_record: bool,
    ) -> Result<Action, TxError> {
        let body =
            ToolCall { status: status.clone(), waits_for: Some(target), documents, ..entry_of(self.call) };
        let sequence = Some(self.append(tx, loaded, body).await?);
        let task_id = Some(subtask);
        let action = Action { action: LoopControl::Block, status, task_id, sequence, logged: false };
        self.record(tx, action, has_record).await
    }

    /// Records the response of the call, which ends it.
    async fn record(self, tx: &mut Tx, action: Action, has_record: bool) -> Result<Action, TxError> {
        open_calls::remove(tx, self.call).await?;
        let now = tx.now();
        record(tx, &self.call.begins(), &action, has_record, self.quota, now).await?;
        Ok(action)
    }
}

/// A wait for a new subtask.
struct Wait {
    subtask: TaskId,
    status: String,
    target: WaitTarget,
    documents: Vec<DocumentVersion>,
}
