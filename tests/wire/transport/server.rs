//! The server under test: health, and a service whose methods misbehave, each in its own way.

use std::{
    convert::Infallible,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_util::{
    StreamExt,
    future::{BoxFuture, pending, ready},
    stream::{self, Stream},
};
use http::{HeaderMap, Request, Response};
use http_body::Frame;
use http_body_util::StreamBody;
use tokio::{
    sync::{Semaphore, mpsc, oneshot},
    task::JoinHandle,
};
use tonic::{Status, body::Body, service::Routes};
use tonic_health::server::HealthReporter;
use toolwire::{
    config::ServerBounds,
    tool::context::User,
    transport::{
        Common, Config, Hooks, Report,
        authenticate::Loopback,
        bind,
        rules::{Access, Lifetime, Messages, Pool, Rule, Rules},
        serve, stack,
    },
};

use super::client::soon;

pub(crate) const CHECK: &str = "/grpc.health.v1.Health/Check";
pub(crate) const WATCH: &str = "/grpc.health.v1.Health/Watch";
/// Answers at once.
pub(crate) const PROMPT: &str = "/test.Service/Prompt";
/// Answers when the test releases it.
pub(crate) const SLOW: &str = "/test.Service/Slow";
/// Reads nothing of its stream of requests, and answers when the test releases it.
pub(crate) const UNREAD: &str = "/test.Service/Unread";
/// Says one message, and never another.
pub(crate) const SILENT: &str = "/test.Service/Silent";
/// Says messages without end.
pub(crate) const FLOOD: &str = "/test.Service/Flood";
/// Panics when it is called.
pub(crate) const PANIC_IN_CALL: &str = "/test.Service/PanicInCall";
/// Panics in its future.
pub(crate) const PANIC_IN_FUTURE: &str = "/test.Service/PanicInFuture";
/// Panics after its first message.
pub(crate) const PANIC_IN_BODY: &str = "/test.Service/PanicInBody";
/// Answers with a status of 20,000 bytes.
pub(crate) const VERBOSE: &str = "/test.Service/Verbose";

/// Answers with one message of [`LARGE_BYTES`].
pub(crate) const LARGE: &str = "/test.Service/Large";
pub(crate) const LARGE_BYTES: usize = 1024 * 1024;

const PATHS: [&str; 9] =
    [PROMPT, SLOW, SILENT, FLOOD, PANIC_IN_CALL, PANIC_IN_FUTURE, PANIC_IN_BODY, VERBOSE, LARGE];

/// A running server and the test's hand in it.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) health: HealthReporter,
    /// What happened inside, in order.
    pub(crate) events: mpsc::UnboundedReceiver<Event>,
    /// A permit lets one call of [`SLOW`] answer.
    pub(crate) release: Arc<Semaphore>,
    shutdown: oneshot::Sender<()>,
    task: JoinHandle<Report>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// A call of [`SLOW`], [`UNREAD`], [`SILENT`] or [`FLOOD`] has begun.
    Began,
    /// What it held was dropped.
    Dropped,
    Draining,
    Forced,
}

/// The usual numbers but for these.
pub(crate) fn limited(limits: ServerBounds) -> Config {
    Config { limits, ..Config::default() }
}

impl Server {
    pub(crate) fn start(config: Config) -> Self {
        let listener = bind("127.0.0.1:0".parse().unwrap(), false).unwrap();
        let address = listener.local_addr().unwrap();
        let (events, received) = mpsc::unbounded_channel();
        let (health, health_service) = tonic_health::server::health_reporter();
        let release = Arc::new(Semaphore::new(0));
        let routes = Misbehaving {
            routes: Routes::new(health_service.max_decoding_message_size(1_024)).prepare(),
            events: events.clone(),
            release: release.clone(),
        };
        let authenticator = Arc::new(Loopback::new(User::new("dev".parse().unwrap())));
        let service = stack(routes, rules(), &Common::of(authenticator, config.clone()));
        let (shutdown, signal) = oneshot::channel::<()>();
        let signal = async {
            drop(signal.await);
        };
        let task = tokio::spawn(serve(listener, service, config, signal, hooks(&events, &health)));
        Self { address, health, events: received, release, shutdown, task }
    }

    /// The next thing that happened inside.
    pub(crate) async fn event(&mut self) -> Event {
        soon(self.events.recv()).await.unwrap()
    }

    /// Gives the signal, and waits until the drain has begun.
    pub(crate) async fn drain(self) -> Draining {
        let Self { mut events, release, shutdown, task, .. } = self;
        shutdown.send(()).unwrap();
        while soon(events.recv()).await.unwrap() != Event::Draining {}
        Draining { events, release, task }
    }
}

