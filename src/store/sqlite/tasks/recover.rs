//! After a crash: the calls that a process which is gone left open are settled. A read waits to be made again; what did
//! nothing is forgotten; what ended has its entry; of any other write it is not known what became.

use std::time::SystemTime;

use super::{
    entries::append,
    fault::Fault,
    open::{self, Left},
    rows::{self, Row},
    settle::UNKNOWN,
};
use crate::{
    idempotency::{Begun, Key},
    sqlite::{
        Change, Durability, Sqlite,
        calls::{self, Standing},
        replica::Replica,
        time::millis,
    },
    tasks::{
        Recovered,
        entry::{Answer, Body, CallType, Part, Thing, ToolCall},
    },
};
use toolwire_contract::{ErrorCode, payload::StoredPayload};

const REPLICAS: &str = "SELECT DISTINCT replica FROM open_calls WHERE replica <> ''";

const READS_WAIT: &str = "UPDATE open_calls SET replica = '' WHERE replica = ? AND reads = 1";

impl Sqlite {
    pub(super) async fn recover_tasks(&self, now: SystemTime) -> Result<Recovered, Fault> {
        let replicas: Vec<String> = sqlx::query_scalar(REPLICAS).fetch_all(self.readers().await?).await?;
        let gone = replicas.iter().filter(|replica| self.replica.is_gone(&self.place, replica));
        let mut recovered = Recovered::default();
        for replica in gone {
            loop {
                let mut change = self.change(Durability::Power).await?;
                let some = settle_some(&mut change, replica, now, &mut recovered).await?;
                change.commit().await?;
                self.tasks_changed();
                if !some {
                    break;
                }
            }
            Replica::forget(&self.place, replica);
        }
        Ok(recovered)
    }
}

/// Whether it is known what became of a call.
enum Settled {
    Known,
    Unknown,
}

/// Settles some calls of a process. Whether there were any.
async fn settle_some(
    change: &mut Change,
    replica: &str,
    now: SystemTime,
    recovered: &mut Recovered,
) -> Result<bool, Fault> {
    let waiting = sqlx::query(READS_WAIT).bind(replica).execute(&mut **change).await?;
    recovered.reads += usize::try_from(waiting.rows_affected()).unwrap_or_default();
    let query =
        format!("SELECT {} FROM open_calls WHERE replica = ? ORDER BY begun_at LIMIT 256", open::COLUMNS);
    let rows = sqlx::query(sqlx::AssertSqlSafe(query)).bind(replica).fetch_all(&mut **change).await?;
    for row in &rows {
        let left = open::left(row)?;
        open::take_of(change, &left.task, left.request_id, &left.tool).await?;
        match settle(change, &left, now).await? {
            Settled::Known => recovered.settled += 1,
            Settled::Unknown => recovered.unknown += 1,
        }
    }
    Ok(!rows.is_empty())
}

async fn settle(change: &mut Change, left: &Left, now: SystemTime) -> Result<Settled, Fault> {
    let Some(mut row) = rows::find(change, &left.task).await? else { return Ok(Settled::Known) };
    let key =
        Key { user: row.task.user.clone(), tool: rows::parsed(&left.tool)?, request_id: left.request_id };
    let record = calls::find(change, &key, millis(now)).await?;
    if left.tool_type != CallType::Function {
        // What it does is one change, which did not come.
        calls::note_end(change, &key, ErrorCode::Unavailable.into_str()).await?;
        calls::forget(change, &key).await?;
        return Ok(Settled::Known);
    }
    if row.task.state.is_final() {
        return Ok(Settled::Known);
    }
    let mut call = left.entry()?;
    let standing = record.map(|record| record.standing);
    let settled = if let Some(Standing::Ended(Begun::Ended(result))) = standing {
        call.provenance = result.provenance;
        match result.outcome.map(text) {
            Ok(result) => call.result = result.map(Part::Whole),
            Err(error) => call.error = Some(error),
        }
        Settled::Known
    } else {
        UNKNOWN.clone_into(&mut call.status);
        call.waits_for = Some(Thing::Call(left.call_id));
        Settled::Unknown
    };
    enter(change, &mut row, left, call, now).await?;
    Ok(settled)
}

async fn enter(
    change: &mut Change,
    row: &mut Row,
    left: &Left,
    call: ToolCall,
    now: SystemTime,
) -> Result<(), Fault> {
    let body = match (left.answers, &call.waits_for) {
        (Some(answers), None) => Body::Answer(Answer {
            answers,
            status: String::new(),
            result: call.result,
            error: call.error,
            documents: Vec::new(),
            origin: left.call_id.to_string(),
            provenance: call.provenance,
            untrusted: false,
        }),
        _ => Body::ToolCall(call),
    };
    append(change, row, left.of(), body, now).await?;
    Ok(())
}

/// The text of a result, where it is kept as text.
fn text(stored: StoredPayload) -> Option<String> {
    stored.read(None).ok().map(|payload| payload.json_text().to_owned())
}
