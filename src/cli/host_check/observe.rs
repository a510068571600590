//! Calls as a check sees them.

use std::time::Duration;

use futures_util::StreamExt;
use serde_json::Value;
use tokio::time::timeout;
use tonic::{Code, Status};

use crate::backend::{Backend, Events, Invocation};
use toolwire_contract::proto::v1::{self, ToolErrorCode, call_event::Event, tool_result::Outcome};
use toolwire_engine::pipeline::Target;
use toolwire_tool::context::RequestId;

/// The bound on a call of a check that takes no time of its own.
const LIMIT: Duration = Duration::from_secs(30);

/// Makes the calls of checks.
#[derive(Debug)]
pub(super) struct Caller<'a> {
    backend: &'a Backend,
}

/// What came of a call.
#[derive(Debug, Default)]
pub(super) struct Observed {
    pub(super) progress: usize,
    pub(super) chunks: Vec<Value>,
    /// The data, or the code of the error.
    pub(super) end: Option<Result<Value, ToolErrorCode>>,
}

impl<'a> Caller<'a> {
    pub(super) fn new(backend: &'a Backend) -> Self {
        Self { backend }
    }

    /// The data of a call, or the code of its error.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: &Value,
    ) -> Result<Result<Value, ToolErrorCode>, String> {
        let observed = self.observe(tool, arguments, RequestId::generate(), LIMIT).await?;
        observed.end.ok_or_else(|| format!("{tool} ended without a result"))
    }

    /// Follows a call to its end.
    pub(super) async fn observe(
        &self,
        tool: &str,
        arguments: &Value,
        request_id: RequestId,
        deadline: Duration,
    ) -> Result<Observed, String> {
        let mut observed = Observed::default();
        let mut events = match self.begin(tool, arguments, request_id, deadline).await {
            Ok(events) => events,
            Err(status) => return observed.ended_by(&status),
        };
        while let Some(event) = events.next().await {
            match event {
                Ok(event) => observed.take(event)?,
                Err(status) => return observed.ended_by(&status),
            }
        }
        Ok(observed)
    }

    /// Begins a call and leaves it, which cancels it, once it has reported progress.
    pub(super) async fn leave(&self, tool: &str, arguments: &Value) -> Result<(), String> {
        let begun = self.begin(tool, arguments, RequestId::generate(), LIMIT).await;
        let mut events = begun.map_err(|status| describe_refusal(&status))?;
        let progress = async {
            while let Some(event) = events.next().await {
                match event.map_err(|status| describe_refusal(&status))?.event {
                    // Of a call that waits for a slot the server reports progress too.
                    Some(Event::Progress(it)) if !it.message.starts_with("Waiting for") => return Ok(()),
                    Some(Event::Result(_)) => break,
                    _ => {}
                }
            }
            Err(format!("{tool} ended before its first progress"))
        };
        timeout(Duration::from_secs(5), progress)
            .await
            .unwrap_or_else(|_| Err(format!("no progress of {tool} within 5 s: its slots are not free")))
    }

    async fn begin(
        &self,
        tool: &str,
        arguments: &Value,
        request_id: RequestId,
        deadline: Duration,
    ) -> Result<Events, Status> {
        let invocation = Invocation {
            target: Target::Tool(tool.to_owned()),
            arguments: arguments.to_string(),
            request_id: Some(request_id),
            task_id: None,
            session_id: None,
            wait_for_confirmation: None,
            require_confirmation: false,
            deadline: Some(deadline),
            result_format: v1::ResultFormat::Json,
            max_tokens: 0,
        };
        self.backend.invoke(invocation).await
    }
}

impl Observed {
    fn take(&mut self, event: v1::CallEvent) -> Result<(), String> {
        match event.event {
            Some(Event::Progress(_)) => self.progress += 1,
            Some(Event::Chunk(chunk)) => self.chunks.push(json(&chunk.data_json)?),
            Some(Event::Result(result)) => self.end = Some(end(result.outcome)?),
            Some(Event::ConfirmationRequired(it)) => {
                return Err(format!("a person must approve {} first; offer it without that", it.tool));
            }
            _ => {}
        }
        Ok(())
    }

    /// A deadline may end a call before its host does.
    fn ended_by(mut self, status: &Status) -> Result<Self, String> {
        if status.code() != Code::DeadlineExceeded {
            return Err(describe_refusal(status));
        }
        self.end = Some(Err(ToolErrorCode::Timeout));
        Ok(self)
    }
}

fn end(outcome: Option<Outcome>) -> Result<Result<Value, ToolErrorCode>, String> {
    match outcome {
        Some(Outcome::DataJson(text)) => json(&text).map(Ok),
        Some(Outcome::Error(error)) => Ok(Err(error.code())),
        other => Err(format!("the result has no data: {other:?}")),
    }
}

fn describe_refusal(status: &Status) -> String {
    format!("refused with {:?}: {}", status.code(), status.message())
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("the data is not JSON: {error}"))
}
