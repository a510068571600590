//! What a run is asked: AG-UI's `RunAgentInput`. Members that we have no use for are let be, as the protocol wants it:
//! `state`, `tools`, `context`.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    context::{RequestId, SessionId},
    contract::Refusal,
    faces::specified::{
        body::Object,
        said::{self, Said},
    },
    service::request::{self, refuse},
};

/// The longest name of a run, in characters.
const LONGEST_RUN: usize = 128;

/// The most interrupts that one run answers.
const MOST_RESUMED: usize = 16;

/// What a run is asked.
#[derive(Debug)]
pub(super) struct Input {
    /// The conversation.
    pub(super) thread: SessionId,
    /// The run, as its caller names it.
    pub(super) run_id: String,
    /// What is said.
    pub(super) said: Said,
    /// The messages as they came.
    pub(super) messages: Vec<Value>,
    /// What is answered to the interrupts of the run before, by their names. Empty: a new turn.
    pub(super) resume: BTreeMap<String, Answer>,
    /// The account that is meant where the message names none.
    pub(super) account: String,
}

/// What is answered to an interrupt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The call may be carried out.
    Approved {
        /// The tool's name as the person typed it.
        tool: String,
        /// Why.
        reason: String,
    },
    /// It must not be.
    Denied {
        /// Why.
        reason: String,
    },
    /// It was decided elsewhere.
    Elsewhere,
}

impl Input {
    /// Reads the body of a run.
    pub(super) fn read(mut body: Object) -> Result<Self, Refusal> {
        let thread = body.text("threadId")?;
        let thread = request::session_id("threadId", &thread)?.unwrap_or_else(fresh);
        let run_id = Some(body.text("runId")?).filter(|id| !id.is_empty());
        let run_id = run_id.unwrap_or_else(|| RequestId::generate().to_string());
        if run_id.chars().count() > LONGEST_RUN {
            let what = format!("must have at most {LONGEST_RUN} characters");
            return Err(refuse("runId", "max_length", &what));
        }
        let messages = body.list("messages")?;
        let said = said::read("messages", &messages)?;
        let resume = resume(body.list("resume")?)?;
        if resume.is_empty() && said.question.is_empty() {
            return Err(refuse("messages", "required", "must hold a text of the user's"));
        }
        let mut account = body.text("account")?;
        if let Some(mut forwarded) = body.object("forwardedProps")? {
            let of_props = forwarded.text("account")?;
            if account.is_empty() {
                account = of_props;
            }
        }
        Ok(Self { thread, run_id, said, messages, resume, account })
    }
}

fn fresh() -> SessionId {
    RequestId::generate().to_string().parse().expect("a UUID is short enough")
}

fn resume(entries: Vec<Value>) -> Result<BTreeMap<String, Answer>, Refusal> {
    if entries.len() > MOST_RESUMED {
        return Err(refuse("resume", "max_items", &format!("must have at most {MOST_RESUMED} elements")));
    }
    let entry = |(at, value)| entry(&format!("resume[{at}]"), value);
    entries.into_iter().enumerate().map(entry).collect()
}

fn entry(path: &str, value: Value) -> Result<(String, Answer), Refusal> {
    let mut entry = Object::of(path.to_owned(), value)?;
    let id = entry.text("interruptId")?;
    let reason = |reason: String, else_: &str| if reason.is_empty() { else_.to_owned() } else { reason };
    let answer = match entry.text("status")?.as_str() {
        "cancelled" => Answer::Denied { reason: "its caller gave it up".to_owned() },
        "resolved" => match entry.object("payload")? {
            None => Answer::Elsewhere,
            Some(mut payload) => {
                let (tool, said) = (payload.text("tool")?, payload.text("reason")?);
                match payload.take("approved") {
                    None => Answer::Elsewhere,
                    Some(Value::Bool(true)) => Answer::Approved { tool, reason: said },
                    Some(Value::Bool(false)) => {
                        Answer::Denied { reason: reason(said, "its caller denied it") }
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

    fn read(value: Value) -> Result<Input, Refusal> {
        Input::read(Object::of(String::new(), value).unwrap())
    }

    #[test]
    fn what_other_agents_use_is_let_be() {
        let input = read(json!({
            "threadId": "t", "runId": "r", "state": {"x": 1}, "tools": [{"name": "alert"}], "context": [],
            "messages": [{"id": "1", "role": "user", "content": "Hello"}],
            "forwardedProps": {"account": "Savings", "other": 1},
        }))
        .unwrap();
        assert_eq!((input.thread.as_str(), input.run_id.as_str()), ("t", "r"));
        assert_eq!((input.said.question.as_str(), input.account.as_str()), ("Hello", "Savings"));
        assert!(input.resume.is_empty());
    }

    #[test]
    fn an_interrupt_is_approved_denied_or_decided_elsewhere() {
        let answer = |entry: Value| read(json!({"resume": [entry]})).unwrap().resume.remove("c").unwrap();
        let resolved = |payload: Value| json!({"interruptId": "c", "status": "resolved", "payload": payload});
        let approved = Answer::Approved { tool: "debug_confirm".to_owned(), reason: String::new() };
        assert_eq!(answer(resolved(json!({"approved": true, "tool": "debug_confirm"}))), approved);
        assert_eq!(
            answer(resolved(json!({"approved": false, "reason": "no"}))),
            Answer::Denied { reason: "no".to_owned() }
        );
        assert_eq!(answer(resolved(json!(null))), Answer::Elsewhere);
        let given_up = answer(json!({"interruptId": "c", "status": "cancelled"}));
        assert!(matches!(given_up, Answer::Denied { .. }));
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
