//! A row of `confirmations`, decoded.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as JsonValue};

use crate::{
    Error,
    confirmations::{Confirmation, ConfirmationRequest, Decided, life::State},
    idempotency::Key,
    sql::{AsText, FromRow, Json, Row, record, words},
};
use toolwire_base::digest::Digest;
use toolwire_contract::{ConfirmationCause, ConfirmationId, ToolName, proto::v1};
use toolwire_tool::context::{CallId, Outermost, RequestId, SessionId, TaskLabel, UserId};

words!(State);

/// A row.
struct Stored {
    id: ConfirmationId,
    state: State,
    user_id: UserId,
    tool: ToolName,
    request_id: RequestId,
    arguments_digest: Digest,
    definition_digest: Digest,
    task_id: Option<TaskLabel>,
    outer_call_id: CallId,
    outer_request_id: RequestId,
    shown: Shown,
    arguments: Option<Json<Map<String, JsonValue>>>,
    created_at: SystemTime,
    expires_at: SystemTime,
    decided_at: Option<SystemTime>,
    decided_by: Option<UserId>,
    decided_via: Option<String>,
    on_behalf_of: Option<String>,
    reason: String,
    used_at: Option<SystemTime>,
    used_by: Option<CallId>,
    sequence: u64,
    position: u64,
    is_cut: bool,
}

record!(Stored, "confirmation", {
    id, state, user_id, tool, request_id via AsText, arguments_digest, definition_digest, task_id, outer_call_id,
    outer_request_id via AsText, shown via Json, arguments, created_at, expires_at, decided_at, decided_by,
    decided_via, on_behalf_of, reason, used_at, used_by, sequence, position, is_cut,
});

/// What a person is shown beside the columns.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Shown {
    user_email: Option<String>,
    path: Vec<String>,
    summary: String,
    category: String,
    consequence_level: String,
    cause: String,
    session_id: Option<String>,
    is_repeatable: bool,
}

impl Shown {
    pub(super) fn of(asked: &ConfirmationRequest) -> Self {
        Self {
            user_email: asked.user_email.clone(),
            path: asked.path.iter().map(ToString::to_string).collect(),
            summary: asked.summary.clone(),
            category: asked.category.as_str_name().to_owned(),
            consequence_level: asked.consequence_level.as_str_name().to_owned(),
            cause: v1::ConfirmationCause::from(asked.cause).as_str_name().to_owned(),
            session_id: asked.session_id.as_ref().map(ToString::to_string),
            is_repeatable: asked.outermost.is_repeatable,
        }
    }
}

impl FromRow for Confirmation {
    fn columns() -> Vec<&'static str> {
        Stored::columns()
    }

    fn from_row(row: &Row) -> Result<Self, Error> {
        confirmation(Stored::from_row(row)?)
    }
}

fn confirmation(it: Stored) -> Result<Confirmation, Error> {
    let decided = it.decided_at.map(|at| {
        let by = it.decided_by.clone().ok_or_else(|| unreadable("it was decided by no user"))?;
        let (via, on_behalf_of) = (it.decided_via.clone(), it.on_behalf_of.clone());
        let (via, on_behalf_of) = (via.unwrap_or_default(), on_behalf_of.unwrap_or_default());
        Ok::<_, Error>(Decided { at, by, via, on_behalf_of })
    });
    let used = it.used_at.map(|at| {
        let by = it.used_by.ok_or_else(|| unreadable("it was used by no call"))?;
        Ok::<_, Error>((at, by))
    });
    let path: Result<Vec<ToolName>, _> = it.shown.path.iter().map(|name| parse(name)).collect();
    let asked = ConfirmationRequest {
        user_email: it.shown.user_email,
        path: path?,
        summary: it.shown.summary,
        arguments: it.arguments.map(|Json(arguments)| arguments),
        definition_digest: it.definition_digest,
        category: v1::ToolCategory::from_str_name(&it.shown.category).unwrap_or_default(),
        consequence_level: v1::ConsequenceLevel::from_str_name(&it.shown.consequence_level)
            .unwrap_or_default(),
        cause: cause(&it.shown.cause)?,
        task_id: it.task_id,
        session_id: it.shown.session_id.map(|id| parse::<SessionId>(&id)).transpose()?,
        outermost: Outermost {
            call_id: it.outer_call_id,
            request_id: it.outer_request_id,
            is_repeatable: it.shown.is_repeatable,
        },
    };
    Ok(Confirmation {
        id: it.id,
        state: it.state,
        key: Key { user: it.user_id, tool: it.tool, request_id: it.request_id },
        asked,
        arguments_digest: it.arguments_digest,
        created_at: it.created_at,
        expires_at: it.expires_at,
        decided: decided.transpose()?,
        reason: it.reason,
        used: used.transpose()?,
        sequence: it.sequence,
        position: it.position,
        is_cut: it.is_cut,
    })
}

fn cause(word: &str) -> Result<ConfirmationCause, Error> {
    match v1::ConfirmationCause::from_str_name(word) {
        Some(v1::ConfirmationCause::Manifest) => Ok(ConfirmationCause::Manifest),
        Some(v1::ConfirmationCause::Tainted) => Ok(ConfirmationCause::Tainted),
        Some(v1::ConfirmationCause::Caller) => Ok(ConfirmationCause::Caller),
        _ => Err(unreadable(format!("there is no cause {word:?}"))),
    }
}

fn parse<T: std::str::FromStr<Err: ToString>>(text: &str) -> Result<T, Error> {
    text.parse().map_err(|error: T::Err| unreadable(error.to_string()))
}

fn unreadable(cause: impl Into<String>) -> Error {
    Error::unreadable("confirmation", cause)
}
