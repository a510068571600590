//! The input of a run: AG-UI's `RunAgentInput`. Members without a meaning here (`state`, `tools`, `context`) are
//! skipped and not parsed, as the protocol wants it, so that no run fails because of them.

use std::collections::BTreeMap;

use serde_json::{Value, value::RawValue};

use crate::faces::spec_routes::chat_input::{self, ChatInput};
use toolwire_contract::Refusal;
use toolwire_server::{
    faces::http::json_body::{Object, Text},
    service::request::{self, refuse},
};
use toolwire_tool::context::{RequestId, SessionId};

/// Maximum length of the identifier of a run, in characters.
const MAX_RUN_LENGTH: usize = 128;

/// Maximum number of interrupts that one run answers.
const MAX_RESUMED: usize = 16;

/// Maximum size of the messages that a run returns, in bytes. A client has its messages anyway, and memory for all
/// concurrent runs is scarce.
const MAX_ECHO: usize = 1024 * 1024;

/// The members that a run reads, beside its messages.
const READ: [&str; 6] = ["action", "threadId", "runId", "resume", "account", "forwardedProps"];

#[derive(Debug)]
pub(super) struct Input {
    pub(super) thread: SessionId,
    /// The run, as its caller names it.
    pub(super) run_id: String,
    pub(super) said: ChatInput,
    /// The messages as they came; `None` if they are too large to be returned.
    pub(super) messages: Option<Vec<Value>>,
    /// The answers to the interrupts of the run before, by interrupt. Empty: a new turn.
    pub(super) resume: BTreeMap<String, InterruptAnswer>,
    /// The account, where the message names none.
    pub(super) account: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum InterruptAnswer {
    /// The call may be carried out.
    Approved {
        /// The tool's name as the person typed it.
        tool: String,
        reason: String,
    },
    /// The call must not be carried out.
    Denied { reason: String },
    /// The decision was made elsewhere, or not yet.
    Elsewhere,
}

impl Input {
    /// Reads the body of a run.
    pub(super) fn read(text: &Text) -> Result<Self, Refusal> {
        let (body, messages) = text.split(|name| READ.contains(&name))?;
        Self::of(body, messages)
    }

    /// Reads the body of an action, which must be the only one.
    pub(super) fn of_action(text: &Text, action: &str) -> Result<Option<Self>, Refusal> {
        let (mut body, messages) = text.split(|name| READ.contains(&name))?;
        if body.text("action")? != action {
            return Ok(None);
        }
        Self::of(body, messages).map(Some)
    }

