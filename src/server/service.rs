//! The service that every face offers: tools are listed, described, watched and called here, and nowhere else.
//!
//! Permissions, searches and the bounds of requests are decided here, once. A face decodes requests and encodes
//! responses in its own form; nothing here is a wire type. Not here: how a call is carried out
//! (`toolwire_engine::pipeline`).

pub mod audit;
pub mod calls;
pub mod changes;
pub mod confirmations;
pub mod drain;
pub mod explain;
pub mod export;
mod filter;
mod guidance;
mod listing;
mod model;
pub mod page;
pub mod providers;
pub mod quotas;
pub mod request;
pub mod shared_export;
pub mod snapshot_cache;
mod source_limits;
pub mod stats;
pub mod tasks;
pub mod unavailable;
pub mod upkeep;
mod watch;
pub mod workspace;

use std::sync::Arc;

use confirmations::Confirmations;
pub use filter::Filter;
pub use guidance::Guidance;
pub use listing::Listing;
use tasks::Tasks;
pub use watch::{Watch, WatchEvent};

use self::{
    guidance::CachedGuidance, listing::Visibility, shared_export::Exported, snapshot_cache::SnapshotCache,
};

use toolwire_base::{clock, current::Current};
use toolwire_config::{RuleTarget, Toolsets};
use toolwire_contract::{Refusal, Terminal, ToolResult, near};
use toolwire_engine::{
    pipeline::{Call, CallSelector, CallStream, InFlight, Pipeline, Policy, Target, denial},
    recordings::Recorder,
    registry::{Detail, RegisteredTool, Registry},
};
use toolwire_sources::upstream::source_status::SourceLimits;
use toolwire_state::confirmations::CallRef;
use toolwire_tool::context::{Origin, RefusedRequest, User};

/// The tools, as every face offers them. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Tools {
    pipeline: Arc<Pipeline>,
    registry: Arc<Registry>,
    policy: Arc<dyn Policy>,
    toolsets: Current<Toolsets>,
    limits: Arc<dyn SourceLimits>,
    guidance: Arc<CachedGuidance>,
    exports: SnapshotCache<Arc<Exported>>,
    confirmations: Confirmations,
    tasks: Tasks,
    records: Records,
}

/// Recorded calls, for listing. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Records {
    /// Calls that run or ran.
    pub calls: calls::Calls,
    pub audit: audit::Audit,
}

impl Tools {
    /// The tools of a registry, called through a pipeline over the same registry and policy.
    pub fn new(
        pipeline: Arc<Pipeline>,
        registry: Arc<Registry>,
        policy: Arc<dyn Policy>,
        limits: Arc<dyn SourceLimits>,
        confirmations: Confirmations,
        tasks: Tasks,
        records: Records,
    ) -> Self {
        let (guidance, exports) = (Arc::default(), SnapshotCache::default());
        let toolsets = Current::default();
        Self {
            pipeline,
            registry,
            policy,
            toolsets,
            limits,
            guidance,
            exports,
            confirmations,
            tasks,
            records,
        }
    }

    /// The same tools, of which requests may name these parts.
    #[must_use]
    pub fn with_toolsets(self, toolsets: Current<Toolsets>) -> Self {
        Self { toolsets, ..self }
    }

    /// The same tools, with another source of the state of limiters and cool-downs.
    #[must_use]
    pub fn with_limits(self, limits: Arc<dyn SourceLimits>) -> Self {
        Self { limits, ..self }
    }

    /// The policy in force; `None` if it never changes.
    pub fn policy(&self) -> Option<Arc<dyn Policy>> {
        self.policy.current()
    }

    /// The user's tools that pass the filter, in order of name.
    pub fn list(&self, user: &User, filter: Filter) -> Listing {
        Listing::new(self.registry.snapshot(), self.visibility(user.clone()), filter)
    }

    /// One tool. What the user may not call is refused whether or not it exists.
    pub fn get(&self, user: &User, origin: Origin, name: &str) -> Result<Arc<RegisteredTool>, Refusal> {
        if name.is_empty() {
            let what = "must name a tool; ListTools lists what you may call";
            return Err(request::refuse("name", "required", what));
        }
        let snapshot = self.registry.snapshot();
        let tool = snapshot.get(name);
        let target = tool.map_or(RuleTarget::named(name), |tool| tool.definition.rule_target());
        let may_call = self.policy.may_call(user, target);
        if !may_call {
            let (refusal, reason) = denial(&*self.policy, user, target);
            if self.policy.is_refusal(user, target) {
                self.records.audit.note(&RefusedRequest { reason, user: Some(user), origin, target: name });
            }
            if !self.policy.is_left_out(user, target) {
                return Err(refusal);
            }
        }
        if let Some(tool) = tool.filter(|_| may_call) {
            return Ok(Arc::clone(tool));
        }
        let tools: Vec<_> = self.list(user, Filter::default()).collect();
        let near = near::names(name, tools.iter().map(|tool| tool.definition.name.as_str()));
        Err(self.registry.unknown_tool(name, near))
    }

