//! Transitions of a confirmation, each in one transaction with its event, its messages to webhooks, and the end of the
//! call that waits for it. Not here: the entry in the timeline of its task.

use std::time::{Duration, SystemTime};

use super::{audit, calls, outbox};
use crate::{
    audit::Verdict,
    confirmations::{
        Confirmation, ConfirmationRequest, Decided, Ended,
        life::{Event, Next, State},
        rows::{
            self, Transition,
            events::{self as confirmation_events, NewEvent},
        },
    },
    idempotency::Beginning,
};
use toolwire_contract::{ConfirmationId, ToolError};
use toolwire_db::{
    Error, Tx,
    time::{instant, millis},
};
use toolwire_tool::context::CallId;

/// A call that requires a confirmation.
#[derive(Clone, Copy)]
pub(super) struct ConfirmedCall<'a> {
    pub(super) begins: Beginning<'a>,
    pub(super) asked: &'a ConfirmationRequest,
    /// How long a confirmation that it requests lasts.
    pub(super) decide_within: Duration,
}

/// The cause of a transition, if there is one to record.
#[derive(Clone, Copy, Default)]
pub(super) struct Cause<'a> {
    pub(super) decided: Option<&'a Decided>,
    /// The call that uses the confirmation.
    pub(super) used_by: Option<CallId>,
}

/// Moves a confirmation to another state, which lasts until `expires_at` if it is open.
pub(super) async fn transition(
    tx: &mut Tx,
    confirmation: &Confirmation,
    (state, cause): (State, Cause<'_>),
    (at, expires_at): (SystemTime, SystemTime),
    reason: &str,
) -> Result<(), Error> {
    let (id, user) = (&confirmation.id, &confirmation.key.user);
    let event = NewEvent { confirmation: id, user, state, at, expires_at, reason };
    let (sequence, position) = append_event(tx, &event).await?;
    let Cause { decided, used_by } = cause;
    let to = Transition { state, at, expires_at, reason, sequence, position, decided, used_by };
    rows::transition(tx, confirmation, &to).await
}

/// Appends the event of a change and enqueues its messages. Returns its positions: among all events, and among its
/// user's.
pub(super) async fn append_event(tx: &mut Tx, new: &NewEvent<'_>) -> Result<(u64, u64), Error> {
    let positions = confirmation_events::append(tx, new).await?;
    outbox::enqueue(tx, new.state, positions.0, (new.at, new.expires_at)).await?;
    Ok(positions)
}

/// Withdraws the open confirmations of tasks that end, given as a JSON array of identifiers. No entries are appended,
/// since the timelines end.
pub(super) async fn withdraw_for_tasks(tx: &mut Tx, tasks: &str, now: i64) -> Result<(), Error> {
    for confirmation in rows::open_of_tasks(tasks).all(tx).await? {
        end(tx, &confirmation, (Event::Cancel, None), "", instant(now)).await?;
    }
    Ok(())
}

/// Finds a confirmation that is no longer pending, with the outcome of its call if that can no longer begin.
pub(super) async fn find_decided(
    tx: &mut Tx,
    id: &ConfirmationId,
) -> Result<Option<(Confirmation, Option<ToolError>)>, Error> {
    let found = rows::find(id).optional(tx).await?.filter(|it| it.state != State::Pending);
    Ok(found.map(|it| {
        let outcome = it.outcome_in(it.state, &it.reason);
        (it, outcome)
    }))
}

/// Ends an unused confirmation, and the call that waits for it, unless the call is to be made again. Returns `None` if
/// the event does not change the state.
pub(super) async fn end(
    tx: &mut Tx,
    confirmation: &Confirmation,
    (event, decided): (Event, Option<&Decided>),
    reason: &str,
    now: SystemTime,
) -> Result<Option<(State, Ended)>, Error> {
    let Next::Becomes(state) = confirmation.state.on(event) else { return Ok(None) };
    let ended = Ended::of(confirmation, state, reason);
    let cause = Cause { decided, used_by: None };
    transition(tx, confirmation, (state, cause), (now, confirmation.expires_at), &ended.reason).await?;
    let verdict = match state {
        State::Expired => Some(Verdict::Expired),
        State::Withdrawn => Some(Verdict::Withdrawn),
        State::Voided => Some(Verdict::Voided),
        // The decision itself writes its record.
        State::Pending | State::Approved | State::Used | State::Denied => None,
    };
    if let Some(verdict) = verdict {
        audit::record_lapse(tx, confirmation, verdict, now).await?;
    }
    if let Some(error) = &ended.outcome {
        calls::turn_down(tx, &confirmation.key, &confirmation.id, error.clone(), millis(now)).await?;
    }
    Ok(Some((state, ended)))
}
