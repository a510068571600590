//! Calls that need a confirmation: asked, or begun by using one, in one change.

use std::time::SystemTime;

use super::{end::end, room::too_many};
use crate::{
    confirmations::{
        Asked, Confirmation, Opened,
        life::{Event, State},
    },
    idempotency::{Begun, Key},
    sqlite::{
        Change, Durability, Failed, Sqlite,
        audit::Approval,
        calls::{self, Opening, Recorded, Standing},
        confirmation_rows::{COLUMNS, ConfirmedCall, Shown, confirmation, note, transition},
        time::{instant, millis},
    },
};
use toolwire_contract::{ConfirmationId, Provenance, ToolError, ToolResult};

const ADD: &str = "INSERT INTO confirmations (id, state, user_id, tool, request_id, arguments_digest, definition_digest, \
     task_id, outer_call_id, outer_request_id, shown, arguments, created_at, expires_at, sequence, position) \
     VALUES (?, 'pending', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

const USE: &str = "UPDATE confirmations SET used_at = ?, used_by = ? WHERE id = ? AND state = 'approved'";

/// What is told to a person whose confirmation follows one of another definition.
const CHANGED: &str = "The definition of this tool has changed since it was last asked. ";

/// What is to be done for a call.
enum Step {
    /// A person is asked already.
    Wait(Box<Confirmation>),
    /// Its confirmation is used and it begins.
    Use(Box<Confirmation>),
    /// It begins again under the confirmation that it used, having waited for one of a call that it made.
    Resume,
    /// A person is asked; whether they are told that the definition has changed.
    Ask { changed: bool },
    /// It was made with other arguments.
    Conflict,
    /// Its time passed before it was decided, or used.
    Expired(ToolError),
}

impl Sqlite {
    pub(super) async fn open_confirmed(
        &self,
        call: &ConfirmedCall<'_>,
        now: SystemTime,
    ) -> Result<Opened, Failed> {
        // Others see from now on that whoever carries it out is there.
        self.replica.id(&self.place)?;
        // What is told to a person and what is begun comes after this, and must outlast a loss of power.
        let mut change = self.change(Durability::Power).await?;
        let (opened, changed) = self.open_confirmed_in(&mut change, call, millis(now)).await?;
        // What was found may be part of the same commit.
        change.commit().await?;
        self.confirmations_changed(changed);
        Ok(opened)
    }

    /// The same as a step of a change; with the confirmations that it changes.
    pub(in crate::sqlite) async fn open_confirmed_in(
        &self,
        change: &mut Change,
        call: &ConfirmedCall<'_>,
        now: i64,
    ) -> Result<(Opened, Vec<(ConfirmationId, State)>), Failed> {
        let record = calls::find(change, call.begins.key, now).await?;
        let waits = record.is_some();
        let known = match record {
            Some(record) if !record.is_of(call.begins.digest) => Some(Begun::Conflict),
            Some(Recorded { standing: Standing::Ended(ended), .. }) => Some(ended),
            Some(Recorded { standing: Standing::Started, begun, .. }) => Some(Begun::Unfinished { begun }),
            Some(Recorded { standing: Standing::Asked(_), .. }) | None => None,
        };
        if let Some(begun) = known {
            return Ok((Opened::Begun(begun), Vec::new()));
        }
        let newest = newest(change, call.begins.key).await?;
        let was_open = newest.as_ref().filter(|it| it.state.is_open()).map(|it| it.id.clone());
        let (opened, changed) = match step(change, call, newest, waits, now).await? {
            Step::Conflict => (Opened::Begun(Begun::Conflict), Vec::new()),
            Step::Wait(confirmation) => (Opened::Asks(confirmation), Vec::new()),
            Step::Expired(error) => {
                let expired = was_open.map(|id| (id, State::Expired));
                (Opened::Begun(ended(call.begins.key, error, now)), expired.into_iter().collect())
            }
            Step::Resume => {
                calls::start(change, &call.begins, None, now).await?;
                (Opened::Begun(Begun::New), Vec::new())
            }
            Step::Use(confirmation) => {
                let opened = self.use_confirmation(change, call, &confirmation, now).await?;
                (opened, vec![(confirmation.id, State::Used)])
            }
            Step::Ask { changed } => {
                let opened = self.ask(change, call, waits, changed, now).await?;
                let voided = was_open.map(|id| (id, State::Voided)).into_iter();
                let asked = match &opened {
                    Opened::Asks(confirmation) => Some((confirmation.id.clone(), State::Pending)),
                    Opened::Begun(_) | Opened::TooMany { .. } => None,
                };
                (opened, voided.chain(asked).collect())
            }
        };
        Ok((opened, changed))
    }

    /// Uses a confirmation and begins the call, which is one change.
    async fn use_confirmation(
        &self,
        change: &mut Change,
        call: &ConfirmedCall<'_>,
        confirmation: &Confirmation,
        now: i64,
    ) -> Result<Opened, Failed> {
        let approver = confirmation.decided.as_ref().map_or("", |it| it.by.as_str());
        let approval = Some(Approval { confirmation: &confirmation.id, approver });
        // A read is forgotten sooner than its confirmation.
        if !calls::start(change, &call.begins, approval, now).await? {
            let opening = Opening::Started(approval);
            let full = calls::add(change, &call.begins, opening, now, self.room).await?;
            if let Some(full) = full {
                return Ok(Opened::Begun(full));
            }
        }
        let by = call.asked.outermost.call_id.to_string();
        sqlx::query(USE).bind(now).bind(by).bind(confirmation.id.as_str()).execute(&mut **change).await?;
        transition(
            change,
            confirmation,
            State::Used,
            (now, millis(confirmation.expires_at)),
            &confirmation.reason,
        )
        .await?;
        Ok(Opened::Begun(Begun::New))
    }

