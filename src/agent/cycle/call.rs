//! One call of a cycle: through the pipeline, with its events, and retried once if only its end may have been lost.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::time::Instant;

use crate::{TurnId, log::Log};
use toolwire_base::clock;
use toolwire_contract::{
    ConfirmationRequired, Event, Provenance, Refusal, Terminal, ToolError, ToolResult,
    arguments::Arguments,
    convert::{self, ResultFormat},
    proto::{
        agent::v1::{
            self as agent, CallAction, ToolCallFinished, ToolCallProgress, ToolCallStarted,
            tool_call_finished::Outcome, turn_event::Event as LogEvent,
        },
        v1,
    },
};
use toolwire_engine::{
    pipeline::{Call, CallOptions, Pipeline, Step, Target, error_of_refusal},
    registry::{Category, RegisteredTool},
};
use toolwire_planner::{
    Offer, PlannedCall,
    policy::{OnError, action, on_error},
};
use toolwire_sources::upstream::source_status::SourceBudget;
use toolwire_telemetry::milliseconds;
use toolwire_tool::context::{CallId, Cancellation, Lineage, Pins, RequestId, ToolContext};

/// Makes the calls of a step.
#[derive(Debug)]
pub(crate) struct Caller<'a> {
    pub(crate) pipeline: &'a Arc<Pipeline>,
    /// The user and session of the calls.
    pub(crate) context: &'a ToolContext,
    pub(crate) turn_id: TurnId,
    pub(crate) offer: &'a Offer,
    pub(crate) log: &'a Log,
    /// The number of their plan.
    pub(crate) step: u32,
    /// Whether a person must confirm every call that is not a read.
    pub(crate) tainted: bool,
    /// The instant by which they end.
    pub(crate) until: Instant,
    /// Maximum number of concurrent calls.
    pub(crate) concurrency: usize,
    /// The budget of one user at each source.
    pub(crate) budgets: &'a [SourceBudget],
    /// Whether the log shows arguments.
    pub(crate) log_arguments: bool,
    /// The most tokens of a result that a model is shown, which reads on in longer ones. `None` without a model.
    pub(crate) result_tokens: Option<u64>,
}

/// How a call ended.
#[derive(Debug)]
pub(crate) enum End {
    /// With data or an error.
    Result { call_id: String, result: Arc<ToolResult> },
    /// A person must approve it first.
    Awaits { call_id: String, required: Box<ConfirmationRequired> },
}

/// A call whose start is in the log. Its end is logged too, even if the call is dropped.
struct StartedCall<'a> {
    log: &'a Log,
    call_id: CallId,
    tool: &'a RegisteredTool,
    began: Instant,
    is_over: bool,
}

