//! The pipeline of calls: one stack of layers, the same for every face.
//!
//! A layer is a [`Middleware`](toolwire_base::middleware::Middleware) over a `tower::Service<Box<Call>, Response =
//! Terminal, Error = Refusal>`, in a file of its own. A refusal becomes a status, everything else a result. Not here:
//! rate limits and retries, which belong to each source's own stack.

pub mod authorize;
pub mod cache;
mod call;
mod call_record;
pub mod confirm;
pub mod deadline;
pub mod execute;
mod explain;
pub mod frame;
pub mod idempotency;
mod in_flight;
pub mod keep;
pub mod mistake;
pub mod narrate;
mod nested;
mod orchestrate;
pub mod policy;
pub mod quota;
pub mod record;
pub mod recording;
mod refusals;
pub mod resolve;
pub mod span;
mod stream;
pub mod telemetry;
mod used_up;
pub mod validate;

use std::{fmt, sync::Arc, task::Poll, time::Duration};

use futures_util::{FutureExt, future::BoxFuture, poll};
use tokio::sync::oneshot;
use tower::{Service, ServiceBuilder};
use tracing::Instrument;

pub use authorize::{Policy, denial};
pub use cache::{CacheAnswer, Tiers};
use call::Inner;
pub use call::{
    ArgumentsForm, ArrivalTime, Call, CallOptions, CallResult, Facts, Permits, RecordedMistake, Stage,
    Stages, Target,
};
use execute::timeout_error;
pub use explain::{Explanation, Passes, Prospect, RequiredApproval};
pub use in_flight::{
    CallChange, CallEnd, CallInfo, CallSelector, Changes, Counts, EndedCall, InFlight, KEPT_SECONDS,
    LATENCY_BOUNDS, RunningCall, StatsBucket, Steps,
};
pub use nested::error_of_refusal;
pub use orchestrate::{Orchestrate, OrchestrateFuture};
pub use quota::{QuotaLeft, QuotaUsers};
pub use refusals::task_refusal;
use stream::{CallState, End};
pub use stream::{CallStream, Step};

use self::{
    authorize::Authorize,
    cache::Cache,
    confirm::Confirm,
    deadline::EnforceDeadline,
    execute::Execute,
    explain::Explain,
    frame::Frame,
    idempotency::{Idempotent, ResumeEqualWrites},
    keep::Keep,
    mistake::RecordModelErrors,
    narrate::Narrate,
    quota::EnforceQuotas,
    record::Record,
    recording::RecordData,
    telemetry::Telemetry,
    validate::Validate,
};
use crate::{recordings::Recorder, registry::Registry};
use toolwire_base::{backlog, current::Current, middleware::Layer, offload};
use toolwire_config::Quota;
use toolwire_contract::{ConsoleLinks, Refusal};
use toolwire_state::{Store, idempotency::Idempotency};
use toolwire_tool::context::{EventBackpressure, EventSink, Services, UnreadBounds};

