//! Failures of tools in words: what went wrong, every rule that is broken, and what to do next.

use std::fmt::Write;

use prost_types::Duration;
use tonic::{Code, Status};

use super::{backend::Backend, words};
use toolwire_base::{clock, words::visible};
use toolwire_contract::proto::v1;
use toolwire_server::{
    client,
    console::{self, Failure},
    domain::{Domain, Offer},
};

/// Reports a missing definition, and returns the failure of the command. The tool may need `--diagnostics`, or be one
/// of a server that the command does not ask.
pub(super) fn no_definition(status: &Status, tool: &str, backend: &Backend, domains: &[Domain]) -> Failure {
    let failure = client::refusal(status);
    if status.code() == Code::NotFound && backend.is_own() {
        console::say("  No server was asked: --server or TOOLWIRE_SERVER names one.");
    }
    let offers = |domain: &&Domain| domain.tools.iter().any(|offered| offered.name() == tool);
    let on_request = domains.iter().filter(|domain| domain.offer == Offer::WithDiagnostics);
    if let Some(domain) = on_request.filter(|_| status.code() == Code::NotFound).find(offers) {
        let name = domain.name;
        console::say(&format!(
            "  {tool} is a tool of {name}: start the server with `toolwire serve --diagnostics`, or give --diagnostics to this \
             command where there is no server."
        ));
    }
    failure
}

/// A tool's error. `call` says how the tool was called.
pub(super) fn tool_error(error: &v1::ToolError, call: &Invoked<'_>) -> String {
    let mut text = format!("error: {}: {}", words::error_code(error.code()), headline(error, call));
    for violation in &error.field_violations {
        let pointer = if violation.pointer.is_empty() { "(arguments)" } else { &violation.pointer };
        line(&mut text, &format!("{pointer}  {}  {}", violation.rule, violation.description));
    }
    line(&mut text, &next_step(error, call));
    text
}

/// A call that a person must approve. `flags` are those by which another command finds it.
pub(super) fn confirmation(it: &v1::ConfirmationRequired, call: &Invoked<'_>, flags: &str) -> String {
    let mut text = format!("confirmation required: {}", visible(&it.summary));
    line(&mut text, &format!("confirmation_id {}", it.confirmation_id));
    if let Some(expires_at) = &it.expires_at {
        line(&mut text, &format!("expires at {expires_at}"));
    }
    line(&mut text, &format!("A user who may decide: {}", approve(it, flags)));
    line(&mut text, &format!("Once it is approved, call again with {}.", call.repeat()));
    text
}

/// A call whose user did not wait for its end. `call_id` is empty before it was accepted.
pub(super) fn report_left(call_id: &str, call: &Invoked<'_>) -> String {
    unfinished(format!("interrupted before {} ended", call.tool), call_id, call)
}

/// A call whose deadline passed before its end. `call_id` is empty before it was accepted.
pub(super) fn timed_out(call_id: &str, call: &Invoked<'_>) -> String {
    let text = format!("TIMEOUT: the deadline passed before {} ended", call.tool);
    if call.is_read {
        format!("{text}\n  Allow more time with --deadline.")
    } else {
        unfinished(text, call_id, call)
    }
}

fn unfinished(mut text: String, call_id: &str, call: &Invoked<'_>) -> String {
    if !call.is_read {
        line(&mut text, "A write that had begun goes on, and its outcome is not known.");
        line(&mut text, &format!("Ask for its outcome with {}: nothing is done twice.", call.repeat()));
    }
    if !call_id.is_empty() {
        line(&mut text, &format!("`toolwire calls {call_id}` shows what becomes of it."));
    }
    text
}

/// The command that approves a call.
pub(super) fn approve(it: &v1::ConfirmationRequired, flags: &str) -> String {
    let name = match it.consequence_level() {
        v1::ConsequenceLevel::High => format!(" --tool {}", it.tool),
        _ => String::new(),
    };
    format!("toolwire approve {}{name}{flags}", it.confirmation_id)
}

