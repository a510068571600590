//! A job that runs, as its workflow sees it.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU32, Ordering::Relaxed},
};

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{CompletedCall, Run};
use crate::{
    Agent,
    ground::{Checker, ContextBundle},
    prompts::{Prompt, Values},
    source_counts::SourceCounts,
};
use toolwire_base::clock;
use toolwire_contract::{ErrorCode, Provenance, Terminal, ToolError, ToolResult};
use toolwire_engine::{
    pipeline::{Call, Target, error_of_refusal},
    registry::{self, RegisteredTool},
};
use toolwire_planner::{
    ExecutedCall, Offer, PlanRequest, PlannedCall,
    policy::{OnError, on_error},
};
use toolwire_sources::models::Model;
use toolwire_state::{
    Store,
    jobs::{JobId, JobUpdate},
};
use toolwire_tool::context::{CallId, Cancellation, Lineage, Pins, ToolContext};

/// What a job is made of.
#[derive(Clone, Debug)]
pub struct Setup {
    pub id: JobId,
    /// The user, and the deadline.
    pub context: ToolContext,
    /// From then on no call is made: the rest of the time is for the result.
    pub until: Instant,
    /// Stores the events of the job.
    pub store: Arc<Store>,
    /// Writes texts; `None` without a model.
    pub model: Option<Arc<dyn Model>>,
}

/// A running job.
#[derive(Debug)]
pub struct JobRun {
    setup: Setup,
    agent: Agent,
    offer: Offer,
    calls: AtomicU32,
    source_counts: Mutex<SourceCounts>,
    made: Mutex<CallCounts>,
    /// Cancelled when another process has ended the job.
    lost: CancellationToken,
}

/// The calls that have ended.
#[derive(Clone, Debug, Default)]
struct CallCounts {
    made: Vec<ExecutedCall>,
    call_ids: Vec<String>,
}

impl JobRun {
    /// A job with the tools that its user may read with.
    pub fn new(agent: &Agent, setup: Setup) -> Self {
        let offer = agent.reads(&setup.context.user);
        Self {
            setup,
            agent: agent.clone(),
            offer,
            calls: AtomicU32::new(0),
            source_counts: Mutex::default(),
            made: Mutex::default(),
            lost: CancellationToken::new(),
        }
    }

    async fn append(&self, said: JobUpdate) {
        let (store, user) = (self.store(), &self.context().user.id);
        match store.append_job_event(user, self.id(), &said).await {
            Ok(true) => {}
            Ok(false) => self.lost.cancel(),
            // Skipped for good: readers see no gap, and the result does not depend on it.
            Err(error) => tracing::warn!(%error, job_id = %self.id(), "what a job says cannot be kept"),
        }
    }

    async fn call_tool(&self, tool: &Arc<RegisteredTool>, arguments: Map<String, Value>) -> CompletedCall {
        let arguments = tool.input.check_briefly(arguments.clone()).unwrap_or(arguments);
        let mut called = self.call_once(tool, &arguments).await;
        if called.error().is_some_and(|error| on_error(error.code) == OnError::Again) && self.has_time() {
            called = self.call_once(tool, &arguments).await;
        }
        let call = PlannedCall {
            tool: tool.definition.name.to_string(),
            arguments,
            reason: String::new(),
            by_model: None,
        };
        let mut done = self.counts();
        done.made.push(ExecutedCall { call, result: Arc::clone(&called.result) });
        done.call_ids.push(called.call_id.clone());
        drop(done);
        called
    }

    pub(super) fn store(&self) -> &Store {
        &self.setup.store
    }

    /// Completes once another process has ended the job.
    pub(super) async fn wait_lost(&self) {
        self.lost.cancelled().await;
    }

    async fn call_once(&self, tool: &Arc<RegisteredTool>, arguments: &Map<String, Value>) -> CompletedCall {
        let called = |call_id: String, result: ToolResult| CompletedCall {
            call_id,
            arguments: arguments.clone(),
            stops: result.outcome.as_ref().is_err_and(|error| on_error(error.code) == OnError::Stop),
            result: Arc::new(result),
            tool: Arc::clone(tool),
        };
        if let Some(error) = self.refusal(tool) {
            return called(String::new(), failure(tool, error));
        }
        self.calls.fetch_add(1, Relaxed);
        let context = self.context_of_call();
        let call_id = context.call_id.to_string();
        let target = Target::Tool(tool.definition.name.to_string());
        let end = self
            .agent
            .parts()
            .pipeline
            .finish(Box::new(Call::new(context, target, Ok(arguments.clone()))))
            .await;
        let result = match end {
            Ok(Terminal::Result(result)) => result,
            Ok(Terminal::ConfirmationRequired(_)) => failure(tool, needs_person()),
            Err(refusal) => failure(tool, error_of_refusal(&refusal)),
        };
        called(call_id, result)
    }