/// The dependencies and settings of a [`Pipeline`].
#[derive(Clone, Debug)]
pub struct Parts {
    pub registry: Arc<Registry>,
    pub policy: Arc<dyn Policy>,
    /// How much users may call.
    pub quotas: Current<Vec<Quota>>,
    /// The records of calls with a `request_id`.
    pub idempotency: Arc<dyn Idempotency>,
    /// Confirmations, and the calls that wait for them.
    pub confirmations: Arc<Store>,
    /// Tasks; the same store as `confirmations`.
    pub tasks: Arc<Store>,
    /// Carries out calls of tools that have no code of their own.
    pub orchestrate: Arc<dyn Orchestrate>,
    /// Time that a person has to decide on a confirmation.
    pub decide_within: Duration,
    /// The same for calls of tasks.
    pub decide_within_tasks: Duration,
    /// The sources for which users give credentials.
    pub users_sources: Arc<[&'static str]>,
    /// The caches of results of reads.
    pub tiers: Tiers,
    /// Where persons decide on confirmations.
    pub console: ConsoleLinks,
    /// Services that tools require beyond the standard context.
    pub services: Services,
    /// Maximum duration of a call.
    pub cap: Duration,
    /// Bounds on events that wait for slow readers.
    pub unread: UnreadBounds,
    pub log_arguments: bool,
    /// Records arguments and results.
    pub recorder: Recorder,
}

/// The layers over each other.
type Stack = Arc<dyn Fn(Box<Call>) -> BoxFuture<'static, CallResult> + Send + Sync>;

/// The stack of layers, with what its calls share. Held in an `Arc`, since each call's context refers to it for nested
/// calls.
#[derive(Clone)]
pub struct Pipeline {
    stack: Stack,
    services: Services,
    in_flight: InFlight,
    keep: Keep,
    unread: EventBackpressure,
    explain: Explain,
    recorder: Recorder,
}

impl Pipeline {
    /// Builds the stack.
    pub fn new(parts: Parts) -> Arc<Self> {
        let records = idempotency::Records {
            calls: Arc::clone(&parts.idempotency),
            confirmations: Arc::clone(&parts.confirmations),
            tasks: Arc::clone(&parts.tasks),
            decide_within: parts.decide_within,
            decide_within_tasks: parts.decide_within_tasks,
            users_sources: Arc::clone(&parts.users_sources),
            console: parts.console.clone(),
        };
        let in_flight = InFlight::default();
        let (tasks, policy, registry) = (&parts.tasks, &parts.policy, &parts.registry);
        let keep = Keep::new(Arc::clone(tasks), Arc::clone(policy), Arc::clone(registry));
        let quotas = EnforceQuotas::new(parts.quotas.clone(), Arc::clone(&parts.confirmations));
        let cache = Cache::new(parts.tiers.clone(), Arc::clone(registry));
        let authorize = Authorize::new(Arc::clone(policy), Arc::clone(registry), Arc::clone(tasks));
        let explain = Explain::new(Arc::clone(registry), authorize.clone(), quotas.clone(), cache.clone());
        let work = ServiceBuilder::new()
            // Here alone it is known whether a call repeats another or has been approved, and no person is waited for.
            .layer(Layer(quotas))
            // Above everything that spends something: a repeat consumes nothing, not even a confirmation.
            .layer(Layer(Idempotent::new(records.clone(), in_flight.clone(), parts.cap)))
            // Below the layers that decide whether the call runs at all.
            .layer(Layer(Narrate))
            // A hit consumes no quota of a source, and concurrent equal calls share one execution.
            .layer(Layer(cache))
            .service(Execute::new(Arc::clone(&parts.orchestrate), in_flight.clone()));
        let stack = stack_over(work, &parts, authorize, records, &in_flight, &keep);
        let unread = EventBackpressure::new(parts.unread);
        let (services, recorder) = (parts.services, parts.recorder);
        Arc::new(Self { stack, services, in_flight, keep, unread, explain, recorder })
    }

    /// Starts a call. A refusal that comes before any event is returned as the error, so that a face can answer it
    /// without a stream.
    pub async fn start(self: &Arc<Self>, call: impl Into<Box<Call>> + Send) -> Result<CallStream, Refusal> {
        let mut call = call.into();
        let (call_id, facts) = (call.context.call_id, Arc::clone(&call.facts));
        let backlog = call.backlog.take();
        let (sink, events) = EventSink::channel(&self.unread, call.context.user.id.clone(), backlog.clone());
        let state = launch(self.begin(call, sink), backlog).await;
        CallStream::new(call_id, facts, events, state).open().await
    }

    /// Carries out a call to its end. Its events have no reader, so none are created.
    ///
    /// The call starts before the returned future is polled, which therefore need not store the call.
    pub fn finish(self: &Arc<Self>, call: Box<Call>) -> impl Future<Output = CallResult> + Send + use<> {
        let (call_id, facts) = (call.context.call_id, Arc::clone(&call.facts));
        let (sink, events) = EventSink::unread();
        let state = launch(self.begin(call, sink), None);
        async move {
            match state.await {
                CallState::Ended(End { result, .. }) => {
                    facts.deliver(result.as_ref());
                    result
                }
                // Boxed: most calls need no stream.
                state => Box::pin(CallStream::new(call_id, facts, events, state).terminal()).await,
            }
        }
    }