    /// The tool that a target means, if there is one that the user may call.
    pub fn find(&self, user: &User, target: &Target) -> Option<Arc<RegisteredTool>> {
        let snapshot = self.registry.snapshot();
        let tool = match target {
            Target::Tool(name) => snapshot.get(name),
            Target::Intent(intent) => snapshot.by_intent(intent),
        };
        tool.filter(|tool| self.policy.may_call(user, tool.definition.rule_target())).cloned()
    }

    /// Refuses a call that outlives the request that asked for it, once the token of its user has ended or the user is
    /// no more.
    pub fn check_standing(&self, user: &User, tool: &str) -> Result<(), Refusal> {
        let ends_at = user.grant.as_ref().and_then(|grant| grant.ends_at);
        if ends_at.is_some_and(|end| end <= clock::wall()) {
            return Err(Refusal::TokenExpired);
        }
        if self.policy.knows(user) {
            Ok(())
        } else {
            Err(Refusal::PermissionDenied { tool: tool.to_owned() })
        }
    }

    /// The user's tools now, then every change from now on.
    pub fn watch(&self, user: User) -> (Listing, Watch) {
        let (visibility, watch) = (self.visibility(user), self.registry.watch());
        Watch::begin(visibility, watch)
    }

    /// Text for the system prompt of a planner that may use the user's tools which pass the filter. Of a toolset it
    /// begins with what is to be said of that.
    pub fn guidance(&self, user: &User, filter: Filter, detail: Detail) -> Arc<Guidance> {
        let (budgets, tools) = (self.limits.budgets(), self.list(user, filter));
        if tools.is_whole() {
            return self.guidance.of(tools.snapshot(), detail, budgets);
        }
        let toolsets = self.toolsets.load();
        let toolset = user.only_toolset().and_then(|name| toolsets.get(name));
        Arc::new(Guidance::new(&tools.collect::<Vec<_>>(), detail, &budgets).of_toolset(toolset))
    }

    /// Starts a call. A refusal that comes before anything else is the error here.
    pub async fn start(&self, call: impl Into<Box<Call>> + Send) -> Result<CallStream, Refusal> {
        self.pipeline.start(call).await
    }

    /// Carries a call out to its end, without events.
    pub fn finish(&self, call: Box<Call>) -> impl Future<Output = Result<Terminal, Refusal>> + Send + use<> {
        self.pipeline.finish(call)
    }

    /// Keeps the result of a call that has ended if it is the user's own and has more tokens than this.
    pub async fn keep(
        &self,
        user: &User,
        record: &calls::Record,
        max_tokens: u64,
        result: ToolResult,
    ) -> ToolResult {
        if record.user != user.id.as_str() {
            return result;
        }
        self.pipeline.keep().keep_ended(user, record.call_id, max_tokens, result).await
    }

    /// Cancels a user's own call in whichever process carries it out, even one whose caller has left while a
    /// confirmation is open. Returns whether there was one that the user's token is for.
    pub async fn cancel(&self, user: &User, which: CallSelector) -> Result<bool, Refusal> {
        if !self.calls().may_cancel(user, which).await? {
            return Ok(false);
        }
        let cancelled = self.in_flight().cancel(&user.id, which);
        let call = match which {
            // Most calls request no confirmation, and then there is nothing to look for in the state.
            CallSelector::Call(_) if cancelled.is_some_and(|it| !it.may_have_requested_confirmation) => {
                return Ok(true);
            }
            CallSelector::Call(call_id) => CallRef::Call(call_id),
            // The confirmation may stem from an earlier call of the same identifier.
            CallSelector::Request(request_id) => CallRef::Request(request_id),
        };
        // Before its confirmations are withdrawn, so that it requests no more of them.
        let was_running = self.calls().cancel_elsewhere(user, which, cancelled.is_some()).await;
        match self.confirmations.withdraw(user, call).await {
            Ok(was_waiting) => Ok(was_running || was_waiting),
            Err(_) if was_running => Ok(true),
            Err(refusal) => Err(refusal),
        }
    }

    /// Records arguments and results of calls.
    pub fn recorder(&self) -> &Recorder {
        self.pipeline.recorder()
    }

    pub fn confirmations(&self) -> &Confirmations {
        &self.confirmations
    }

    pub fn tasks(&self) -> &Tasks {
        &self.tasks
    }

    /// Calls that run or ran.
    pub fn calls(&self) -> &calls::Calls {
        &self.records.calls
    }

    pub fn audit(&self) -> &audit::Audit {
        &self.records.audit
    }

    /// The calls that are running.
    pub fn in_flight(&self) -> &InFlight {
        self.pipeline.in_flight()
    }

    fn visibility(&self, user: User) -> Visibility {
        Visibility::new(user, Arc::clone(&self.policy))
    }
}