/// How a tool was called.
#[derive(Clone, Copy, Debug)]
pub(super) struct Invoked<'a> {
    pub(super) tool: &'a str,
    /// The identifier by which a repeat is recognised, if any.
    pub(super) request_id: Option<&'a str>,
    /// The task that it is made for, if any.
    pub(super) task: Option<&'a str>,
    /// Whether the tool only reads.
    pub(super) is_read: bool,
}

impl Invoked<'_> {
    fn repeat(self) -> String {
        let task = self.task.map_or_else(String::new, |task| format!(" --task {}", visible(task)));
        match self.request_id {
            Some(id) => format!("--request-id {id}{task}"),
            None if task.is_empty() => "the same arguments".to_owned(),
            None => format!("the same arguments and{task}"),
        }
    }
}

/// The message of broken arguments only repeats the list below it.
fn headline(error: &v1::ToolError, call: &Invoked<'_>) -> String {
    match error.field_violations.len() {
        0 => error.message.clone(),
        1 => format!("the arguments of {} break a rule", call.tool),
        many => format!("the arguments of {} break {many} rules", call.tool),
    }
}

fn next_step(error: &v1::ToolError, call: &Invoked<'_>) -> String {
    if error.field_violations.iter().any(|it| it.pointer.trim_start_matches('/') == client::NEEDS_TASK) {
        return client::BEGIN_TASK.to_owned();
    }
    match (error.code(), error.retryable, &error.retry_after) {
        (v1::ToolErrorCode::InvalidArgument, ..) => {
            format!("`toolwire describe {}` shows what it takes.", call.tool)
        }
        (v1::ToolErrorCode::OutcomeUnknown, true, _) => {
            format!("Ask for its outcome with {}: nothing is done twice.", call.repeat())
        }
        (v1::ToolErrorCode::OutcomeUnknown, ..) => {
            "Only if it was not done: call again under another --request-id.".to_owned()
        }
        (v1::ToolErrorCode::ParseError | v1::ToolErrorCode::ResultTooLarge, false, _) if !call.is_read => {
            "Look at what it was to change before you call it again.".to_owned()
        }
        (v1::ToolErrorCode::ParseError, false, _) => {
            "Other arguments may work; what the tool returns must be mended where it is served.".to_owned()
        }
        (_, true, Some(wait)) => format!("Try again in {} with {}.", seconds(wait), call.repeat()),
        (_, true, None) => format!("The same call may succeed later: repeat it with {}.", call.repeat()),
        (v1::ToolErrorCode::Cancelled, ..) if call.request_id.is_some() => {
            "Call again under another --request-id if the answer is still wanted.".to_owned()
        }
        (v1::ToolErrorCode::Cancelled, ..) => "Call again if the answer is still wanted.".to_owned(),
        (v1::ToolErrorCode::ConfirmationDenied, ..) => "Nothing was done.".to_owned(),
        (v1::ToolErrorCode::ConfirmationExpired, ..) => {
            "Nothing was done. To ask again, call under another --request-id.".to_owned()
        }
        (v1::ToolErrorCode::Unknown, false, _) => {
            "Its message, or the log of the program that serves it, says why.".to_owned()
        }
        (v1::ToolErrorCode::AuthFailed, false, _) => {
            "Sign in to the source, where `toolwire --help` has a command for that, or ask the operator."
                .to_owned()
        }
        (_, false, _) => {
            "The same call will fail again: change the arguments, or ask the operator.".to_owned()
        }
    }
}

fn seconds(duration: &Duration) -> String {
    let wait = std::time::Duration::try_from(*duration).unwrap_or_default();
    clock::wait_in_words(wait)
}

