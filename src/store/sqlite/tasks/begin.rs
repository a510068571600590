//! Calls that execute, begun: the call's own record, what the task has open or waits for, in one change.

use std::time::SystemTime;

use super::{
    admit,
    entries::{Of, append},
    fault::Fault,
    lengths, open,
    rows::load,
};
use crate::{
    confirmations::{Opened, life::State},
    idempotency::{Begun, Effect},
    sqlite::{
        Change, Durability, Sqlite,
        calls::{self, Opening, Recorded, Standing},
        confirmation_rows::ConfirmedCall,
        time::millis,
    },
    tasks::{
        Asking, TaskCall,
        entry::{Body, Lengths, Part, Thing, ToolCall},
    },
};
use toolwire_contract::{ConfirmationId, Provenance};

struct Begins<'a> {
    call: &'a TaskCall,
    asking: Option<Asking<'a>>,
    lengths: Lengths,
}

impl Sqlite {
    pub(super) async fn begin_task_call(
        &self,
        call: &TaskCall,
        asking: Option<Asking<'_>>,
        now: SystemTime,
    ) -> Result<Opened, Fault> {
        let replica = self.replica.id(&self.place)?;
        // Only what waits has an entry here.
        let lengths = if asking.is_some() { lengths::of_call(call).await } else { Lengths::default() };
        // A read that is forgotten is made again; what is told to a person and what is done comes after this.
        let durability = match (call.effect, asking) {
            (Effect::Read, None) => Durability::Process,
            _ => Durability::Power,
        };
        let mut change = self.change(durability).await?;
        let begins = Begins { call, asking, lengths };
        let (opened, changed) = self.begin_in(&mut change, begins, replica, now).await?;
        change.commit().await?;
        self.confirmations_changed(changed);
        self.tasks_changed();
        Ok(opened)
    }

    async fn begin_in(
        &self,
        change: &mut Change,
        Begins { call, asking, lengths }: Begins<'_>,
        replica: &str,
        now: SystemTime,
    ) -> Result<(Opened, Vec<(ConfirmationId, State)>), Fault> {
        let mut row = load(change, &call.key.user, &call.task).await?;
        let at = millis(now);
        let begun = |begun| Ok((Opened::Begun(begun), Vec::new()));
        let record = calls::find(change, &call.key, at).await?;
        let standing = match record {
            None => None,
            Some(record) if !record.is_of(call.digest) => return begun(Begun::Conflict),
            Some(Recorded { standing: Standing::Ended(ended), .. }) => return begun(ended),
            Some(Recorded { standing: Standing::Started, begun: since, .. }) => {
                return begun(Begun::Unfinished { begun: since });
            }
            Some(Recorded { standing: Standing::Asked(id), .. }) => Some(id),
        };
        admit::in_time(&row.task, now)?;
        admit::driver(&row.task, call.turn.lease_token, now)?;
        match &standing {
            // It has an entry already, and goes on whatever else the task waits for.
            Some(_) if !row.task.state.is_final() => {}
            _ => admit::call(change, &mut row, call.turn.step).await?,
        }
        let waited = standing.is_some() || asking.is_some();
        let (opened, changed) = match (asking, standing) {
            (Some(asking), _) => {
                let (asked, expires_at) = (asking.asked, asking.expires_at);
                let confirmed = ConfirmedCall { begins: call.begins(), asked, expires_at };
                self.open_confirmed_in(change, &confirmed, at).await?
            }
            (None, Some(Some(_))) => return begun(Begun::Asked),
            (None, Some(None)) => {
                calls::start(change, &call.begins(), None, at).await?;
                (Opened::Begun(Begun::New), Vec::new())
            }
            (None, None) => {
                let opening = Opening::Started(None);
                let full = calls::add(change, &call.begins(), opening, at, self.room).await?;
                (Opened::Begun(full.unwrap_or(Begun::New)), Vec::new())
            }
        };
        match &opened {
            Opened::Begun(Begun::New) => {
                let answers = if waited {
                    open::unanswered(change, &call.task, call.key.request_id).await?
                } else {
                    None
                };
                open::add(change, call, answers, replica, now).await?;
            }
            Opened::Asks(confirmation) => {
                // Voiding one for another made an entry.
                row = load(change, &call.key.user, &call.task).await?;
                let thing = Thing::Confirmation(confirmation.id.clone());
                if !row.task.waits.iter().any(|wait| wait.thing == thing) {
                    admit::wait(&row.task)?;
                    let status = awaiting(&confirmation.id);
                    let body = waiting(call, thing, status);
                    append(change, &mut row, Of::call(call, lengths), body, now).await?;
                }
            }
            Opened::Begun(_) | Opened::TooMany { .. } => {}
        }
        Ok((opened, changed))
    }
}

/// The status of a call that a person must approve.
pub(super) fn awaiting(id: &ConfirmationId) -> String {
    format!("→ awaiting confirmation {id}")
}

/// The entry of a call with which the task begins to wait.
pub(super) fn waiting(call: &TaskCall, thing: Thing, status: String) -> Body {
    Body::ToolCall(ToolCall { status, waits_for: Some(thing), ..entry_of(call) })
}

/// The entry of a call, without what came of it.
pub(super) fn entry_of(call: &TaskCall) -> ToolCall {
    ToolCall {
        tool_type: call.tool_type,
        tool: call.key.tool.clone(),
        tool_call_id: call.tool_call_id(),
        input: Part::Whole(call.input.clone()),
        result: None,
        error: None,
        status: String::new(),
        documents: Vec::new(),
        provenance: Provenance::default(),
        category: call.category,
        waits_for: None,
        untrusted: false,
    }
}
