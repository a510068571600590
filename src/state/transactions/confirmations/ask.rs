//! Calls that require a confirmation: requests one, or begins the call by using one, in one transaction.

use std::time::{Duration, SystemTime};

use super::{end::end, quota};
use crate::{
    Store,
    calls::rows as records,
    confirmations::{
        Admission, Confirmation, ConfirmationRequest, REDEFINED_PREFIX,
        life::{Event, OnCall, State},
        rows::{self as confirmations, definitions, events::NewEvent},
    },
    idempotency::{Beginning, Begun, Key},
    transactions::{
        audit::Approval,
        calls::{self, Opening},
        transitions::{Cause, ConfirmedCall, append_event, transition},
    },
};
use toolwire_contract::{ConfirmationId, Provenance, ToolError, ToolResult};
use toolwire_db::{
    Durability, Error, Lane, Tx, scoped,
    time::{instant, length, millis},
};

/// The next step of a call.
enum Step {
    /// Wait for the pending confirmation.
    Wait(Box<Confirmation>),
    /// Use the confirmation, which becomes this, and begin.
    Use(Box<Confirmation>, State),
    /// Begin again under the confirmation that it has used, after it waited for that of a nested call.
    Resume,
    /// Request a confirmation, whose summary says whether the definition has changed.
    Ask { is_redefined: bool },
    /// The call was made before with other arguments.
    Conflict,
    /// The confirmation expired, undecided or unused.
    Expired(ToolError),
}

/// The next step, and the open confirmation that ends with it.
struct Planned {
    step: Step,
    ended: Option<(ConfirmationId, State)>,
}

impl Store {
    /// Begins a call that requires a confirmation, in one transaction. A call that began before receives the response
    /// of its record; one whose confirmation is approved uses it; otherwise a confirmation that lasts for
    /// `decide_within` is requested, unless one is pending.
    pub async fn begin_confirmed(
        &self,
        begins: Beginning<'_>,
        asked: &ConfirmationRequest,
        decide_within: Duration,
    ) -> Admission {
        // First, so that from the commit on other processes find the owner of the call alive.
        if let Err(error) = self.own_name().await {
            return Admission::Begun(Begun::Unavailable(error));
        }
        let call = ConfirmedCall { begins, asked, decide_within };
        // A person sees the request, or the call begins, as soon as this is stored: neither may be lost with the power.
        let begun = self.transact(Lane::User(&begins.key.user), Durability::Power, |tx| {
            scoped(async move { self.begin_confirmed_in(tx, &call).await })
        });
        match begun.await {
            Ok((admission, changed)) => {
                self.notify_confirmation_changes(changed);
                admission
            }
            Err(error) => Admission::Begun(self.begun_before(begins.key, begins.digest, error).await),
        }
    }

    /// [`begin_confirmed`](Self::begin_confirmed) as a step of a transaction. Also returns the confirmations that it
    /// changes, to be notified after the commit.
    pub(in crate::transactions) async fn begin_confirmed_in(
        &self,
        tx: &mut Tx,
        call: &ConfirmedCall<'_>,
    ) -> Result<(Admission, Vec<(ConfirmationId, State)>), Error> {
        let now = millis(tx.now());
        let record = calls::find(tx, call.begins.key, now).await?;
        let waits = record.is_some();
        // Before the confirmation is read: a call that has begun receives the response of its record.
        if let Some(response) = record.and_then(|record| record.response(call.begins.digest)) {
            return Ok((Admission::Begun(response), Vec::new()));
        }
        let newest = confirmations::newest(call.begins.key).optional(tx).await?;
        let Planned { step, ended } = plan(tx, call, newest, waits, instant(now)).await?;
        let mut changed = Vec::from_iter(ended);
        let admission = match step {
            Step::Conflict => Admission::Begun(Begun::Conflict),
            Step::Wait(confirmation) => Admission::Asks(confirmation),
            Step::Expired(error) => Admission::Begun(failure(call.begins.key, error, now)),
            Step::Resume => {
                calls::start(tx, &call.begins, None, now).await?;
                Admission::Begun(Begun::New)
            }
            Step::Use(confirmation, used) => {
                let admission = self.use_confirmation(tx, call, (&confirmation, used), now).await?;
                changed.push((confirmation.id, used));
                admission
            }
            Step::Ask { is_redefined } => {
                let admission = self.request_confirmation(tx, call, waits, is_redefined, now).await?;
                if let Admission::Asks(confirmation) = &admission {
                    changed.push((confirmation.id.clone(), State::Pending));
                }
                admission
            }
        };
        Ok((admission, changed))
    }

