//! The one pipeline that every call takes, whichever face it came in by.
//!
//! A layer is a [`Middleware`](toolwire_base::middleware::Middleware) over a `tower::Service<Call, Response = Terminal,
//! Error = Refusal>`, in a file of its own. A refusal becomes a status, everything else a result. Not here: limits and
//! retries, which belong to each source's own stack.

pub mod authorize;
pub mod cache;
mod call;
pub mod confirm;
pub mod deadline;
pub mod execute;
pub mod frame;
pub mod idempotency;
mod in_flight;
pub mod mistake;
pub mod narrate;
mod nested;
mod orchestrate;
pub mod policy;
pub mod record;
mod recorded;
mod refusals;
pub mod resolve;
pub mod span;
mod stream;
pub mod telemetry;
pub mod validate;

use std::{fmt, sync::Arc, task::Poll, time::Duration};

use futures_util::poll;
use tokio::sync::oneshot;
use tower::{Service, ServiceBuilder, ServiceExt, util::BoxCloneSyncService};
use tracing::Instrument;

pub use authorize::Policy;
pub use cache::Tiers;
use call::Inner;
pub use call::{Arrived, Call, CallResult, Facts, Given, NotedMistake, Target, Wishes};
use execute::timed_out;
pub use in_flight::{End as CallEnd, EndedCall, InFlight, RunningCall, Seen, Which};
pub use nested::refused_call;
pub use orchestrate::{Carried, Orchestrate};
pub use refusals::refused;
use stream::End;
pub use stream::{CallStream, Step};

use self::{
    authorize::Authorize, cache::Cache, confirm::Confirm, deadline::EnforceDeadline, execute::Execute,
    frame::Frame, idempotency::Idempotent, mistake::RecordModelErrors, narrate::Narrate, record::Record,
    telemetry::Telemetry, validate::Validate,
};
use crate::registry::Registry;
use toolwire_base::middleware::Layer;
use toolwire_contract::{Refusal, Terminal};
use toolwire_store::{Store, idempotency::Idempotency};
use toolwire_tool::context::{EventSink, Events, Services, Unread, UnreadBounds};

/// What the pipeline is made of.
#[derive(Clone, Debug)]
pub struct Parts {
    pub registry: Arc<Registry>,
    /// Who may call what.
    pub policy: Arc<dyn Policy>,
    /// Remembers calls with a `request_id`.
    pub idempotency: Arc<dyn Idempotency>,
    /// Confirmations, and the calls that wait for them.
    pub confirmations: Arc<Store>,
    /// Keeps tasks, in the same store.
    pub tasks: Arc<Store>,
    /// Carries out what executes nothing.
    pub orchestrate: Arc<dyn Orchestrate>,
    /// How long a person has to decide.
    pub decide_within: Duration,
    /// How long of a call of a task.
    pub decide_within_tasks: Duration,
    /// The sources for which users give credentials.
    pub users_sources: Arc<[&'static str]>,
    /// Where results of reads are cached.
    pub tiers: Tiers,
    /// What tools need beyond the standard context.
    pub services: Services,
    /// No call lasts longer.
    pub cap: Duration,
    /// What may wait for slow readers.
    pub unread: UnreadBounds,
    /// Whether the log shows arguments.
    pub log_arguments: bool,
}

/// The pipeline, ready to carry out calls.
#[derive(Clone)]
pub struct Pipeline {
    stack: BoxCloneSyncService<Call, Terminal, Refusal>,
    services: Services,
    in_flight: InFlight,
    unread: Unread,
}

impl Pipeline {
    /// The stack. Top to bottom is the way of a call.
    pub fn new(parts: Parts) -> Arc<Self> {
        let Parts { registry, policy, idempotency, tiers, services, cap, unread, log_arguments, .. } = parts;
        let Parts { confirmations, decide_within, decide_within_tasks, users_sources, .. } = parts;
        let Parts { tasks, orchestrate, .. } = parts;
        let records = idempotency::Records {
            calls: idempotency,
            confirmations,
            decide_within,
            decide_within_tasks,
            users_sources,
            tasks: Arc::clone(&tasks),
        };
        let in_flight = InFlight::default();
        let stack = ServiceBuilder::new()
            // Outermost: sees refusals too.
            .layer(Layer(Telemetry))
            // Everything below is bounded by it.
            .layer(Layer(EnforceDeadline::new(cap, in_flight.clone())))
            // What an agent got wrong is told to its model, which has refusals of every layer below.
            .layer(Layer(RecordModelErrors::new(Arc::clone(&tasks))))
            // Rules need the definition.
            .map_request(resolve::resolve(Arc::clone(&registry)))
            // Before anything reveals whether a tool exists.
            .layer(Layer(Authorize::new(policy, Arc::clone(&registry))))
            // Nothing invalid is stored, confirmed or executed.
            .layer(Layer(Validate::new(log_arguments)))
            // Every response has a nonce of its own, a repeated one too.
            .layer(Layer(Frame))
            // What a task has read says whether its calls need a person.
            .layer(Layer(Record::new(tasks)))
            // Each caller waits for a person by itself. Asking and using are one change with the record below.
            .layer(Layer(Confirm::new(Arc::clone(&records.confirmations))))
            // A repeat spends nothing, not even a confirmation.
            .layer(Layer(Idempotent::new(records, in_flight.clone(), cap)))
            // Below what decides whether anything is done at all.
            .layer(Layer(Narrate))
            // A hit spends nothing of a source, and equal calls at one time are one.
            .layer(Layer(Cache::new(tiers, registry)))
            // The tool.
            .service(Execute::new(orchestrate, in_flight.clone()));
        let unread = Unread::new(unread);
        Arc::new(Self { stack: BoxCloneSyncService::new(stack), services, in_flight, unread })
    }

    /// Starts a call. A refusal that comes before anything else is the error here, so that a face can answer it
    /// without a stream.
    pub async fn start(self: &Arc<Self>, call: Call) -> Result<CallStream, Refusal> {
        let channel = EventSink::channel(&self.unread, call.context.user.id.clone());
        self.launch(call, channel).await
    }

    /// Carries a call out to its end. Nobody reads its events, so none are made.
    pub async fn finish(self: &Arc<Self>, call: Call) -> Result<Terminal, Refusal> {
        self.launch(call, EventSink::unread()).await?.terminal().await
    }

    async fn launch(
        self: &Arc<Self>,
        mut call: Call,
        (sink, events): (EventSink, Events),
    ) -> Result<CallStream, Refusal> {
        let call_id = call.context.call_id;
        call.context.events = sink;
        call.context.services = self.services.clone();
        call.context.caller = Arc::clone(self) as _;
        let mut stack = self.stack.clone();
        let mut end = Box::pin(async move { stack.ready().await?.call(call).await });
        // Most calls are ready at once and need no task. One that waits must not depend on its face, which is polled
        // only while the reader takes what it says.
        if let Poll::Ready(end) = poll!(&mut end) {
            return CallStream::new(call_id, events, End::Ready(Box::new(end))).begun().await;
        }
        let (sender, receiver) = oneshot::channel();
        let carry_on = async move {
            let _ = sender.send(end.await);
        };
        tokio::spawn(carry_on.in_current_span());
        CallStream::new(call_id, events, End::Coming(receiver)).begun().await
    }

    /// The calls that are running.
    pub fn in_flight(&self) -> &InFlight {
        &self.in_flight
    }
}

impl fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipeline").field("in_flight", &self.in_flight.len()).finish_non_exhaustive()
    }
}
