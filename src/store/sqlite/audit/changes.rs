//! Records of what requests change that are no calls, as steps of those changes.

use std::time::SystemTime;

use super::next;
use crate::{
    audit::{Kind, Verdict, by},
    sqlite::{Change, Failed, time::millis},
};
use toolwire_base::digest::Digest;
use toolwire_tool::context::{CallId, RequestId, TaskId, UserId};

const CHANGED: &str = concat!(
    "INSERT INTO audit (kind, at, ended_at, user_id, known_by, peer, face, caller, tool, definition_digest, \
     arguments_digest, verdict, code, call_id, request_id, trace_id, task_id, confirmation_id, approver, position) \
     VALUES (?1, ?2, ?2, ?3, ?4, ?5, ?6, ?3, ?7, x'', ?8, ?9, 'OK', ?10, ?11, ?12, ?13, '', '', ",
    next!("?3"),
    ")"
);

/// A change that a request made which is no call.
pub(in crate::sqlite) struct Changed<'a> {
    /// Its method, such as `TaskService.CreateTask`.
    pub(in crate::sqlite) method: &'static str,
    pub(in crate::sqlite) user: &'a UserId,
    /// Of what it asked for.
    pub(in crate::sqlite) digest: Digest,
    pub(in crate::sqlite) task: &'a TaskId,
    pub(in crate::sqlite) request_id: Option<RequestId>,
    pub(in crate::sqlite) call_id: Option<CallId>,
}

/// Notes what a request changed, as a step of that change.
pub(in crate::sqlite) async fn changed(
    change: &mut Change,
    it: &Changed<'_>,
    now: SystemTime,
) -> Result<(), Failed> {
    let by = by();
    let text = |it: Option<String>| it.unwrap_or_default();
    sqlx::query(CHANGED)
        .bind(Kind::Write.into_str())
        .bind(millis(now))
        .bind(it.user.as_str())
        .bind(<&str>::from(by.known_by))
        .bind(by.origin.peer.map(|peer| peer.to_string()))
        .bind(by.origin.face)
        .bind(it.method)
        .bind(it.digest.as_bytes().to_vec())
        .bind(Verdict::Allowed.into_str())
        .bind(text(it.call_id.map(|id| id.to_string())))
        .bind(text(it.request_id.map(|id| id.to_string())))
        .bind(text(by.trace_id.map(|id| id.to_string())))
        .bind(it.task.as_str())
        .execute(&mut **change)
        .await?;
    Ok(())
}
