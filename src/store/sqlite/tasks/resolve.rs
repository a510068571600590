//! What was waited for besides tasks and decisions, answered: writes whose end was not known, and credentials.

use std::time::SystemTime;

use serde_json::Value;
use sqlx::Row as _;

use super::{
    entries::{Of, append},
    fault::Fault,
    lengths,
    person::of_request,
    rows::{Row, column, load, parsed, read},
};
use crate::{
    idempotency::Key,
    sqlite::{
        Change, Durability, Sqlite,
        audit::{self, Changed},
        calls,
    },
    tasks::{
        Refused, Resolution, Task,
        entry::{Answer, Body, Lengths, Part, Thing, ToolCall},
    },
};
use toolwire_base::digest::Digest;
use toolwire_contract::{ErrorCode, Payload, Provenance, ToolError, ToolName, ToolResult};
use toolwire_tool::context::{CallId, RequestId, TaskId, UserId};

const CALL: &str = "SELECT request_id, head FROM entries WHERE task = ? AND seq = ?";

const RESOLVED: &str = "SELECT e.head, coalesce(e.result, p.text) AS result FROM entries e \
     LEFT JOIN entry_parts p ON p.task = e.task AND p.seq = e.seq AND p.part = 'result' \
     WHERE e.task = ? AND e.kind = 'answer' AND e.call_id = ? ORDER BY e.seq DESC LIMIT 1";

const WAIT_FOR_SOURCE: &str = "SELECT w.task FROM waits w JOIN tasks t ON t.id = w.task \
                               WHERE w.kind = 'source' AND w.thing = ? AND t.user_id = ? AND t.deleted = 0";

impl Sqlite {
    pub(super) async fn resolve_unknown_call(
        &self,
        user: &UserId,
        id: &TaskId,
        call_id: CallId,
        resolution: &Resolution,
        reason: &str,
        now: SystemTime,
    ) -> Result<Task, Fault> {
        let lengths = match resolution {
            Resolution::Done(result) => lengths::of_result(&Value::Object(result.clone()).to_string()).await,
            Resolution::NotDone => Lengths::default(),
        };
        let mut change = self.change(Durability::Power).await?;
        let mut row = load(&mut change, user, id).await?;
        let Some(sequence) = waiting_for(&row, &Thing::Call(call_id)) else {
            resolved_so(&mut change, id, call_id, resolution).await?;
            return self.done(change, row.task).await;
        };
        let (request_id, call) = call(&mut change, id, sequence).await?;
        let outcome = match resolution {
            Resolution::Done(result) => Ok(Payload::from_json(Value::Object(result.clone()))),
            Resolution::NotDone => {
                let message = format!("The call was not carried out: {reason}");
                Err(ToolError::new(ErrorCode::Cancelled, message))
            }
        };
        let answer = Answer {
            answers: sequence,
            status: format!("← resolved by {user}: {reason}"),
            result: outcome.as_ref().ok().map(|data| Part::Whole(data.json_text().to_owned())),
            error: outcome.as_ref().err().cloned(),
            documents: Vec::new(),
            origin: call_id.to_string(),
            provenance: Provenance::default(),
            untrusted: false,
        };
        let of = Of { call_id: Some(call_id), request_id: Some(request_id), lengths, ..Of::default() };
        append(&mut change, &mut row, of, Body::Answer(answer), now).await?;
        // The same call again is told so, too.
        let key = Key { user: user.clone(), tool: call.clone(), request_id };
        let provenance = Provenance::default();
        calls::end(&mut change, &key, &ToolResult { tool: call, fetched_at: now, outcome, provenance })
            .await?;
        let digest = Digest::of_parts([id.as_str(), reason]);
        let noted = of_request("TaskService.ResolveUnknown", &row.task, digest);
        let noted = Changed { call_id: Some(call_id), ..noted };
        audit::changed(&mut change, &noted, now).await?;
        self.done(change, row.task).await
    }

    pub(super) async fn answer_credentials(
        &self,
        user: &UserId,
        source: &str,
        now: SystemTime,
    ) -> Result<usize, Fault> {
        let any = sqlx::query(WAIT_FOR_SOURCE).bind(source).bind(user.as_str());
        // As a rule nobody waits, and whoever gives credentials need not either.
        if any.fetch_optional(self.readers().await?).await?.is_none() {
            return Ok(0);
        }
        let mut change = self.change(Durability::Power).await?;
        let waiting = sqlx::query_scalar(WAIT_FOR_SOURCE).bind(source).bind(user.as_str());
        let waiting: Vec<String> = waiting.fetch_all(&mut *change).await?;
        let thing = Thing::Source(source.to_owned());
        for id in &waiting {
            let mut row = load(&mut change, user, &parsed(id)?).await?;
            let Some(sequence) = waiting_for(&row, &thing) else { continue };
            let answer = Answer {
                answers: sequence,
                status: format!("← authorized by {user}: call again"),
                result: None,
                error: None,
                documents: Vec::new(),
                origin: source.to_owned(),
                provenance: Provenance::default(),
                untrusted: false,
            };
            append(&mut change, &mut row, Of::default(), Body::Answer(answer), now).await?;
        }
        self.done(change, waiting.len()).await
    }
}

/// Whether a call was resolved before, and so: what a person said once of what was done stays.
async fn resolved_so(
    change: &mut Change,
    id: &TaskId,
    call_id: CallId,
    resolution: &Resolution,
) -> Result<(), Fault> {
    let row = sqlx::query(RESOLVED).bind(id.as_str()).bind(call_id.to_string());
    let Some(row) = row.fetch_optional(&mut **change).await? else {
        return Err(Refused::UnknownCall.into());
    };
    let Body::Answer(answer) = read(row.try_get("head")?)? else { return Err(Refused::UnknownCall.into()) };
    let result: Option<String> = row.try_get("result")?;
    let is_so = match resolution {
        Resolution::Done(done) => result == Some(Value::Object(done.clone()).to_string()),
        Resolution::NotDone => result.is_none() && answer.error.is_some(),
    };
    if is_so { Ok(()) } else { Err(Refused::AlreadyResolved(answer.status).into()) }
}

fn waiting_for(row: &Row, thing: &Thing) -> Option<u64> {
    let waits = row.task.waits.iter().find(|wait| wait.thing == *thing);
    waits.map(|wait| wait.sequence)
}

/// The identifier and the tool of the call of an entry.
async fn call(change: &mut Change, id: &TaskId, sequence: u64) -> Result<(RequestId, ToolName), Fault> {
    let row = sqlx::query(CALL).bind(id.as_str()).bind(column(sequence)).fetch_one(&mut **change).await?;
    let request_id: String = row.try_get("request_id")?;
    match read(row.try_get("head")?)? {
        Body::ToolCall(ToolCall { tool, .. }) => Ok((parsed(&request_id)?, tool)),
        _ => Err(Refused::UnknownCall.into()),
    }
}