    /// Explains what a call would come to now, without making it. It is counted in the quotas of its user: the error is
    /// the refusal of this request.
    pub async fn explain(self: &Arc<Self>, mut call: Box<Call>) -> Result<Explanation, Refusal> {
        call.context.services = self.services.clone();
        call.context.caller = Arc::clone(self) as _;
        self.explain.explain(call).await
    }

    fn begin(self: &Arc<Self>, mut call: Box<Call>, sink: EventSink) -> BoxFuture<'static, CallResult> {
        call.context.events = sink;
        call.context.services = self.services.clone();
        call.context.caller = Arc::clone(self) as _;
        (self.stack)(call)
    }

    pub fn quotas(&self) -> &EnforceQuotas {
        &self.explain.quotas
    }

    /// Keeps results of calls that have ended.
    pub fn keep(&self) -> &Keep {
        &self.keep
    }

    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    pub fn in_flight(&self) -> &InFlight {
        &self.in_flight
    }
}

impl fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipeline").field("in_flight", &self.in_flight.len()).finish_non_exhaustive()
    }
}

/// The layers over `work`, in which a call runs. A call passes them from top to bottom.
fn stack_over(
    work: impl Inner,
    parts: &Parts,
    authorize: Authorize,
    records: idempotency::Records,
    in_flight: &InFlight,
    keep: &Keep,
) -> Stack {
    let Parts { registry, policy, tasks, cap, .. } = parts;
    let confirmations = Arc::clone(&records.confirmations);
    let stack = ServiceBuilder::new()
        // Outermost: sees refusals too.
        .layer(Layer(Telemetry))
        // Everything below is bounded by it.
        .layer(Layer(EnforceDeadline::new(*cap, in_flight.clone())))
        // Above all layers that refuse calls: the refusals that a model caused are shown to it.
        .layer(Layer(RecordModelErrors::new(Arc::clone(tasks))))
        // The layers below decide by the definition.
        .map_request(resolve::resolve(Arc::clone(registry)))
        // Before any answer reveals whether a tool exists.
        .layer(Layer(authorize))
        // No invalid call is stored, confirmed or executed.
        .layer(Layer(Validate::new(parts.log_arguments)))
        // Above all layers that answer calls: data from a record or a cache is kept under its own call too.
        .layer(Layer(keep.clone()))
        // Above the records: a repeated response gets a nonce of its own too.
        .layer(Layer(Frame))
        // Below `frame`: a result is recorded without its frame, and each reader of the record gets a frame of its own.
        .layer(Layer(RecordData::new(parts.recorder.clone())))
        // Before `confirm`: whether a call needs a person depends on what its task has read.
        .layer(Layer(Record::new(Arc::clone(tasks))))
        // Above `confirm`: a repeat that takes over a `request_id` finds its confirmation by it.
        .layer(Layer(ResumeEqualWrites::new(records, *cap)))
        // Above `idempotency`: each caller waits for a person by itself, although all share one record.
        .layer(Layer(Confirm::new(confirmations, Arc::clone(policy), Arc::clone(registry))))
        .service(work);
    // `poll_ready` is not called: every layer, and `Execute`, is always ready.
    Arc::new(move |call| stack.clone().call(call).boxed())
}

/// Runs a call until it is pending; from then on it runs in a task.
async fn launch(mut end: BoxFuture<'static, CallResult>, backlog: Option<backlog::Stream>) -> CallState {
    // Most calls are ready at the first poll and need no task. One that is pending must not depend on its face,
    // which is polled only while the reader consumes its output; so it is spawned and owns its deadline.
    if let Poll::Ready(result) = poll!(&mut end) {
        return End::of(result, backlog.as_ref()).map_or(CallState::Delivered, CallState::Ended);
    }
    let (sender, receiver) = oneshot::channel();
    let rest = async move {
        // The send fails if the stream was dropped: the call has then been cancelled, or runs for its effect only.
        if let Some(end) = End::of(end.await, backlog.as_ref()) {
            let _ = sender.send(end);
        }
    };
    tokio::spawn(offload::on_behalf(offload::user(), rest).in_current_span());
    CallState::Running(receiver)
}