    /// Refuses a call for which there is no time, or whose source has had as many calls as one user may make in its
    /// window. A call that is not refused is counted.
    fn refusal(&self, tool: &RegisteredTool) -> Option<ToolError> {
        if !self.has_time() {
            return Some(ToolError::new(ErrorCode::Timeout, "not called: the time of the job was over"));
        }
        let budgets = self.agent.parts().limits.budgets();
        let mut counts = self.source_counts.lock().unwrap_or_else(PoisonError::into_inner);
        let spent = counts.count(tool, &budgets).err()?;
        let (title, most) = (&spent.title, spent.budget.max_requests);
        let message = format!("not called: one job may ask {title} {most} times, and has done so");
        Some(ToolError::new(ErrorCode::RateLimited, message))
    }

    /// An ordinary call of the job's user.
    fn context_of_call(&self) -> ToolContext {
        let call_id = CallId::generate();
        let pins = Pins::default();
        pins.get_or_pin(|| Arc::clone(self.offer.snapshot()));
        ToolContext {
            call_id,
            lineage: Lineage::of(call_id),
            cancellation: Cancellation::new(),
            deadline: self.context().deadline.no_later_than(self.setup.until),
            pins,
            ..self.context().clone()
        }
    }

    fn counts(&self) -> MutexGuard<'_, CallCounts> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Run for JobRun {
    fn id(&self) -> JobId {
        self.setup.id
    }

    fn context(&self) -> &ToolContext {
        &self.setup.context
    }

    fn model(&self) -> Option<&Arc<dyn Model>> {
        self.setup.model.as_ref()
    }

    fn calls(&self) -> u32 {
        self.calls.load(Relaxed)
    }

    fn has_time(&self) -> bool {
        clock::now() < self.setup.until
    }

    fn prompt(&self, prompt: Prompt, schema: &str) -> String {
        let parts = self.agent.parts();
        let guidance = registry::guidance_for_planner(self.offer.tools(), &parts.limits.budgets());
        let today = chrono::DateTime::<chrono::Utc>::from(clock::wall()).date_naive().to_string();
        parts
            .prompts
            .render(prompt, &Values { guidance: &guidance, schema, today: &today, ..Values::default() })
    }

    fn find(&self, target: &Target) -> Option<Arc<RegisteredTool>> {
        let name = match target {
            Target::Tool(name) => name.as_str(),
            Target::Intent(intent) => self.offer.snapshot().by_intent(intent)?.definition.name.as_str(),
        };
        self.offer.get(name).cloned()
    }

    fn doing(&self, tool: &RegisteredTool, arguments: &Map<String, Value>) -> Option<String> {
        let checked = tool.input.check_briefly(arguments.clone()).unwrap_or_else(|_| arguments.clone());
        tool.narration.progress(&Value::Object(checked))
    }

    fn say(&self, said: JobUpdate) -> BoxFuture<'_, ()> {
        Box::pin(self.append(said))
    }

    fn call<'a>(
        &'a self,
        tool: &'a Arc<RegisteredTool>,
        arguments: Map<String, Value>,
    ) -> BoxFuture<'a, CompletedCall> {
        Box::pin(self.call_tool(tool, arguments))
    }

    fn stands(&self, text: &str) -> bool {
        let CallCounts { made, call_ids } = self.counts().clone();
        let request = PlanRequest {
            message: "",
            account: None,
            history: &[],
            made: &made,
            offer: &self.offer,
            today: chrono::DateTime::<chrono::Utc>::from(clock::wall()).date_naive(),
        };
        let bundle = ContextBundle::of(&request, &call_ids, &self.agent.parts().contexts);
        let mut checker = Checker::new(&bundle, &request);
        checker.release(text).issue.is_none() && checker.finish().issue.is_none()
    }
}

fn failure(tool: &RegisteredTool, error: ToolError) -> ToolResult {
    ToolResult {
        tool: tool.definition.name.clone(),
        fetched_at: clock::wall(),
        outcome: Err(error),
        provenance: Provenance::default(),
        kept: None,
    }
}

/// A job cannot ask a person.
fn needs_person() -> ToolError {
    ToolError::new(ErrorCode::PermissionDenied, "not called: a person must approve this tool's calls")
}