impl Caller<'_> {
    /// Makes a call, and returns its index among those of its step with its end: calls end in any order.
    pub(super) fn make_numbered<'b>(
        &'b self,
        at: usize,
        planned: &'b PlannedCall,
        request_id: RequestId,
    ) -> BoxFuture<'b, (usize, End)> {
        Box::pin(async move { (at, self.call(planned, request_id).await) })
    }

    /// Makes a call, and repeats it once if only its end may have been lost: with the same identifier, so that a write
    /// is not done twice.
    async fn call(&self, planned: &PlannedCall, request_id: RequestId) -> End {
        let mut is_last = false;
        loop {
            let end = self.call_once(planned, request_id, is_last).await;
            match &end {
                End::Result { result, .. } if !is_last && is_worth_repeating(result) => is_last = true,
                End::Result { .. } | End::Awaits { .. } => return end,
            }
        }
    }

    async fn call_once(&self, planned: &PlannedCall, request_id: RequestId, is_last: bool) -> End {
        let tool = self.offer.get(&planned.tool).expect("only offered tools are called");
        let call = self.build_call(tool, planned, request_id);
        let call_id = call.context.call_id;
        let mut started = StartedCall { log: self.log, call_id, tool, began: clock::now(), is_over: false };
        let params = if self.log_arguments {
            text(&tool.input.mask(&planned.arguments))
        } else {
            "[redacted]".to_owned()
        };
        tracing::info!(target: "toolwire::agent", component = component(tool), params, "tool_params");
        self.log.tell(LogEvent::ToolCallStarted(ToolCallStarted {
            call_id: call_id.to_string(),
            step: self.step,
            tool: planned.tool.clone(),
            component: component(tool).to_owned(),
            arguments: None,
            arguments_json: text(&planned.arguments),
            request_id: call.request_id.map(|id| id.to_string()).unwrap_or_default(),
        }));
        let terminal = match self.carry_out(call).await {
            Ok(terminal) => terminal,
            Err(refusal) => Terminal::Result(started.failure(error_of_refusal(&refusal))),
        };
        match terminal {
            Terminal::Result(result) => {
                started.end(&result, is_last);
                End::Result { call_id: call_id.to_string(), result: Arc::new(result) }
            }
            Terminal::ConfirmationRequired(required) => {
                started.awaits((*required).clone());
                End::Awaits { call_id: call_id.to_string(), required }
            }
        }
    }

    /// The call: an ordinary one, of the turn's user and session.
    fn build_call(&self, tool: &RegisteredTool, planned: &PlannedCall, request_id: RequestId) -> Box<Call> {
        let call_id = CallId::generate();
        let pins = Pins::default();
        pins.get_or_pin(|| Arc::clone(self.offer.snapshot()));
        let context = ToolContext {
            call_id,
            lineage: Lineage::of(call_id),
            cancellation: Cancellation::new(),
            deadline: self.context.deadline.no_later_than(self.until),
            tainted: self.tainted,
            pins,
            ..self.context.clone()
        };
        let definition = &tool.definition;
        let options = CallOptions { keep_over_tokens: self.result_tokens, ..CallOptions::default() };
        let is_named = definition.category != Category::Read || definition.may_need_confirmation();
        Box::new(Call {
            request_id: is_named.then_some(request_id),
            options: options.if_any(),
            ..Call::new(context, Target::Tool(planned.tool.clone()), Ok(planned.arguments.clone()))
        })
    }

    /// Carries a call out, and logs its progress.
    async fn carry_out(&self, call: Box<Call>) -> Result<Terminal, Refusal> {
        let call_id = call.context.call_id.to_string();
        let mut stream = self.pipeline.start(call).await?;
        while let Some(step) = stream.next().await {
            match step? {
                Step::Terminal(terminal) => return Ok(terminal),
                Step::Event(Event::Progress { fraction, message }) => {
                    let progress = Some(v1::Progress { fraction, message });
                    let call_id = call_id.clone();
                    self.log.tell(LogEvent::ToolCallProgress(ToolCallProgress { call_id, progress }));
                }
                Step::Event(_) => {}
            }
        }
        Err(Refusal::Internal { call_id })
    }
}

impl StartedCall<'_> {
    fn failure(&self, error: ToolError) -> ToolResult {
        ToolResult {
            tool: self.tool.definition.name.clone(),
            fetched_at: clock::wall(),
            outcome: Err(error),
            provenance: Provenance::default(),
            kept: None,
        }
    }

    fn end(&mut self, result: &ToolResult, is_last: bool) {
        tracing::info!(
            target: "toolwire::agent",
            component = component(self.tool),
            latency_ms = milliseconds(clock::now() - self.began),
            source_id = result.provenance.source_ids.first(),
            "tool"
        );
        let action = match &result.outcome {
            Ok(_) => CallAction::Used,
            Err(error) => action(error.code, is_last),
        };
        self.tell(Outcome::Result(convert::tool_result(result.clone(), ResultFormat::Json)), action);
    }

    fn awaits(&mut self, required: ConfirmationRequired) {
        let required = convert::confirmation_required(required);
        self.tell(Outcome::ConfirmationRequired(required), CallAction::Paused);
    }

    fn tell(&mut self, outcome: Outcome, action: CallAction) {
        self.is_over = true;
        self.log.tell(LogEvent::ToolCallFinished(ToolCallFinished {
            call_id: self.call_id.to_string(),
            outcome: Some(outcome),
            duration: Some(convert::duration(clock::now() - self.began)),
            action: action.into(),
        }));
    }
}

impl Drop for StartedCall<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            let result = self.failure(ToolError::cancelled());
            let result = convert::tool_result(result, ResultFormat::Json);
            self.tell(Outcome::Result(result), CallAction::Stopped);
        }
    }
}

/// The first intent of a tool, else its name, as traces show it.
pub(crate) fn component(tool: &RegisteredTool) -> &str {
    tool.definition.intents.first().map_or(tool.definition.name.as_str(), String::as_str)
}

fn is_worth_repeating(result: &ToolResult) -> bool {
    result.outcome.as_ref().is_err_and(|error| on_error(error.code) == OnError::Again)
}

/// The arguments as JSON text.
pub(crate) fn text(arguments: &Arguments) -> String {
    serde_json::to_string(arguments).unwrap_or_default()
}

/// A call of a plan, as the contract describes it.
pub(crate) fn planned_call(call: &PlannedCall) -> agent::PlannedCall {
    agent::PlannedCall {
        tool: call.tool.clone(),
        reason: call.reason.clone(),
        arguments: None,
        arguments_json: text(&call.arguments),
    }
}
