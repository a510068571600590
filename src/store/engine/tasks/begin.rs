//! The beginning of executing calls: the call's record, and its open call or wait of the task, in one transaction.

use std::time::SystemTime;

use super::{
    admit,
    entries::{EntryMeta, append},
    error::TxError,
    lengths,
    load::load,
};
use crate::{
    confirmations::{Admission, Confirmation, life::State},
    engine::{
        Durability, Store, Tx,
        calls::{self, Opening, RecordState, Recorded},
        follow::Topic,
        time::millis,
        transitions::ConfirmedCall,
    },
    idempotency::{Begun, Effect},
    rows::{entries, open_calls},
    scoped,
    tasks::{
        ExpiringRequest, TaskCall, TaskError,
        entry::{Body, Lengths, ToolCall, WaitTarget},
        texts,
    },
};
use toolwire_contract::ConfirmationId;

/// Confirmations whose state a transaction changes.
type Changed = Vec<(ConfirmationId, State)>;

#[derive(Clone, Copy)]
struct Beginning<'a> {
    call: &'a TaskCall,
    confirmation: Option<ExpiringRequest<'a>>,
    lengths: Lengths,
    replica: &'a str,
    now: SystemTime,
}

impl Store {
    /// Begins an executing call: its record, and its open call of the task. With `confirmation`, it requires one as in
    /// `Store::begin_confirmed`, and then the call has an entry and the task waits. A repeat receives the response of
    /// its record in every state of the task.
    pub async fn begin_task_call(
        &self,
        call: &TaskCall,
        confirmation: Option<ExpiringRequest<'_>>,
        now: SystemTime,
    ) -> Result<Admission, TaskError> {
        let replica = self.replica.id(&self.location)?;
        // Only what waits has an entry here.
        let lengths = if confirmation.is_some() { lengths::of_call(call).await } else { Lengths::default() };
        // A read that is forgotten is made again; what a person is asked and what is done comes after this.
        let durability = match (call.effect, confirmation) {
            (Effect::Read, None) => Durability::Process,
            _ => Durability::Power,
        };
        let beginning = Beginning { call, confirmation, lengths, replica, now };
        let (opened, changed) = self
            .transact_tasks(&call.key.user, durability, now, |tx| scoped(self.begin_in(tx, beginning)))
            .await?;
        self.confirmations_changed(changed);
        Ok(opened)
    }

    async fn begin_in(&self, tx: &mut Tx, beginning: Beginning<'_>) -> Result<(Admission, Changed), TxError> {
        let Beginning { call, now, .. } = beginning;
        let mut loaded = load(tx, &call.key.user, &call.task).await?;
        let record = calls::find(tx, &call.key, millis(now)).await?;
        // Before the task is looked at: a repeat has its answer though the task has ended or is leased to another.
        let asked = match record {
            None => None,
            Some(record) if !record.is_of(call.digest) => return Ok(begun(Begun::Conflict)),
            Some(Recorded { standing: RecordState::Ended(ended), .. }) => return Ok(begun(ended)),
            Some(Recorded { standing: RecordState::Started, begun: since, .. }) => {
                return Ok(begun(Begun::Unfinished { begun: since }));
            }
            Some(Recorded { standing: RecordState::Asked(id), .. }) => Some(id.is_some()),
        };
        admit::in_time(&loaded.task, now)?;
        admit::driver(&loaded.task, call.step_ref.lease_token, now)?;
        // A call that waited has an entry already, and goes on whatever else the task waits for.
        if asked.is_none() || loaded.task.state.is_final() {
            admit::call(tx, &mut loaded, call.step_ref.step).await?;
        }
        let (opened, changed) = self.open_record(tx, beginning, asked).await?;
        match &opened {
            Admission::Begun(Begun::New) => {
                let has_waited = asked.is_some() || beginning.confirmation.is_some();
                add_open(tx, beginning, has_waited).await?;
            }
            Admission::Asks(confirmation) => begin_wait(tx, beginning, confirmation).await?,
            Admission::Begun(_) | Admission::TooMany { .. } => {}
        }
        tx.notify(Topic::Tasks);
        Ok((opened, changed))
    }

    /// Opens the call's record. `asked`: there is one, and the call waits for its own confirmation or for that of a
    /// nested call.
    async fn open_record(
        &self,
        tx: &mut Tx,
        Beginning { call, confirmation, now, .. }: Beginning<'_>,
        asked: Option<bool>,
    ) -> Result<(Admission, Changed), TxError> {
        let at = millis(now);
        match (confirmation, asked) {
            (Some(ExpiringRequest { asked, expires_at }), _) => {
                let confirmed = ConfirmedCall { begins: call.begins(), asked, expires_at };
                Ok(self.open_confirmed_in(tx, &confirmed, at).await?)
            }
            (None, Some(true)) => Ok(begun(Begun::Asked)),
            (None, Some(false)) => {
                calls::start(tx, &call.begins(), None, at).await?;
                Ok(begun(Begun::New))
            }
            (None, None) => {
                let full =
                    calls::add(tx, &call.begins(), Opening::Started(None), at, self.calls_quota).await?;
                Ok(begun(full.unwrap_or(Begun::New)))
            }
        }
    }
}

fn begun(begun: Begun) -> (Admission, Changed) {
    (Admission::Begun(begun), Vec::new())
}

async fn add_open(
    tx: &mut Tx,
    Beginning { call, replica, now, .. }: Beginning<'_>,
    has_waited: bool,
) -> Result<(), TxError> {
    let answers = if has_waited {
        entries::unanswered(&call.task, call.key.request_id).optional(tx).await?
    } else {
        None
    };
    Ok(open_calls::insert(call, answers, replica, now).run(tx).await?)
}

/// Lets the task wait for a confirmation, unless it already does.
async fn begin_wait(
    tx: &mut Tx,
    Beginning { call, lengths, now, .. }: Beginning<'_>,
    confirmation: &Confirmation,
) -> Result<(), TxError> {
    // Again, since voiding a confirmation of another definition made an entry.
    let mut loaded = load(tx, &call.key.user, &call.task).await?;
    let target = WaitTarget::Confirmation(confirmation.id.clone());
    if loaded.task.waits.iter().any(|wait| wait.target == target) {
        return Ok(());
    }
    admit::wait(&loaded.task)?;
    let body = waiting(call, target, texts::awaiting_confirmation(&confirmation.id));
    append(tx, &mut loaded, EntryMeta::of_call(call, lengths), body, now).await?;
    Ok(())
}

/// The entry of a call that begins a wait.
pub(super) fn waiting(call: &TaskCall, target: WaitTarget, status: String) -> Body {
    Body::ToolCall(ToolCall { status, waits_for: Some(target), ..entry_of(call) })
}

/// The entry of a call, without an outcome.
pub(super) fn entry_of(call: &TaskCall) -> ToolCall {
    let (id, input) = (call.tool_call_id(), call.input.clone());
    ToolCall { category: call.category, ..ToolCall::new(call.tool_type, call.key.tool.clone(), id, input) }
}
