//! The beginning of executing calls: the call's record, and its open call or wait of the task, in one transaction.

use super::{
    admit,
    entries::{EntryMeta, append},
    error::TxError,
    lengths,
    load::load,
};
use crate::{
    Store,
    confirmations::{Admission, Confirmation, life::State},
    idempotency::{Begun, Effect},
    tasks::{
        ExpiringRequest, TaskCall, TaskError,
        entry::{Body, Lengths, ToolCall, WaitTarget},
        rows::{entries, open_calls},
        texts,
    },
    topic::Topic,
    transactions::{
        calls::{self, CallRecord, Opening, RecordState},
        transitions::ConfirmedCall,
    },
};
use toolwire_contract::ConfirmationId;
use toolwire_db::{Durability, Tx, scoped, time::millis};

/// Confirmations whose state a transaction changes.
type ConfirmationChanges = Vec<(ConfirmationId, State)>;

/// A call of a task that is about to begin, within its transaction.
#[derive(Clone, Copy)]
struct NewTaskCall<'a> {
    call: &'a TaskCall,
    confirmation: Option<ExpiringRequest<'a>>,
    lengths: Lengths,
    replica: &'a str,
}

impl Store {
    /// Begins an executing call: its record, and its open call of the task. With `confirmation`, it requires one as in
    /// `Store::begin_confirmed`, and then the call has an entry and the task waits. A repeat receives the response of
    /// its record in every state of the task.
    pub async fn begin_task_call(
        &self,
        call: &TaskCall,
        confirmation: Option<ExpiringRequest<'_>>,
    ) -> Result<Admission, TaskError> {
        let replica = &*self.own_name().await?;
        // A call that does not wait has its entry when it ends.
        let lengths = if confirmation.is_some() { lengths::of_call(call).await } else { Lengths::default() };
        // A lost read is made again; a write, or a person's decision, comes after this and must find its record.
        let durability = match (call.effect, confirmation) {
            (Effect::Read, None) => Durability::Process,
            _ => Durability::Power,
        };
        let beginning = NewTaskCall { call, confirmation, lengths, replica };
        let begun =
            self.transact_tasks(&call.key.user, durability, |tx| scoped(self.begin_in(tx, beginning))).await;
        match begun {
            Ok((admission, changed)) => {
                self.notify_confirmation_changes(changed);
                Ok(admission)
            }
            Err(TaskError::Store(error)) => match self.begun_before(&call.key, call.digest, error).await {
                Begun::Unavailable(error) => Err(error.into()),
                begun => Ok(Admission::Begun(begun)),
            },
            Err(refused) => Err(refused),
        }
    }

    async fn begin_in(
        &self,
        tx: &mut Tx,
        beginning: NewTaskCall<'_>,
    ) -> Result<(Admission, ConfirmationChanges), TxError> {
        let (NewTaskCall { call, .. }, now) = (beginning, tx.now());
        let mut loaded = load(tx, &call.key.user, &call.task).await?;
        let record = calls::find(tx, &call.key, millis(now)).await?;
        // Before the task is checked: a repeat receives its response even if the task has ended or is leased to another
        // worker.
        let asked = match record {
            None => None,
            Some(record) if !record.is_of(call.digest) => return Ok(without_changes(Begun::Conflict)),
            Some(CallRecord { state: RecordState::Ended(ended), .. }) => return Ok(without_changes(ended)),
            Some(CallRecord { state: RecordState::Started, begun: since, .. }) => {
                return Ok(without_changes(Begun::Unfinished { begun: since }));
            }
            Some(CallRecord { state: RecordState::Asked(id), .. }) => Some(id.is_some()),
        };
        admit::in_time(&loaded.task, now)?;
        admit::driver(&loaded.task, call.step_ref.lease_token, now)?;
        // A call that waited has an entry already, and goes on whatever else the task waits for.
        if asked.is_none() || loaded.task.state.is_final() {
            admit::call(tx, &mut loaded, call.step_ref.step).await?;
        }
        let (admission, changed) = self.open_record(tx, beginning, asked).await?;
        match &admission {
            Admission::Begun(Begun::New) => {
                let has_waited = asked.is_some() || beginning.confirmation.is_some();
                add_open(tx, beginning, has_waited).await?;
            }
            Admission::Asks(confirmation) => begin_wait(tx, beginning, confirmation).await?,
            Admission::Begun(_) | Admission::TooMany { .. } => {}
        }
        tx.notify(Topic::Tasks);
        Ok((admission, changed))
    }

    /// Opens the call's record. `asked`: there is one, and the call waits for its own confirmation or for that of a
    /// nested call.
    async fn open_record(
        &self,
        tx: &mut Tx,
        NewTaskCall { call, confirmation, .. }: NewTaskCall<'_>,
        asked: Option<bool>,
    ) -> Result<(Admission, ConfirmationChanges), TxError> {
        let at = millis(tx.now());
        match (confirmation, asked) {
            (Some(ExpiringRequest { asked, decide_within }), _) => {
                let confirmed = ConfirmedCall { begins: call.begins(), asked, decide_within };
                Ok(self.begin_confirmed_in(tx, &confirmed).await?)
            }
            (None, Some(true)) => Ok(without_changes(Begun::Asked)),
            (None, Some(false)) => {
                calls::start(tx, &call.begins(), None, at).await?;
                Ok(without_changes(Begun::New))
            }
            (None, None) => {
                let full =
                    calls::add(tx, &call.begins(), Opening::Started(None), at, self.calls_quota).await?;
                Ok(without_changes(full.unwrap_or(Begun::New)))
            }
        }
    }
}

/// A response that changes no confirmation.
fn without_changes(begun: Begun) -> (Admission, ConfirmationChanges) {
    (Admission::Begun(begun), Vec::new())
}

/// Adds the open call, which refers to the entry of its wait if it has waited.
async fn add_open(
    tx: &mut Tx,
    NewTaskCall { call, replica, .. }: NewTaskCall<'_>,
    has_waited: bool,
) -> Result<(), TxError> {
    let answers = if has_waited {
        entries::find_unanswered(&call.task, call.key.request_id).optional(tx).await?
    } else {
        None
    };
    let insert = open_calls::insert(call, answers, replica, tx.now());
    Ok(insert.run(tx).await?)
}

/// Lets the task wait for a confirmation, unless it already does.
async fn begin_wait(
    tx: &mut Tx,
    NewTaskCall { call, lengths, .. }: NewTaskCall<'_>,
    confirmation: &Confirmation,
) -> Result<(), TxError> {
    // Loaded again: if a confirmation of another definition was voided, the task has a new entry.
    let mut loaded = load(tx, &call.key.user, &call.task).await?;
    let target = WaitTarget::Confirmation(confirmation.id.clone());
    if loaded.task.waits.iter().any(|wait| wait.target == target) {
        return Ok(());
    }
    admit::wait(&loaded.task)?;
    let body = waiting_entry(call, target, texts::awaiting_confirmation(&confirmation.id));
    let now = tx.now();
    append(tx, &mut loaded, EntryMeta::of_call(call, lengths), body, now).await?;
    Ok(())
}

/// The entry of a call that begins a wait.
pub(super) fn waiting_entry(call: &TaskCall, target: WaitTarget, status: String) -> Body {
    Body::ToolCall(ToolCall { status, waits_for: Some(target), ..entry_of(call) })
}

/// The entry of a call, without an outcome.
pub(super) fn entry_of(call: &TaskCall) -> ToolCall {
    let (id, input) = (call.tool_call_id(), call.input.clone());
    ToolCall { category: call.category, ..ToolCall::new(call.tool_type, call.key.tool.clone(), id, input) }
}
