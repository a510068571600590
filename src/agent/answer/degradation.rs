//! The reply if calls or the model failed and nothing is left to answer from: why, and what to do about it.
//!
//! Advice for people. Not here: what a model should do ([`toolwire_contract::ToolError::advice`]).

use super::{
    Response,
    embedded::{notes, quote::quote},
};
use toolwire_contract::ErrorCode;
use toolwire_planner::ExecutedCall;

/// The first sentence of such a reply.
const DEGRADED: &str = "I could not retrieve the data needed to answer.";

/// The question back where another message may help.
const DOUBLE_CHECK: &str = "Can you double-check the request or try a different symbol?";

/// The advice if no call failed: the planner or the answerer did.
const MODEL_FAILED: &str = "Nothing is wrong with the question: ask again later.";

/// The reply to a message of which no call succeeded. `title` is that of a tool, which distinguishes several failures.
pub fn degraded<'a>(made: &'a [ExecutedCall], title: impl Fn(&'a str) -> &'a str) -> Response {
    let failed: Vec<_> = made.iter().filter_map(|made| Some((made, notes::reason(made)?))).collect();
    let is_one_reason = failed.iter().all(|(_, reason)| *reason == failed[0].1);
    let (mut sentences, mut advice) = (vec![DEGRADED.to_owned()], Vec::new());
    for (made, reason) in &failed {
        let named = || format!("{}: {reason}", quote(title(&made.call.tool)));
        push_new(&mut sentences, if is_one_reason { reason.clone() } else { named() });
        advice.extend(made.result.outcome.as_ref().err().and_then(|error| advise(error.code)));
    }
    if failed.is_empty() {
        advice.push(MODEL_FAILED);
    }
    // Advice takes precedence: the question asks for another message, though the message is not at fault.
    let question = advice.is_empty().then(|| DOUBLE_CHECK.to_owned());
    for next in advice {
        push_new(&mut sentences, next.to_owned());
    }
    let words = sentences.join(" ");
    match question {
        Some(question) => Response::clarify(words, question),
        None => Response::new_checked(words, Vec::new(), 0.0),
    }
}

/// Calls of one step often fail for the same reason, which is said once.
fn push_new(sentences: &mut Vec<String>, sentence: String) {
    if !sentences.contains(&sentence) {
        sentences.push(sentence);
    }
}

/// What to do after a failure that is not about the message. `None` where another message may help.
const fn advise(code: ErrorCode) -> Option<&'static str> {
    Some(match code {
        ErrorCode::Timeout => "It took too long. Nothing is wrong with the question: ask again.",
        ErrorCode::Unavailable | ErrorCode::RateLimited | ErrorCode::ParseError => {
            "Nothing is wrong with the question: ask again later."
        }
        ErrorCode::Cancelled => "It was cancelled before it ended: ask again.",
        ErrorCode::AuthFailed | ErrorCode::Blocked => {
            "The source refuses this server's requests: tell the operator."
        }
        ErrorCode::PermissionDenied => "You may not call this tool: ask an operator for access.",
        ErrorCode::OutcomeUnknown => "It is unknown whether it was done: look before you ask again.",
        ErrorCode::ConfirmationDenied => "It was denied, and nothing was done.",
        ErrorCode::ConfirmationExpired => "It was not decided in time, and nothing was done: ask again.",
        ErrorCode::Unknown => "Nothing is wrong with the question: if it fails again, tell the operator.",
        ErrorCode::Conflict => "Look at its present state before you ask again.",
        ErrorCode::ResultTooLarge => "Ask for less at once.",
        ErrorCode::NotFound | ErrorCode::InvalidArgument => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::SystemTime};

    use strum::VariantArray as _;

    use super::*;
    use toolwire_contract::{Provenance, ToolError, ToolResult};
    use toolwire_planner::PlannedCall;

    fn failed(code: ErrorCode, message: &str) -> ExecutedCall {
        let result = ToolResult {
            tool: "t".parse().unwrap(),
            fetched_at: SystemTime::UNIX_EPOCH,
            outcome: Err(ToolError::new(code, message)),
            provenance: Provenance::default(),
            kept: None,
        };
        ExecutedCall { call: PlannedCall::default(), result: Arc::new(result) }
    }

    #[test]
    fn what_failed_is_said_with_what_to_do_about_it() {
        let blocked = failed(ErrorCode::Blocked, "Board is blocking requests.");
        let response = degraded(&[blocked.clone(), blocked], |tool| tool);
        let expected = "I could not retrieve the data needed to answer. Board is blocking requests. \
                        The source refuses this server's requests: tell the operator.";
        assert_eq!((response.answer_markdown.as_str(), response.needs_clarification), (expected, false));
        assert!(degraded(&[], |tool| tool).answer_markdown.ends_with(MODEL_FAILED));
    }

    #[test]
    fn another_symbol_is_asked_for_only_where_the_message_is_what_is_wrong() {
        let about_the_message = [ErrorCode::NotFound, ErrorCode::InvalidArgument];
        for code in ErrorCode::VARIANTS {
            let question = degraded(&[failed(*code, "no")], |tool| tool).clarifying_question;
            assert_eq!(question.is_some(), about_the_message.contains(code), "{code:?}");
        }
        let both = [failed(ErrorCode::NotFound, "no X"), failed(ErrorCode::Timeout, "late")];
        let response = degraded(&both, |_| "Tool");
        assert_eq!(response.clarifying_question, None);
        assert!(response.answer_markdown.contains("Tool: no X. Tool: late."), "{}", response.answer_markdown);
    }
}
