//! What is recorded of a call, for the user who made the call, and for users who may read the records of others.

use std::time::SystemTime;

use super::{Calls, Record};
use toolwire_config::RecordLevel;
use toolwire_contract::ToolResult;
use toolwire_engine::{
    pipeline::frame,
    recordings::{Contents, Found, Missing},
};
use toolwire_tool::context::User;

const NESTED: &str = "calls that tools make are not recorded: the call that made this one is";
const NOT_ALLOWED: &str = "what is recorded is for the user who made the call, and for users with the right read_records for the tool";
const RUNS: &str = "a call is recorded when it ends";
const GONE: &str = "nothing is recorded of this call, or no longer: recordings are kept for 24 h, and the newest 10,000 \
                    and 64 MiB of a user; a call that is refused before it is checked is not recorded";
const PENDING: &str = "recordings of the last calls are still being written: ask again";
const UNREADABLE: &str = "what is recorded of this call cannot be read: no key of [calls] keys opens it";
const UNAVAILABLE: &str = "what is recorded of this call cannot be read now: the state is unavailable";
const LARGE_ARGUMENTS: &str = "the arguments are not recorded: they have more than 256 KiB";
const LARGE_RESULT: &str = "the result is not recorded: it has more than 256 KiB";
const SENSITIVE: &str =
    "the result is not recorded: the call was given a sensitive argument, which the result may repeat";
const NO_RESULT: &str = "the call ended without a result";

/// What is recorded of a call as one user reads it.
#[derive(Clone, Debug, Default)]
pub struct RecordingView {
    /// The arguments as JSON text; empty if there are none for this user.
    pub arguments: String,
    pub result: Option<ToolResult>,
    /// Until when these are kept.
    pub expires_at: Option<SystemTime>,
    /// Why something is missing, for people; empty if nothing is.
    pub note: String,
}

impl RecordingView {
    fn none(note: impl Into<String>) -> Self {
        Self { note: note.into(), ..Self::default() }
    }
}

impl Calls {
    /// What is recorded of a call that the user may see. `has_result`: whether its outcome is kept otherwise.
    pub async fn recording(&self, user: &User, record: &Record, has_result: bool) -> RecordingView {
        let snapshot = self.0.registry.snapshot();
        let (tool, is_own) = (&record.tool, record.user == user.id.as_str());
        if !is_own && !self.0.policy.may_read_records(user, snapshot.rule_target(tool)) {
            return RecordingView::none(NOT_ALLOWED);
        }
        let found = match record.user.parse() {
            Ok(caller) => self.0.recorder.find(&caller, record.call_id, tool).await,
            Err(_) => Ok(Found::Nothing),
        };
        match found {
            Ok(Found::Recording { contents, expires_at }) => {
                let Contents { arguments, result } = *contents;
                let note = [
                    arguments.as_ref().err().map(|_| LARGE_ARGUMENTS.to_owned()),
                    result
                        .as_ref()
                        .err()
                        .filter(|_| !has_result)
                        .map(|missing| why_no_result(*missing, tool)),
                ];
                let untrusted = snapshot.get(tool).is_some_and(|tool| tool.definition.untrusted);
                RecordingView {
                    arguments: arguments.unwrap_or_default(),
                    result: result.ok().map(|result| frame::response(result, untrusted)),
                    expires_at: Some(expires_at),
                    note: note.into_iter().flatten().collect::<Vec<_>>().join("; "),
                }
            }
            Ok(Found::Pending) if self.why_nothing(record) == GONE => RecordingView::none(PENDING),
            Ok(Found::Nothing | Found::Pending) => RecordingView::none(self.why_nothing(record)),
            Ok(Found::Unreadable) => RecordingView::none(UNREADABLE),
            // The call itself may be known without the state.
            Err(error) => {
                tracing::warn!(%error, call_id = %record.call_id, "what is recorded of a call cannot be read");
                RecordingView::none(UNAVAILABLE)
            }
        }
    }

    /// Why nothing is recorded of a call.
    fn why_nothing(&self, record: &Record) -> String {
        if !record.parent_call_id.is_empty() {
            return NESTED.to_owned();
        }
        let tool = &record.tool;
        let snapshot = self.0.registry.snapshot();
        let definition = snapshot.get(tool).map(|it| &it.definition);
        match definition.map(|it| (self.0.recorder.level(it), it.record)) {
            Some((RecordLevel::None, Some(RecordLevel::None))) => {
                format!(
                    "arguments and results are not recorded: the manifest of {tool} says record = none; without that, \
                     [calls] record = \"arguments\" or \"all\" records them"
                )
            }
            Some((RecordLevel::None, _)) => format!(
                "arguments and results are not recorded; an operator records them by [calls] record = \"arguments\" or \
                 \"all\", or those of this tool by [calls.tools.{tool}], with [calls] keys that seal them"
            ),
            Some(_) if record.ended_at.is_none() => RUNS.to_owned(),
            _ => GONE.to_owned(),
        }
    }
}

fn why_no_result(missing: Missing, tool: &str) -> String {
    match missing {
        Missing::TooLarge => LARGE_RESULT.to_owned(),
        Missing::MayBeSensitive => SENSITIVE.to_owned(),
        Missing::None => NO_RESULT.to_owned(),
        Missing::NotRecorded => format!(
            "the result is not recorded; an operator records results by [calls] record = \"all\", or those of this tool \
             by [calls.tools.{tool}]"
        ),
    }
}
