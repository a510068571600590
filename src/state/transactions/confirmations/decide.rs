//! The ends of confirmations: decision, withdrawal, expiry, deletion.

use std::{collections::BTreeMap, time::SystemTime};

use super::end::end;
use crate::{
    Store,
    confirmations::{
        ARGUMENT_RETENTION, CallRef, Confirmation, Decided, Decision, EVENT_RETENTION, Outcome, Verdict,
        life::{Event, Next, State},
        rows::{self, definitions, events as confirmation_events},
    },
    transactions::{
        audit,
        tasks::append_decision,
        transitions::{Cause, transition},
    },
};
use toolwire_contract::ConfirmationId;
use toolwire_db::{Durability, Error, Lane, StoreError, Tx, scoped};
use toolwire_tool::context::UserId;

/// Maximum number of confirmations that expire in one transaction, so that other transactions run in between.
const EXPIRED_AT_ONCE: u32 = 256;

/// Maximum number of rows of a kind deleted by one transaction of a sweep.
const SWEPT_AT_ONCE: u32 = 512;

impl Store {
    /// Decides on a confirmation. `None` if there is no such confirmation.
    pub async fn decide_confirmation(
        &self,
        id: &ConfirmationId,
        decision: &Decision,
    ) -> Result<Option<Outcome>, StoreError> {
        // The lanes are those of the user who made the call, and of the decider, whose audit record this is.
        let found = self.fetch_optional(rows::find(id)).await?;
        let Some(Confirmation { key, .. }) = found else { return Ok(None) };
        // The decider receives the outcome, and a call may begin because of it.
        let users = [key.user, decision.decided.by.clone()];
        let decided = self
            .transact(Lane::Users(&users), Durability::Power, |tx| scoped(decide(tx, id, decision)))
            .await?;
        let Some((before, outcome)) = decided else { return Ok(None) };
        let state = outcome.confirmation.state;
        self.notify_confirmation_changes((state != before).then(|| (id.clone(), state)));
        Ok(Some(outcome))
    }

    /// The users who have open confirmations.
    pub async fn users_of_open_confirmations(&self) -> Result<Vec<UserId>, StoreError> {
        self.fetch_all(rows::users_of_open()).await
    }

    /// Withdraws the open confirmations of a user's cancelled call, and returns their number.
    pub async fn withdraw_confirmations(&self, user: &UserId, call: CallRef) -> Result<usize, StoreError> {
        // Most cancelled calls have none, and then no write transaction is needed.
        if self.fetch_all(rows::open_of_call(user, call)).await?.is_empty() {
            return Ok(0);
        }
        let withdrawn = transact!(self, Lane::User(user), Durability::Power, |tx| {
            let open = rows::open_of_call(user, call).all(tx).await?;
            end_all(tx, open, Event::Cancel).await
        })?;
        let count = withdrawn.len();
        self.notify_confirmation_changes(withdrawn);
        Ok(count)
    }

    /// Expires some of the confirmations that were not decided, or not used, in time, and returns their number.
    pub async fn expire_confirmations(&self) -> Result<usize, StoreError> {
        let mut by_user: BTreeMap<UserId, Vec<ConfirmationId>> = BTreeMap::new();
        for (user, id) in self.fetch_all(rows::overdue(self.now(), EXPIRED_AT_ONCE)).await? {
            by_user.entry(user).or_default().push(id);
        }
        let mut count = 0;
        // One transaction per user, since a lane is that of one user.
        for (user, ids) in &by_user {
            let expired = transact!(self, Lane::User(user), Durability::Power, |tx| {
                let (now, mut overdue) = (tx.now(), Vec::new());
                for id in ids {
                    // It may have been decided since.
                    overdue.extend(rows::find(id).optional(tx).await?.filter(|it| it.is_overdue(now)));
                }
                end_all(tx, overdue, Event::TimePasses).await
            })?;
            count += expired.len();
            self.notify_confirmation_changes(expired);
        }
        Ok(count)
    }

    /// Deletes some of the rows whose retention is over: arguments, changes, definitions, and confirmations.
    pub async fn sweep_confirmations(&self) -> Result<(), StoreError> {
        transact!(self, Lane::Platform, Durability::Process, |tx| {
            let now = tx.now();
            rows::forget_arguments(tx, None, Some(now - ARGUMENT_RETENTION), SWEPT_AT_ONCE).await?;
            confirmation_events::delete_until(now - EVENT_RETENTION, SWEPT_AT_ONCE).run(tx).await?;
            definitions::delete_unbound(now).run(tx).await?;
            rows::delete_ended(tx, now - EVENT_RETENTION, SWEPT_AT_ONCE).await
        })
    }
}

async fn decide(
    tx: &mut Tx,
    id: &ConfirmationId,
    decision: &Decision,
) -> Result<Option<(State, Outcome)>, Error> {
    let at = tx.now();
    let by = Decided { at, ..decision.decided.clone() };
    let Some(mut confirmation) = rows::find(id).optional(tx).await? else { return Ok(None) };
    let before = confirmation.state;
    // First, so that the decision does not depend on how often overdue confirmations are swept.
    if let Some(event) = preceding_event(&confirmation, &decision.verdict, at) {
        end(tx, &confirmation, (event, None), "", at).await?;
        confirmation = rows::find(id).optional(tx).await?.unwrap_or(confirmation);
    }
    let event = match decision.verdict {
        Verdict::Approve { .. } => Event::Approve,
        Verdict::Deny => Event::Deny,
    };
    let next = confirmation.state.on(event);
    if let Next::Becomes(state) = next {
        audit::record_decision(tx, &confirmation, decision, at).await?;
        match decision.verdict {
            Verdict::Approve { use_within, .. } => {
                let cause = Cause { decided: Some(&by), used_by: None };
                transition(tx, &confirmation, (state, cause), (at, at + use_within), &decision.reason)
                    .await?;
                append_decision(tx, &confirmation, state, None, at).await?;
            }
            Verdict::Deny => {
                end(tx, &confirmation, (event, Some(&by)), &decision.reason, at).await?;
            }
        }
        confirmation = rows::find(id).optional(tx).await?.unwrap_or(confirmation);
    }
    Ok(Some((before, Outcome { confirmation, holds: next != Next::Refused })))
}

/// The event that an open confirmation must undergo before the decision on it.
fn preceding_event(confirmation: &Confirmation, verdict: &Verdict, at: SystemTime) -> Option<Event> {
    if confirmation.is_overdue(at) {
        return Some(Event::TimePasses);
    }
    match verdict {
        Verdict::Approve { definition_digest, .. }
            if confirmation.state.is_open()
                && *definition_digest != Some(confirmation.asked.definition_digest) =>
        {
            Some(Event::DefinitionChanges)
        }
        Verdict::Approve { .. } | Verdict::Deny => None,
    }
}

async fn end_all(
    tx: &mut Tx,
    open: Vec<Confirmation>,
    event: Event,
) -> Result<Vec<(ConfirmationId, State)>, Error> {
    let (now, mut changed) = (tx.now(), Vec::new());
    for confirmation in open {
        end(tx, &confirmation, (event, None), "", now).await?;
        if let Next::Becomes(state) = confirmation.state.on(event) {
            changed.push((confirmation.id, state));
        }
    }
    Ok(changed)
}
