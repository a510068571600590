//! A refused call in words: what went wrong, every rule that is broken, and what to do next.

use std::error::Error;

use serde_json::{Value, json};
use tonic::{Code, Status};
use tonic_types::StatusExt;

use crate::console::{self, Failure};
use toolwire_base::clock;
use toolwire_contract::{self as contract, status::sign_in};

const LOST: &str = "error: the connection to the server was lost before the call ended";
/// Advice after a lost connection.
const REPEAT: &str = "Try again; repeat a write with the same --request-id, so that it is done once.";

/// The field of a violation if a call needs a task.
pub const NEEDS_TASK: &str = "context.task_id";
/// Advice on it.
pub const BEGIN_TASK: &str = "`toolwire tasks start \"...\"` begins a task, and --task names it.";

/// Reports why a call was not carried out, and returns the failure of the command.
pub fn refusal(status: &Status) -> Failure {
    refusal_or_lost(status, REPEAT)
}

/// The same with other advice for a lost connection.
pub fn refusal_or_lost(status: &Status, repeat: &str) -> Failure {
    console::say(&in_words(status, repeat));
    Failure::Reported
}

/// The same for a program: code, reason, message, and every rule that is broken.
pub fn refusal_as_json(status: &Status) -> Value {
    let details = status.get_error_details();
    let reason = details.error_info().map_or("", |info| info.reason.as_str());
    let violations = details.bad_request().map(|it| it.field_violations.as_slice()).unwrap_or_default();
    let violations: Vec<_> =
        violations.iter().map(|it| json!({"field": it.field, "description": it.description})).collect();
    let retry_after = details.retry_info().and_then(|info| info.retry_delay);
    json!({
        "code": contract::status::name(status.code()),
        "reason": reason,
        "message": status.message(),
        "field_violations": violations,
        "retry_after_seconds": retry_after.map(|delay| delay.as_secs_f64()),
    })
}

fn in_words(status: &Status, repeat: &str) -> String {
    if is_lost_connection(status) {
        return format!("{LOST}\n  {repeat}");
    }
    let details = status.get_error_details();
    let headline = format!("error: {}: {}", word(status.code()), status.message());
    let violations = details.bad_request().map(|it| it.field_violations.as_slice()).unwrap_or_default();
    let needs_task = violations.iter().any(|it| it.field == NEEDS_TASK);
    let violations = violations.iter().map(|it| format!("{}: {}", it.field, it.description));
    let retry_after = details.retry_info().and_then(|info| info.retry_delay);
    let reason = details.error_info().map_or("", |info| info.reason.as_str());
    let next = match retry_after {
        Some(delay) => format!("Try again in {}.", clock::wait_in_words(delay)),
        None if needs_task => BEGIN_TASK.to_owned(),
        None => sign_in_by(status)
            .unwrap_or_else(|| advice_on(reason).unwrap_or_else(|| advice(status.code())).to_owned()),
    };
    [headline].into_iter().chain(violations).chain([next]).collect::<Vec<_>>().join("\n  ")
}

/// Advice on a refusal that a sign-in may end.
fn sign_in_by(status: &Status) -> Option<String> {
    let command = sign_in::of(status)?;
    Some(match status.code() {
        Code::Unauthenticated => {
            format!("Give a token with --token-file FILE or TOOLWIRE_TOKEN, or sign in: `{command}`.")
        }
        _ => format!("`{command}` signs in for the scopes."),
    })
}

/// The name of a code, but that a deadline is the same end as a tool's time-out for a person, and has its word.
fn word(code: Code) -> &'static str {
    match code {
        Code::DeadlineExceeded => "TIMEOUT",
        other => contract::status::name(other),
    }
}

/// The connection broke after the call had begun: the status is the client's own, and so is its cause.
fn is_lost_connection(status: &Status) -> bool {
    status.code() == Code::Unknown && status.source().is_some()
}