    async fn ask(
        &self,
        change: &mut Change,
        call: &ConfirmedCall<'_>,
        waits: bool,
        changed: bool,
        now: i64,
    ) -> Result<Opened, Failed> {
        if let Some(too_many) = too_many(change, call.begins.key, self.confirmations_room).await? {
            return Ok(too_many);
        }
        let id = ConfirmationId::generate();
        if waits {
            calls::ask(change, call.begins.key, &id).await?;
        } else {
            let opening = Opening::Asked(&id);
            let full = calls::add(change, &call.begins, opening, now, self.room).await?;
            if let Some(full) = full {
                return Ok(Opened::Begun(full));
            }
        }
        let mut asked = call.asked.clone();
        if changed {
            asked.summary.insert_str(0, CHANGED);
        }
        let (sequence, position) = add(change, &id, call, &asked, now).await?;
        Ok(Opened::Asks(Box::new(Confirmation {
            id,
            state: State::Pending,
            key: call.begins.key.clone(),
            asked,
            arguments_digest: call.begins.digest,
            created_at: instant(now),
            expires_at: instant(millis(call.expires_at)),
            decided: None,
            reason: String::new(),
            used: None,
            sequence: u64::try_from(sequence).unwrap_or_default(),
            position: u64::try_from(position).unwrap_or_default(),
            is_cut: false,
        })))
    }
}

/// What a call meets, by the life of its newest confirmation. `waits`: whether its record says that a person is asked.
async fn step(
    change: &mut Change,
    call: &ConfirmedCall<'_>,
    newest: Option<Confirmation>,
    waits: bool,
    now: i64,
) -> Result<Step, Failed> {
    let Some(confirmation) = newest else { return Ok(Step::Ask { changed: false }) };
    let same_definition = confirmation.asked.definition_digest == call.asked.definition_digest;
    if confirmation.state.is_open() {
        // First, so that the answer does not depend on who has looked at the time before.
        if millis(confirmation.expires_at) <= now {
            let error = end(change, &confirmation, Event::TimePasses, "", now).await?;
            return Ok(error.map_or(Step::Ask { changed: false }, Step::Expired));
        }
        if confirmation.arguments_digest != call.begins.digest
            || confirmation.asked.task_id != call.asked.task_id
        {
            return Ok(Step::Conflict);
        }
        if !same_definition {
            end(change, &confirmation, Event::DefinitionChanges, "", now).await?;
            return Ok(Step::Ask { changed: true });
        }
    }
    Ok(match confirmation.state {
        State::Pending => Step::Wait(Box::new(confirmation)),
        State::Approved => Step::Use(Box::new(confirmation)),
        State::Used if waits && same_definition => Step::Resume,
        State::Used => Step::Ask { changed: waits },
        State::Voided => Step::Ask { changed: true },
        // Their outcome was the record's, which is remembered no more.
        State::Denied | State::Expired | State::Withdrawn => Step::Ask { changed: false },
    })
}

fn ended(key: &Key, error: ToolError, now: i64) -> Begun {
    let (tool, provenance) = (key.tool.clone(), Provenance::default());
    Begun::Ended(Box::new(ToolResult { tool, fetched_at: instant(now), outcome: Err(error), provenance }))
}

async fn newest(change: &mut Change, key: &Key) -> Result<Option<Confirmation>, Failed> {
    let query = format!(
        "SELECT {COLUMNS} FROM confirmations c WHERE c.user_id = ? AND c.tool = ? AND c.request_id = ? \
         ORDER BY c.rowid DESC LIMIT 1"
    );
    let row = sqlx::query(sqlx::AssertSqlSafe(query))
        .bind(key.user.as_str())
        .bind(key.tool.as_str())
        .bind(key.request_id.to_string())
        .fetch_optional(&mut **change)
        .await?;
    row.as_ref().map(confirmation).transpose()
}

async fn add(
    change: &mut Change,
    id: &ConfirmationId,
    call: &ConfirmedCall<'_>,
    asked: &Asked,
    now: i64,
) -> Result<(i64, i64), Failed> {
    let expires_at = millis(call.expires_at);
    let whose = (id, &call.begins.key.user);
    let (sequence, position) = note(change, whose, State::Pending, (now, expires_at), "").await?;
    let shown = serde_json::to_string(&Shown::of(asked)).expect("texts and lists are JSON");
    let arguments = asked.arguments.as_ref().map(|it| serde_json::to_string(it).expect("JSON is JSON"));
    change.adds(shown.len() + arguments.as_ref().map_or(0, String::len));
    sqlx::query(ADD)
        .bind(id.as_str())
        .bind(call.begins.key.user.as_str())
        .bind(call.begins.key.tool.as_str())
        .bind(call.begins.key.request_id.to_string())
        .bind(call.begins.digest.as_bytes().to_vec())
        .bind(asked.definition_digest.as_bytes().to_vec())
        .bind(asked.task_id.as_ref().map(ToString::to_string))
        .bind(asked.outermost.call_id.to_string())
        .bind(asked.outermost.request_id.to_string())
        .bind(shown)
        .bind(arguments)
        .bind(now)
        .bind(expires_at)
        .bind(sequence)
        .bind(position)
        .execute(&mut **change)
        .await?;
    Ok((sequence, position))
}
