//! A host on channels in place of a stream, a registrar that takes every offer, and calls of tools.

use std::{
    collections::VecDeque,
    future::pending,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::{FutureExt, future::BoxFuture, stream};
use prost::{Message as _, bytes::Bytes};
use serde_json::{Map, Value, json};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
    time::{sleep, timeout},
};
use tonic::Status;

use super::work;
use crate::{
    call::HostTool,
    hub::{Hub, Registrar, Settle, WriteRecord},
    start::Write,
    wire::{self, WorkRequest, WorkResponse, work_request, work_response::Message},
};
use toolwire_base::clock;
use toolwire_contract::{Payload, ToolError};
use toolwire_providers::{
    Effect, RemoteExecutor, ToolParts, Verdicts,
    ids::{CatalogueId, ProviderName},
    offer::Problem,
};
use toolwire_tool::{
    Executor,
    context::{CallId, Deadline, EventSink, Events, RequestId, ToolContext, Unfinished, User},
};

/// Longer than anything in the protocol, on a paused clock.
const LIMIT: Duration = Duration::from_hours(1);

/// The tool that the hosts of tests offer.
pub(super) fn status() -> Bytes {
    offer("status")
}

/// One that is called `refused` is.
pub(super) fn offer(name: &str) -> Bytes {
    wire::Offer { name: name.into(), ..wire::Offer::default() }.encode_to_vec().into()
}

/// What the hub has registered and stored.
#[derive(Debug, Default)]
pub(super) struct Log {
    lines: Mutex<Vec<String>>,
    is_slow: AtomicBool,
    /// The store records nothing.
    pub(super) is_full: AtomicBool,
    /// What the store finds of writes of other processes, in turn.
    pub(super) records: Mutex<VecDeque<WriteRecord>>,
}

impl Log {
    pub(super) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.lines.lock().expect("not poisoned"))
    }

    /// From here on offers take a while until they are served.
    pub(super) fn serve_slowly(&self) {
        self.is_slow.store(true, Ordering::Relaxed);
    }

    fn add(&self, line: String) {
        self.lines.lock().expect("not poisoned").push(line);
    }
}

impl Registrar for Log {
    fn serve<'a>(
        &'a self,
        _: &'a Hub,
        provider: &'a ProviderName,
        _: &'a CatalogueId,
        offers: Vec<wire::Offer>,
    ) -> BoxFuture<'a, Verdicts> {
        let names: Vec<_> = offers.iter().map(|offer| offer.name.as_str()).collect();
        self.add(format!("serve {provider}: {}", names.join(" ")));
        let mut verdicts = Verdicts::default();
        for name in names {
            if name == "refused" {
                verdicts.refuse(name, &[Problem::new("/name", "not-allowed", "another owns it")]);
            } else {
                verdicts.accept(name, &[]);
            }
        }
        async move {
            if self.is_slow.load(Ordering::Relaxed) {
                sleep(Duration::from_millis(50)).await;
            }
            verdicts
        }
        .boxed()
    }

    fn check_name(&self, provider: &ProviderName) -> Result<(), String> {
        if provider.as_str() == "configured" { Err("it has a token".to_owned()) } else { Ok(()) }
    }

    fn set_degraded(&self, provider: &ProviderName, reason: Option<String>) {
        self.add(format!("degraded {provider}: {reason:?}"));
    }

    fn withdraw(&self, provider: &ProviderName) {
        self.add(format!("withdraw {provider}"));
    }

    fn forget(&self, _: &ProviderName) {}
}

impl Settle for Log {
    fn find<'a>(&'a self, _: &'a ProviderName, call: CallId) -> BoxFuture<'a, WriteRecord> {
        let found = self.records.lock().expect("not poisoned").pop_front().unwrap_or(WriteRecord::Unknown);
        self.add(format!("find {call}"));
        async move { found }.boxed()
    }

    fn settle<'a>(&'a self, write: &'a Write, outcome: Result<Payload, ToolError>) -> BoxFuture<'a, bool> {
        let outcome = outcome.map_or_else(|error| error.to_string(), |it| it.json().to_string());
        self.add(format!("settle {}: {outcome}", write.call_id));
        let is_recorded = !self.is_full.load(Ordering::SeqCst);
        async move { is_recorded }.boxed()
    }
}

pub(super) fn hub() -> (Hub, Arc<Log>) {
    let log = Arc::new(Log::default());
    (Hub::new(4_096, Some("local".into()), Arc::clone(&log) as _, Arc::clone(&log) as _), log)
}

/// One stream of a host.
pub(super) struct Host {
    pub(super) requests: mpsc::Sender<Result<WorkRequest, Status>>,
    pub(super) answers: mpsc::Receiver<Result<WorkResponse, Status>>,
    /// Ends the connection.
    pub(super) ending: Option<oneshot::Sender<()>>,
}

impl Host {
    /// Opens a stream as a provider, and says nothing on it.
    pub(super) fn dial(hub: &Hub, provider: &str) -> Self {
        let (requests, mut incoming) = mpsc::channel(1);
        let (outgoing, answers) = mpsc::channel(1);
        let incoming = stream::poll_fn(move |cx| incoming.poll_recv(cx));
        let (ending, ended) = oneshot::channel::<()>();
        let ended = async move {
            // Kept until the connection is to go; a test that forgets it has a connection without an end.
            if ended.await.is_err() {
                pending::<()>().await;
            }
            "the connection ends"
        };
        tokio::spawn(work(hub.clone(), provider.into(), incoming, ended, outgoing, None));
        Self { requests, answers, ending: Some(ending) }
    }

