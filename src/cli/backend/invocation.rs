//! An invocation and its outcome.

use std::time::Duration;

use futures_util::{StreamExt, stream::BoxStream};
use tonic::{Code, Request, Status};

use super::Backend;
use toolwire_contract::{Refusal, convert, proto::v1};
use toolwire_engine::pipeline::Target;
use toolwire_tool::context::{RequestId, SessionId, TaskLabel};

/// No time-out on the wire is longer.
const FOREVER: Duration = Duration::from_hours(99_999_999);

/// A call to make.
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    /// The tool or intent to call.
    pub(crate) target: Target,
    /// The arguments as JSON text.
    pub(crate) arguments: String,
    /// Recognises a repeat.
    pub(crate) request_id: Option<RequestId>,
    /// The task on whose behalf it is made.
    pub(crate) task_id: Option<TaskLabel>,
    /// The session it belongs to.
    pub(crate) session_id: Option<SessionId>,
    /// Maximum wait for a person.
    pub(crate) wait_for_confirmation: Option<Duration>,
    /// Whether a person must approve it although its definition does not demand it.
    pub(crate) require_confirmation: bool,
    /// Maximum duration of the call.
    pub(crate) deadline: Option<Duration>,
    /// The form of its result.
    pub(crate) result_format: v1::ResultFormat,
    /// Maximum number of tokens of text for a model; 0 for the default.
    pub(crate) max_tokens: u32,
}

/// The events of a call. Dropping it cancels the call.
pub(crate) type Events = BoxStream<'static, Result<v1::CallEvent, Status>>;

impl Backend {
    /// Makes a call.
    pub(crate) async fn invoke(&self, invocation: Invocation) -> Result<Events, Status> {
        let deadline = invocation.deadline;
        let mut request = Request::new(message(invocation));
        if let Some(deadline) = deadline {
            request.set_timeout(deadline.min(FOREVER));
        }
        let responses = self.tools().invoke_tool(request).await.map_err(own_timer)?;
        let events = self.events(responses, |response| response.event);
        Ok(events.map(|event| event.map_err(own_timer)).boxed())
    }
}

fn message(invocation: Invocation) -> v1::InvokeToolRequest {
    use v1::invoke_tool_request as wire;
    let target = match invocation.target {
        Target::Tool(name) => wire::Target::Tool(name),
        Target::Intent(intent) => wire::Target::Intent(intent),
    };
    let context = v1::ToolContext {
        task_id: invocation.task_id.map(|id| id.to_string()).unwrap_or_default(),
        session_id: invocation.session_id.map(|id| id.to_string()).unwrap_or_default(),
        ..v1::ToolContext::default()
    };
    v1::InvokeToolRequest {
        target: Some(target),
        input: Some(wire::Input::ArgumentsJson(invocation.arguments)),
        context: Some(context),
        request_id: invocation.request_id.map(|id| id.to_string()).unwrap_or_default(),
        result_format: invocation.result_format.into(),
        max_tokens: invocation.max_tokens,
        wait_for_confirmation: invocation.wait_for_confirmation.map(convert::duration),
        require_confirmation: invocation.require_confirmation,
        ..v1::InvokeToolRequest::default()
    }
}

/// The channel watches grpc-timeout too, and calls its own timer a cancellation.
fn own_timer(status: Status) -> Status {
    match status.code() {
        Code::Cancelled if status.message() == "Timeout expired" => {
            Status::deadline_exceeded(Refusal::DeadlineExceeded.to_string())
        }
        _ => status,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use v1::invoke_tool_request as wire;

    #[test]
    fn a_call_by_intent_becomes_the_request_with_exact_arguments() {
        let invocation = Invocation {
            target: Target::Intent("performance".to_owned()),
            arguments: r#"{"n":9007199254740993}"#.to_owned(),
            request_id: None,
            task_id: Some("t-1".parse().unwrap()),
            session_id: Some("s-1".parse().unwrap()),
            wait_for_confirmation: None,
            require_confirmation: true,
            deadline: None,
            result_format: v1::ResultFormat::Json,
            max_tokens: 0,
        };
        let request = message(invocation);
        let context = request.context.as_ref().unwrap();
        assert_eq!((context.task_id.as_str(), context.session_id.as_str()), ("t-1", "s-1"));
        assert_eq!(request.target, Some(wire::Target::Intent("performance".to_owned())));
        assert_eq!(request.input, Some(wire::Input::ArgumentsJson("{\"n\":9007199254740993}".to_owned())));
        assert_eq!((request.request_id.as_str(), request.result_format()), ("", v1::ResultFormat::Json));
        assert!(request.require_confirmation);
    }
}