fn line(text: &mut String, more: &str) {
    let _ = write!(text, "\n  {more}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolwire_contract::{ErrorCode, ToolError, Violation, convert};

    const CALLED: Invoked<'static> =
        Invoked { tool: "get_performance", request_id: None, task: None, is_read: true };

    fn explained(error: ToolError) -> String {
        tool_error(&convert::tool_error(error), &CALLED)
    }

    #[test]
    fn every_violation_has_its_line() {
        let violation = |pointer: &str, rule: &str, description: &str| Violation {
            pointer: pointer.to_owned(),
            rule: rule.to_owned(),
            description: description.to_owned(),
        };
        let error = ToolError::invalid_arguments(vec![
            violation("/period", "enum", "must be 1Y or YTD; did you mean YTD?"),
            violation("", "required", "symbol is missing"),
        ]);
        let expected = "error: INVALID_ARGUMENT: the arguments of get_performance break 2 rules
  /period  enum  must be 1Y or YTD; did you mean YTD?
  (arguments)  required  symbol is missing
  `toolwire describe get_performance` shows what it takes.";
        assert_eq!(explained(error), expected);
    }

    #[test]
    fn a_tool_that_needs_a_task_is_told_the_commands() {
        let violation = Violation {
            pointer: "/context.task_id".to_owned(),
            rule: "required".to_owned(),
            description: "there is no workspace without a task".to_owned(),
        };
        assert!(explained(ToolError::invalid_arguments(vec![violation])).ends_with(client::BEGIN_TASK));
    }

    #[test]
    fn a_write_that_may_have_been_done_is_not_made_again_under_another_request_id() {
        let write = Invoked { request_id: Some("0196f1c2"), is_read: false, ..CALLED };
        let text = timed_out("01a2", &write);
        assert!(text.contains("Ask for its outcome with --request-id 0196f1c2"), "{text}");
        assert!(!text.contains("Allow more time"), "{text}");
        let done = convert::tool_error(ToolError::new(ErrorCode::ParseError, "The write was done."));
        assert!(tool_error(&done, &write).ends_with("before you call it again."));
    }

    #[test]
    fn an_end_of_a_read_says_nothing_of_a_write_whatever_its_request_id() {
        let parse_error = convert::tool_error(ToolError::new(ErrorCode::ParseError, "It is no JSON."));
        for read in [CALLED, Invoked { request_id: Some("0196f1c2"), ..CALLED }] {
            assert!(timed_out("01a2", &read).ends_with("Allow more time with --deadline."));
            let expected =
                "interrupted before get_performance ended\n  `toolwire calls 01a2` shows what becomes of it.";
            assert_eq!(report_left("01a2", &read), expected);
            assert!(tool_error(&parse_error, &read).ends_with("mended where it is served."));
        }
    }

    #[test]
    fn an_error_says_whether_and_when_to_try_again() {
        let limited = ToolError::new(ErrorCode::RateLimited, "Too many requests");
        let wait = std::time::Duration::from_millis(2500);
        let text = explained(limited.clone().with_retry_after(wait));
        assert_eq!(
            text,
            "error: RATE_LIMITED: Too many requests\n  Try again in 3 s with the same arguments."
        );
        assert!(explained(limited).contains("may succeed later"));
        assert!(explained(ToolError::not_found("No account 9")).contains("will fail again"));
        let failed = explained(ToolError::new(ErrorCode::Unknown, "order_status failed unexpectedly"));
        assert!(failed.ends_with("that serves it, says why.") && !failed.contains("arguments"), "{failed}");
    }

    #[test]
    fn a_write_is_repeated_under_its_request_id() {
        let error = convert::tool_error(ToolError::new(ErrorCode::Unavailable, "Not now"));
        let text = tool_error(&error, &Invoked { request_id: Some("r-1"), ..CALLED });
        assert!(text.ends_with("repeat it with --request-id r-1."), "{text}");
        let of_task = Invoked { request_id: Some("r-1"), task: Some("task_1"), ..CALLED };
        let text = tool_error(&error, &of_task);
        assert!(text.ends_with("repeat it with --request-id r-1 --task task_1."), "{text}");
    }

    #[test]
    fn the_outcome_of_a_write_is_asked_for_where_it_may_become_known_and_else_looked_at() {
        let called = Invoked { request_id: Some("r-1"), ..CALLED };
        let unknown = ToolError::new(ErrorCode::OutcomeUnknown, "Not known");
        let text = tool_error(&convert::tool_error(unknown.clone()), &called);
        assert!(
            text.ends_with("Ask for its outcome with --request-id r-1: nothing is done twice."),
            "{text}"
        );
        let ended = ToolError { retryable: false, ..unknown };
        let text = tool_error(&convert::tool_error(ended), &called);
        assert!(text.ends_with("Only if it was not done: call again under another --request-id."), "{text}");
    }
}