/// A server on its way out.
pub(crate) struct Draining {
    pub(crate) events: mpsc::UnboundedReceiver<Event>,
    pub(crate) release: Arc<Semaphore>,
    task: JoinHandle<Report>,
}

impl Draining {
    pub(crate) async fn end(&mut self) -> Report {
        soon(&mut self.task).await.unwrap()
    }
}

fn hooks(events: &mpsc::UnboundedSender<Event>, health: &HealthReporter) -> Hooks {
    let (draining, forced, health) = (events.clone(), events.clone(), health.clone());
    Hooks::default()
        .on_draining(async move || {
            health.set_service_status("", tonic_health::ServingStatus::NotServing).await;
            let _ = draining.send(Event::Draining);
        })
        .on_forced(move || {
            let _ = forced.send(Event::Forced);
        })
}

fn rules() -> Rules {
    let public = Rule { access: Access::Public, pool: Pool::Free, ..Rule::USER };
    let watch = Rule { lifetime: Lifetime::Uncapped, pool: Pool::Health, ..public };
    let health = [(CHECK, public), (WATCH, watch)];
    let unread = Rule { messages: Messages::Many, ..Rule::USER };
    let methods = PATHS.map(|path| (path, Rule::USER)).into_iter().chain(health).chain([(UNREAD, unread)]);
    methods.map(|(path, rule)| (&path[1..], rule)).collect()
}

#[derive(Clone)]
struct Misbehaving {
    routes: Routes,
    events: mpsc::UnboundedSender<Event>,
    release: Arc<Semaphore>,
}

impl tower::Service<Request<Body>> for Misbehaving {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let held = Held(self.events.clone());
        match request.uri().path() {
            PROMPT => Box::pin(ready(Ok(response(stream::iter([message(), ok()]))))),
            SLOW => Box::pin(slow(held.begin(), self.release.clone())),
            UNREAD => {
                let slow = slow(held.begin(), self.release.clone());
                Box::pin(async move {
                    let _request = request;
                    slow.await
                })
            }
            SILENT => Box::pin(ready(Ok(silent(held.begin())))),
            FLOOD => Box::pin(ready(Ok(flood(held.begin())))),
            PANIC_IN_CALL => panic!("as asked"),
            PANIC_IN_FUTURE => Box::pin(async { panic!("as asked") }),
            PANIC_IN_BODY => {
                let panic = stream::poll_fn(|_| panic!("as asked"));
                Box::pin(ready(Ok(response(stream::iter([message()]).chain(panic)))))
            }
            LARGE => Box::pin(ready(Ok(response(stream::iter([large(), ok()]))))),
            VERBOSE => Box::pin(ready(Ok(Status::data_loss("日".repeat(7_000)).into_http()))),
            _ => Box::pin(tower::Service::call(&mut self.routes, request)),
        }
    }
}

/// Tells when it is dropped.
struct Held(mpsc::UnboundedSender<Event>);

impl Held {
    fn begin(self) -> Begun {
        let _ = self.0.send(Event::Began);
        Begun(self.0)
    }
}

struct Begun(mpsc::UnboundedSender<Event>);

impl Drop for Begun {
    fn drop(&mut self) {
        let _ = self.0.send(Event::Dropped);
    }
}

async fn slow(begun: Begun, release: Arc<Semaphore>) -> Result<Response<Body>, Infallible> {
    release.acquire().await.unwrap().forget();
    drop(begun);
    Ok(response(stream::iter([message(), ok()])))
}

fn silent(begun: Begun) -> Response<Body> {
    let never = stream::once(async move {
        let _begun = begun;
        pending().await
    });
    response(stream::iter([message()]).chain(never))
}

fn flood(begun: Begun) -> Response<Body> {
    let data = Bytes::from(vec![0; 100_000]);
    response(stream::repeat_with(move || {
        let _ = &begun;
        Frame::data(data.clone())
    }))
}

fn response(frames: impl Stream<Item = Frame<Bytes>> + Send + 'static) -> Response<Body> {
    let frames: Pin<Box<dyn Stream<Item = _> + Send>> = Box::pin(frames.map(Ok::<_, Infallible>));
    Response::builder()
        .header("content-type", "application/grpc")
        .body(Body::new(StreamBody::new(frames)))
        .unwrap()
}

fn message() -> Frame<Bytes> {
    Frame::data(Bytes::from_static(&[0; 5]))
}

fn large() -> Frame<Bytes> {
    let length = u32::try_from(LARGE_BYTES).unwrap().to_be_bytes();
    Frame::data([&[0], &length[..], &vec![0; LARGE_BYTES]].concat().into())
}

fn ok() -> Frame<Bytes> {
    Frame::trailers(HeaderMap::from_iter([(Status::GRPC_STATUS, "0".parse().unwrap())]))
}