    fn of(mut body: Object, messages: Option<&RawValue>) -> Result<Self, Refusal> {
        let thread = body.text("threadId")?;
        let thread = request::session_id("threadId", &thread)?.unwrap_or_else(fresh);
        let run_id = Some(body.text("runId")?).filter(|id| !id.is_empty());
        let run_id = run_id.unwrap_or_else(|| RequestId::generate().to_string());
        if run_id.chars().count() > MAX_RUN_LENGTH {
            let what = format!("must have at most {MAX_RUN_LENGTH} characters");
            return Err(refuse("runId", "max_length", &what));
        }
        let said = chat_input::read("messages", messages)?;
        let resume = resume(body.list("resume")?)?;
        if resume.is_empty() && said.question.is_empty() {
            return Err(refuse("messages", "required", "must hold a text of the user's"));
        }
        let mut account = body.text("account")?;
        if let Some(Value::Object(forwarded)) = body.take("forwardedProps")
            && let Some(Value::String(of_props)) = forwarded.get("account")
            && account.is_empty()
        {
            account.clone_from(of_props);
        }
        Ok(Self { thread, run_id, said, messages: echo(messages), resume, account })
    }
}

/// The messages, to be returned as they came.
fn echo(messages: Option<&RawValue>) -> Option<Vec<Value>> {
    let Some(messages) = messages else { return Some(Vec::new()) };
    if messages.get().len() > MAX_ECHO {
        return None;
    }
    serde_json::from_str(messages.get()).ok()
}

fn fresh() -> SessionId {
    RequestId::generate().to_string().parse().expect("a UUID is short enough")
}

fn resume(entries: Vec<Value>) -> Result<BTreeMap<String, InterruptAnswer>, Refusal> {
    if entries.len() > MAX_RESUMED {
        return Err(refuse("resume", "max_items", &format!("must have at most {MAX_RESUMED} elements")));
    }
    let entry = |(at, value)| entry(&format!("resume[{at}]"), value);
    entries.into_iter().enumerate().map(entry).collect()
}

fn entry(path: &str, value: Value) -> Result<(String, InterruptAnswer), Refusal> {
    let mut entry = Object::of(path.to_owned(), value)?;
    let id = entry.text("interruptId")?;
    let reason = |reason: String, else_: &str| if reason.is_empty() { else_.to_owned() } else { reason };
    let answer = match entry.text("status")?.as_str() {
        "cancelled" => InterruptAnswer::Denied { reason: "its caller gave it up".to_owned() },
        "resolved" => match entry.object("payload")? {
            None => InterruptAnswer::Elsewhere,
            Some(mut payload) => {
                let (tool, said) = (payload.text("tool")?, payload.text("reason")?);
                match payload.take("approved") {
                    None => InterruptAnswer::Elsewhere,
                    Some(Value::Bool(true)) => InterruptAnswer::Approved { tool, reason: said },
                    Some(Value::Bool(false)) => {
                        InterruptAnswer::Denied { reason: reason(said, "its caller denied it") }
                    }
                    Some(_) => {
                        return Err(refuse(&payload.path("approved"), "type", "must be true or false"));
                    }
                }
            }
        },
        _ => return Err(refuse(&entry.path("status"), "enum", "must be resolved or cancelled")),
    };
    Ok((id, answer))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[allow(clippy::needless_pass_by_value, reason = "what `json!` makes")]
    fn read(value: Value) -> Result<Input, Refusal> {
        Input::read(&Text::of(value.to_string()))
    }

    #[test]
    fn what_other_agents_use_is_let_be() {
        let input = read(json!({
            "threadId": "t", "runId": "r", "state": {"x": nested(200)}, "tools": [{"name": "alert"}], "context": 1,
            "messages": [{"id": "1", "role": "user", "content": "Hello"}],
            "forwardedProps": {"account": "Savings", "other": 1},
        }))
        .unwrap();
        assert_eq!((input.thread.as_str(), input.run_id.as_str()), ("t", "r"));
        assert_eq!((input.said.question.as_str(), input.account.as_str()), ("Hello", "Savings"));
        assert!(input.resume.is_empty());
    }

    fn nested(levels: usize) -> Value {
        (0..levels).fold(json!(1), |inner, _| json!([inner]))
    }

    #[test]
    fn messages_that_cannot_be_given_back_are_not() {
        let echo = |content: Value| {
            let messages =
                json!([{"role": "assistant", "content": content}, {"role": "user", "content": "a"}]);
            read(json!({"messages": messages})).unwrap().messages.map(|messages| messages.len())
        };
        assert_eq!(echo(json!("Hi")), Some(2));
        assert_eq!(echo("x".repeat(MAX_ECHO).into()), None);
        assert_eq!(echo(nested(500)), None);
    }

    #[test]
    fn an_interrupt_is_approved_denied_or_decided_elsewhere() {
        let answer = |entry: Value| read(json!({"resume": [entry]})).unwrap().resume.remove("c").unwrap();
        let resolved = |payload: Value| json!({"interruptId": "c", "status": "resolved", "payload": payload});
        let approved = InterruptAnswer::Approved { tool: "debug_confirm".to_owned(), reason: String::new() };
        assert_eq!(answer(resolved(json!({"approved": true, "tool": "debug_confirm"}))), approved);
        assert_eq!(
            answer(resolved(json!({"approved": false, "reason": "no"}))),
            InterruptAnswer::Denied { reason: "no".to_owned() }
        );
        assert_eq!(answer(resolved(json!(null))), InterruptAnswer::Elsewhere);
        let given_up = answer(json!({"interruptId": "c", "status": "cancelled"}));
        assert!(matches!(given_up, InterruptAnswer::Denied { .. }));
    }

    #[test]
    fn nothing_to_answer_is_refused() {
        for wrong in [
            json!({}),
            json!({"messages": [{"role": "assistant", "content": "Hi"}]}),
            json!({"messages": "hello"}),
            json!({"resume": [{"interruptId": "c", "status": "maybe"}]}),
            json!({"runId": "x".repeat(129), "messages": [{"role": "user", "content": "a"}]}),
        ] {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