    /// Uses a confirmation and begins the call.
    async fn use_confirmation(
        &self,
        tx: &mut Tx,
        call: &ConfirmedCall<'_>,
        (confirmation, used): (&Confirmation, State),
        now: i64,
    ) -> Result<Admission, Error> {
        let approver = confirmation.decided.as_ref().map_or("", |it| it.by.as_str());
        let approval = Some(Approval { confirmation: &confirmation.id, approver });
        // The record of a read may have expired while the confirmation was decided on.
        if !calls::start(tx, &call.begins, approval, now).await? {
            let full =
                calls::add(tx, &call.begins, Opening::Started(approval), now, self.calls_quota).await?;
            if let Some(full) = full {
                return Ok(Admission::Begun(full));
            }
        }
        let cause = Cause { decided: None, used_by: Some(call.asked.outermost.call_id) };
        let times = (instant(now), confirmation.expires_at);
        transition(tx, confirmation, (used, cause), times, &confirmation.reason).await?;
        Ok(Admission::Begun(Begun::New))
    }

    /// Requests a confirmation, unless a quota is exhausted. `waits`: the call has a record, which waits for a person.
    async fn request_confirmation(
        &self,
        tx: &mut Tx,
        call: &ConfirmedCall<'_>,
        waits: bool,
        is_redefined: bool,
        now: i64,
    ) -> Result<Admission, Error> {
        let key = call.begins.key;
        if let Some(exceeded) = quota::check(tx, &key.user, self.confirmations_quota).await? {
            return Ok(exceeded);
        }
        let id = ConfirmationId::generate();
        if waits {
            records::ask(key, &id).run(tx).await?;
        } else if let Some(full) =
            calls::add(tx, &call.begins, Opening::Asked(&id), now, self.calls_quota).await?
        {
            return Ok(Admission::Begun(full));
        }
        Ok(Admission::Asks(Box::new(insert_pending(tx, call, id, is_redefined, now).await?)))
    }
}

/// Inserts a pending confirmation, with the event of its creation.
async fn insert_pending(
    tx: &mut Tx,
    call: &ConfirmedCall<'_>,
    id: ConfirmationId,
    is_redefined: bool,
    now: i64,
) -> Result<Confirmation, Error> {
    let mut asked = call.asked.clone();
    if is_redefined {
        asked.summary.insert_str(0, REDEFINED_PREFIX);
    }
    let (state, key) = (State::Pending, call.begins.key);
    let (at, expires_at) = (instant(now), instant(now.saturating_add(length(call.decide_within))));
    let event = NewEvent { confirmation: &id, user: &key.user, state, at, expires_at, reason: "" };
    // First, since the confirmation has the positions of its last event.
    let (sequence, position) = append_event(tx, &event).await?;
    let confirmation = Confirmation {
        id,
        state,
        key: key.clone(),
        asked,
        arguments_digest: call.begins.digest,
        created_at: at,
        expires_at,
        decided: None,
        reason: String::new(),
        used: None,
        sequence,
        position,
        is_cut: false,
    };
    let definition_bytes = definitions::put(tx, &confirmation.asked, at).await?;
    let bytes = confirmations::insert(tx, &confirmation).await?;
    tx.adds(bytes + definition_bytes);
    Ok(confirmation)
}

/// Determines the next step of a call by its newest confirmation. An open one that has expired, or that is for another
/// definition, ends first. `waits`: the call has a record, which waits for a person.
async fn plan(
    tx: &mut Tx,
    call: &ConfirmedCall<'_>,
    newest: Option<Confirmation>,
    waits: bool,
    now: SystemTime,
) -> Result<Planned, Error> {
    let only = |step| Ok(Planned { step, ended: None });
    let Some(confirmation) = newest else { return only(Step::Ask { is_redefined: false }) };
    let same_definition = confirmation.asked.definition_digest == call.asked.definition_digest;
    if confirmation.state.is_open() {
        // Before anything else, so that the answer does not depend on how often overdue confirmations are swept.
        if confirmation.expires_at <= now {
            let error = end(tx, &confirmation, (Event::TimePasses, None), "", now).await?;
            let step = error.map_or(Step::Ask { is_redefined: false }, Step::Expired);
            return Ok(Planned { step, ended: Some((confirmation.id, State::Expired)) });
        }
        if confirmation.arguments_digest != call.begins.digest
            || confirmation.asked.task_id != call.asked.task_id
        {
            return only(Step::Conflict);
        }
        if !same_definition {
            end(tx, &confirmation, (Event::DefinitionChanges, None), "", now).await?;
            let step = Step::Ask { is_redefined: true };
            return Ok(Planned { step, ended: Some((confirmation.id, State::Voided)) });
        }
    }
    only(match confirmation.state.on_call() {
        OnCall::Waits => Step::Wait(Box::new(confirmation)),
        OnCall::Begins(used) => Step::Use(Box::new(confirmation), used),
        OnCall::Resumes if waits && same_definition => Step::Resume,
        OnCall::Resumes => Step::Ask { is_redefined: waits },
        OnCall::AsksRedefined => Step::Ask { is_redefined: true },
        OnCall::Asks => Step::Ask { is_redefined: false },
    })
}

fn failure(key: &Key, error: ToolError, now: i64) -> Begun {
    let (tool, provenance) = (key.tool.clone(), Provenance::default());
    Begun::Ended(Box::new(ToolResult {
        tool,
        fetched_at: instant(now),
        outcome: Err(error),
        provenance,
        kept: None,
    }))
}