/// Advice on a reason that is more exact than that on its code.
fn advice_on(reason: &str) -> Option<&'static str> {
    Some(match reason {
        "UNKNOWN_CONFIRMATION" => "`toolwire confirmations --all` shows those that you may see.",
        "CONFIRMATION_DECIDED" => "`toolwire confirmations --all` shows what became of it.",
        "MAY_NOT_DECIDE" => {
            "`approve` in [[auth.users]], or `may = [\"approve\"]` in [[auth.rules]], says who may, `own_calls` in \
             [confirmations] whether on one's own calls."
        }
        "AUTHENTICATION_UNAVAILABLE" => "The identity provider cannot be asked now. Try again later.",
        "INSUFFICIENT_SCOPE" => {
            "`toolwire login URL --scope \"SCOPES\"` signs in for the scopes, each word of them after the colon."
        }
        "TASK_BLOCKED" | "TASK_NOT_BEGUN" | "TASK_NOT_ENDED" => {
            "`toolwire tasks TASK` shows what it waits for."
        }
        "TASK_ENDED" | "NOT_A_QUESTION" | "ALREADY_ANSWERED" => {
            "`toolwire timeline TASK` shows what became of it."
        }
        "LEASE_LOST" => "Wait until its worker is done or its lease is over; `toolwire tasks TASK` shows it.",
        "ROOT_INSIDE_TASK" => "Leave --task out to begin a tree of its own.",
        "TURN_PAUSED" => {
            "`toolwire chat --resume TURN` goes on with it once it is decided, `toolwire chat --cancel TURN` cancels it."
        }
        "TURN_NOT_PAUSED" => "Ask again: `toolwire chat --session ID \"...\"`.",
        "TURN_RUNNING" => "Wait for its end, or end it: `toolwire chat --cancel TURN`.",
        "UNKNOWN_TURN" => {
            "Name a turn of yours: what waits says it, and each event of `toolwire chat --json`."
        }
        "UNKNOWN_TASK" => "Name a task of yours: `task_` and 32 hexadecimal digits.",
        "UNKNOWN_DOCUMENT" => "`toolwire workspace ls TASK` shows every document.",
        "UNKNOWN_VERSION" | "DOCUMENT_DELETED" => {
            "`toolwire workspace versions TASK PATH` shows every version."
        }
        "DOCUMENT_EXISTS" | "ETAG_STALE" => {
            "Read it again; to write whatever stands there, leave --etag out."
        }
        "DOCUMENT_DAMAGED" => "Read another version, or restore the state from a backup.",
        "NO_MODEL" => "docs/MODELS.md says how to configure one.",
        "QUOTA_EXCEEDED" => "docs/WORKSPACE.md lists every bound.",
        _ => return None,
    })
}

fn advice(code: Code) -> &'static str {
    match code {
        Code::NotFound => "`toolwire list` shows every tool, `toolwire describe TOOL` its intents.",
        Code::Unauthenticated => {
            "Give a token with --token-file FILE or TOOLWIRE_TOKEN, or sign in: `toolwire login URL`."
        }
        Code::PermissionDenied => "`toolwire list` shows the tools that you may call.",
        Code::DeadlineExceeded => "Allow more time with --deadline.",
        Code::Unavailable => "Is the server running? Start it with `toolwire serve`, or try again.",
        Code::Unimplemented => "Is this a toolwire server? Check --server.",
        Code::AlreadyExists => "Leave --request-id out to have a new one made.",
        Code::InvalidArgument => "Correct the request and call again.",
        Code::FailedPrecondition | Code::Aborted | Code::OutOfRange => {
            "Change what the message names, and call again."
        }
        _ => "If it happens again, the operator finds it in the server's log.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolwire_contract::{Refusal, TurnRefusal, Violation};

    #[test]
    fn a_lost_connection_is_no_unknown_failure_of_the_server() {
        let lost = Status::from_error("error reading a body from connection".into());
        assert!(
            in_words(&lost, REPEAT).starts_with("error: the connection to the server was lost"),
            "{lost:?}"
        );
        assert!(
            in_words(&Status::unknown("no such thing"), REPEAT).starts_with("error: UNKNOWN: no such thing")
        );
    }

    #[test]
    fn a_refused_turn_is_never_answered_with_tools() {
        for refusal in [
            TurnRefusal::Unknown { id: "t".into() },
            TurnRefusal::Paused { turn_id: "t".into() },
            TurnRefusal::Running { turn_id: "t".into() },
            TurnRefusal::NotPaused { turn_id: "t".into(), state: "ended" },
        ] {
            let text = in_words(&Refusal::from(refusal).into(), REPEAT);
            assert!(text.contains("toolwire chat --") && !text.contains("toolwire list"), "{text}");
        }
    }

    #[test]
    fn a_program_reads_a_refusal_whole() {
        let paused = Refusal::from(TurnRefusal::Paused { turn_id: "t".into() });
        let read = refusal_as_json(&paused.into());
        assert_eq!((&read["code"], &read["reason"]), (&json!("FAILED_PRECONDITION"), &json!("TURN_PAUSED")));
    }

    #[test]
    fn a_call_that_needs_a_task_is_told_the_commands_that_begin_and_name_one() {
        let violation = Violation {
            pointer: NEEDS_TASK.to_owned(),
            rule: "required".to_owned(),
            description: contract::CREATE_TASK.to_owned(),
        };
        let text = in_words(&Refusal::InvalidRequest(vec![violation]).into(), REPEAT);
        assert!(text.contains("POST /v1/tasks") && text.ends_with(BEGIN_TASK), "{text}");
    }

    #[test]
    fn a_refusal_says_what_to_do_next() {
        let unknown = Refusal::UnknownTool { name: "get_qoutes".into(), near: vec!["get_quotes".into()] };
        let text = in_words(&unknown.into(), REPEAT);
        assert!(
            text.starts_with("error: NOT_FOUND: Unknown tool: get_qoutes. Did you mean get_quotes?\n"),
            "{text}"
        );
        assert!(text.contains("`toolwire list`"), "{text}");
        let decided = Refusal::MayNotDecide { why: "it is your own call".into() };
        assert!(in_words(&decided.into(), REPEAT).contains("`own_calls`"));
        let retry_after = std::time::Duration::from_secs(1);
        let text = in_words(&Refusal::TooManyRequestIds { retry_after }.into(), REPEAT);
        assert!(text.ends_with("Try again in 1 s."), "{text}");
    }
}