    /// Opens an idle slot.
    pub(super) async fn join(hub: &Hub, instance: &str, catalogue: &str) -> Self {
        let mut host = Self::dial(hub, "shop");
        host.send(work_request::Message::Hello(hello(instance, catalogue))).await;
        while let Message::Welcome(wire::Welcome { send_catalogue: true, .. }) = host.next().await {
            let hello = wire::Hello { offers: vec![status()], ..hello(instance, catalogue) };
            host.send(work_request::Message::Hello(hello)).await;
        }
        host
    }

    pub(super) async fn send(&self, message: work_request::Message) {
        let request = WorkRequest { message: Some(message) };
        self.requests.send(Ok(request)).await.expect("the stream is open");
    }

    pub(super) async fn next(&mut self) -> Message {
        match timeout(LIMIT, self.answers.recv()).await.expect("in time") {
            Some(Ok(answer)) => answer.message.expect("of a kind"),
            other => panic!("{other:?}"),
        }
    }

    /// The status that ends the stream, or `None` for OK.
    pub(super) async fn end(&mut self) -> Option<Status> {
        timeout(LIMIT, self.answers.recv()).await.expect("in time").map(|it| it.expect_err("an end"))
    }

    pub(super) async fn start(&mut self) -> wire::Start {
        match self.next().await {
            Message::Start(start) => start,
            other => panic!("{other:?}"),
        }
    }

    pub(super) async fn outcome(&self, start: &wire::Start, data: &Value) {
        self.send(work_request::Message::Outcome(outcome(&start.call_id, data))).await;
    }

    pub(super) async fn late(&self, start: &wire::Start, data: &Value) {
        let outcome = Some(outcome(&start.call_id, data));
        self.send(work_request::Message::Late(wire::Late { outcome })).await;
    }

    /// The connection is lost.
    pub(super) async fn kill(self) {
        self.requests.send(Err(Status::unavailable("lost"))).await.expect("the stream is open");
        self.requests.closed().await;
    }
}

pub(super) fn hello(instance: &str, catalogue: &str) -> wire::Hello {
    let (instance, catalogue_id) = (instance.to_owned(), catalogue.to_owned());
    wire::Hello { instance, catalogue_id, protocol: 1, ..wire::Hello::default() }
}

fn outcome(call_id: &str, data: &Value) -> wire::Outcome {
    let outcome = Some(wire::outcome::Outcome::DataJson(data.to_string()));
    wire::Outcome { call_id: call_id.to_owned(), outcome }
}

/// A call of a tool under way.
pub(super) struct Calling {
    pub(super) context: ToolContext,
    pub(super) events: Events,
    pub(super) result: JoinHandle<Result<Value, ToolError>>,
}

impl Calling {
    pub(super) fn begin(hub: &Hub, effect: Effect) -> Self {
        Self::within(hub, effect, Duration::from_mins(1))
    }

    /// A write as the pipeline detaches it: its caller has the given time, and it has two minutes.
    pub(super) fn detached(hub: &Hub, time: Duration) -> Self {
        Self::of(hub, Effect::Write, time, |deadline| {
            deadline.cap(clock::now() + Duration::from_mins(2)).of_detached_write()
        })
    }

    pub(super) fn within(hub: &Hub, effect: Effect, time: Duration) -> Self {
        Self::of(hub, effect, time, |deadline| deadline)
    }

    fn of(hub: &Hub, effect: Effect, time: Duration, fix: impl FnOnce(Deadline) -> Deadline) -> Self {
        let schema = Arc::new(json!({"type": "object"}));
        let tool = HostTool {
            pool: hub.pool().clone(),
            catalogue: "c1".into(),
            digest: "d1".to_owned(),
            is_shared: false,
        };
        let parts = ToolParts {
            provider: "shop".into(),
            tool: "status".parse().expect("a name"),
            effect,
            timeout: Duration::from_secs(15),
            input: Arc::clone(&schema),
            output: schema,
        };
        let tool = RemoteExecutor::new(tool, parts).expect("a schema");
        let user = User::new("riley".parse().expect("a user id"));
        let mut context = ToolContext::new(user, clock::now() + time);
        context.deadline = fix(context.deadline);
        context.lineage = context.lineage.with_request_id(RequestId::generate());
        let (sink, events) = EventSink::speaking();
        context.events = sink;
        let of_task = context.clone();
        let result = tokio::spawn(async move {
            let arguments = Map::from_iter([("order".to_owned(), json!(7))]);
            match tool.execute(arguments, &of_task).await {
                Ok(reply) => Ok(reply.data.json().clone()),
                Err(Unfinished::Failed(error)) => Err(error),
                Err(other) => panic!("{other:?}"),
            }
        });
        Self { context, events, result }
    }

    pub(super) async fn result(self) -> Result<Value, ToolError> {
        // The reader stays until the end.
        let _events = self.events;
        timeout(LIMIT, self.result).await.expect("in time").expect("no panic")
    }

    pub(super) fn id(&self) -> CallId {
        self.context.call_id
    }
}

/// Lets all other tasks run until they wait.
pub(super) async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}
