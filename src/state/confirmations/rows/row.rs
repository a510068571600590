//! Deserialisation of rows of `confirmations`.

use std::time::SystemTime;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as JsonValue};

use crate::confirmations::{Confirmation, ConfirmationRequest, Decided, life::State};
use toolwire_contract::{ConfirmationCause, ToolName, proto::v1};
use toolwire_db::{
    Error,
    sql::{AsText, FromRow, Json, Row, record, words},
};
use toolwire_tool::context::{CallId, Outermost, SessionId};

words!(State);

record!(Confirmation, "confirmation", {
    id, state, key: .., asked: .., arguments_digest, created_at, expires_at, decided: [DECIDED, read_decided], reason,
    used: [USED, read_used], sequence,
    position, is_cut,
});

/// The column `shown`: the parts of a request that have no column of their own, as JSON.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Shown {
    user_email: Option<String>,
    /// Absent, as is `client`, in those of an earlier version.
    #[serde(default)]
    face: String,
    #[serde(default)]
    client: String,
    path: Vec<String>,
    summary: String,
    category: String,
    consequence_level: String,
    cause: String,
    session_id: Option<String>,
    is_repeatable: bool,
}

impl Shown {
    pub(super) fn of(request: &ConfirmationRequest) -> Self {
        Self {
            user_email: request.user_email.clone(),
            face: request.face.clone(),
            client: request.client.clone(),
            path: request.path.iter().map(ToString::to_string).collect(),
            summary: request.summary.clone(),
            category: request.category.as_str_name().to_owned(),
            consequence_level: request.consequence_level.as_str_name().to_owned(),
            cause: v1::ConfirmationCause::from(request.cause).as_str_name().to_owned(),
            session_id: request.session_id.as_ref().map(ToString::to_string),
            is_repeatable: request.outermost.is_repeatable,
        }
    }
}

impl FromRow for ConfirmationRequest {
    fn columns() -> Vec<&'static str> {
        vec!["shown", "arguments", "definition_digest", "task_id", "outer_call_id", "outer_request_id"]
    }

    fn from_row(row: &Row) -> Result<Self, Error> {
        let Json(shown) = row.get::<Json<Shown>>("shown")?;
        let path: Result<Vec<ToolName>, _> = shown.path.iter().map(|name| parse(name)).collect();
        let consequence_level = v1::ConsequenceLevel::from_str_name(&shown.consequence_level);
        Ok(Self {
            user_email: shown.user_email,
            face: shown.face,
            client: shown.client,
            path: path?,
            summary: shown.summary,
            arguments: row.get::<Option<Json<Map<String, JsonValue>>>>("arguments")?.map(|Json(it)| it),
            definition_digest: row.get("definition_digest")?,
            definition: Bytes::new(),
            category: v1::ToolCategory::from_str_name(&shown.category).unwrap_or_default(),
            consequence_level: consequence_level.unwrap_or_default(),
            cause: cause(&shown.cause)?,
            task_id: row.get("task_id")?,
            session_id: shown.session_id.map(|id| parse::<SessionId>(&id)).transpose()?,
            outermost: Outermost {
                call_id: row.get("outer_call_id")?,
                request_id: row.get::<AsText<_>>("outer_request_id")?.0,
                is_repeatable: shown.is_repeatable,
            },
        })
    }
}

const DECIDED: [&str; 4] = ["decided_at", "decided_by", "decided_via", "on_behalf_of"];

fn read_decided(row: &Row) -> Result<Option<Decided>, Error> {
    let Some(at) = row.get("decided_at")? else { return Ok(None) };
    let text = |column| row.get::<Option<String>>(column).map(Option::unwrap_or_default);
    let (via, on_behalf_of) = (text("decided_via")?, text("on_behalf_of")?);
    Ok(Some(Decided { at, by: row.get("decided_by")?, via, on_behalf_of }))
}

const USED: [&str; 2] = ["used_at", "used_by"];

/// When a confirmation was used, and by which call.
fn read_used(row: &Row) -> Result<Option<(SystemTime, CallId)>, Error> {
    let Some(at) = row.get("used_at")? else { return Ok(None) };
    Ok(Some((at, row.get("used_by")?)))
}

fn cause(word: &str) -> Result<ConfirmationCause, Error> {
    match v1::ConfirmationCause::from_str_name(word) {
        Some(v1::ConfirmationCause::Manifest) => Ok(ConfirmationCause::Manifest),
        Some(v1::ConfirmationCause::Condition) => Ok(ConfirmationCause::Condition),
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
