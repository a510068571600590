//! The accept loop and the drain: serves until shutdown, then drains in order, by force at the end.

use std::{convert::Infallible, net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::future::join;
use http::{Request, Response};
use tokio::time::{sleep, timeout, timeout_at};
use tokio_util::task::TaskTracker;
use tonic::body::Body;
use tower::Service;

pub use self::hooks::Hooks;
use super::{
    Config,
    connection::{Connection, Layers},
    connections::{Connections, Slot},
    listener::{Listener, accept},
    signals::Signals,
    socket::{Socket, Stream},
    tls::Tls,
};
use toolwire_base::clock;

mod hooks;

/// The time to send responses that `on_forced` caused.
const FLUSH_TIME: Duration = Duration::from_millis(200);
/// The time that handlers have to end after their streams were dropped.
const ABORT_TIME: Duration = Duration::from_secs(1);

/// The outcome of a drain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Report {
    /// Connections open at shutdown.
    pub connections: usize,
    /// Streams cut at the forced end; 0 after a clean drain.
    pub streams_cut: usize,
    /// From shutdown to the end of the drain.
    pub elapsed: Duration,
}

impl Report {
    /// Combines the reports of two listeners that drained together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            connections: self.connections + other.connections,
            streams_cut: self.streams_cut + other.streams_cut,
            elapsed: self.elapsed.max(other.elapsed),
        }
    }
}

/// Serves `service` on `listener` until `shutdown` is ready and the drain has ended.
///
/// The drain, in order: `hooks` run (health reports `NOT_SERVING`); if the listener has connections, the server
/// continues to serve for the lame-duck time; connections in the accept queue are accepted; the listener closes;
/// watches end with UNAVAILABLE; every connection sends GOAWAY and closes when its calls are done. What remains at the
/// forced end is dropped.
///
/// Dropping this future drops every connection.
pub async fn serve<K, S, B>(
    listener: impl Into<Listener<K>>,
    service: S,
    config: Config,
    shutdown: impl Future<Output = ()>,
    hooks: Hooks,
) -> Report
where
    K: Socket,
    S: Service<Request<Body>, Response = Response<B>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: std::error::Error + Send + Sync,
{
    let Listener { socket, tls } = listener.into();
    let server = Server { tls, ..Server::new(service, config) };
    // Connections are tasks of their own, which would outlive this future when it is dropped.
    let _drop_connections = server.signals.forced.clone().drop_guard();
    server.accept_until(&socket, shutdown).await;

    let signal = clock::now();
    let connections = server.connections.len();
    let forced_end = signal + server.config.drain.forced_end;
    let draining = server.drain(socket, hooks.on_draining);
    let is_drained = timeout_at(forced_end, draining).await.is_ok();
    let streams_cut = if is_drained { 0 } else { server.force(hooks.on_forced).await };
    Report { connections, streams_cut, elapsed: signal.elapsed() }
}

struct Server<S> {
    service: S,
    config: Arc<Config>,
    tls: Option<Tls>,
    signals: Arc<Signals>,
    connections: TaskTracker,
    slots: Connections,
}

impl<S: Layers> Server<S> {
    fn new(service: S, config: Config) -> Self {
        Self {
            service,
            slots: Connections::new(&config.limits, config.backlog.clone()),
            config: Arc::new(config),
            tls: None,
            signals: Arc::default(),
            connections: TaskTracker::new(),
        }
    }

    async fn accept_until<T>(&self, socket: &impl Socket, end: impl Future<Output = T>) -> T {
        let (mut end, mut reaped) = (pin!(end), pin!(self.slots.reap_idle()));
        loop {
            tokio::select! {
                // The end first: under a flood of connections there is always another one to accept.
                biased;
                end = &mut end => return end,
                never = &mut reaped => match never {},
                (slot, connection) = self.next(socket) => self.spawn(connection, slot),
            }
        }
    }

    /// Accepts the next connection that gets a slot. While there is no free slot, peers wait in the kernel's queue.
    async fn next<K: Socket>(&self, socket: &K) -> (Slot, (K::Stream, SocketAddr)) {
        loop {
            self.slots.wait_for_slot().await;
            let (stream, address) = accept(socket).await;
            // A connection beyond its peer's limit is closed immediately; left in the queue it would block other peers.
            if let Some(slot) = self.slots.take(address) {
                return (slot, (stream, address));
            }
        }
    }

    fn spawn(&self, (stream, address): (impl Stream, SocketAddr), slot: Slot) {
        let connection = Connection {
            address,
            service: self.service.clone(),
            config: self.config.clone(),
            tls: self.tls.clone(),
            signals: self.signals.clone(),
            state: slot.state.clone(),
            certified: None,
        };
        self.connections.spawn(async move {
            connection.run(stream).await;
            drop(slot);
        });
    }

    /// Drains in the order that [`serve`] documents.
    async fn drain(&self, socket: impl Socket, on_draining: hooks::OnDraining) {
        // A balancer that sends calls keeps connections open, and may open its next one before it has noticed the end.
        let lame_duck =
            if self.connections.is_empty() { Duration::ZERO } else { self.config.drain.lame_duck };
        self.signals.draining.cancel();
        let lame_duck_end = join(timeout(lame_duck, on_draining()), sleep(lame_duck));
        self.accept_until(&socket, async { drop(lame_duck_end.await) }).await;
        // Connections in the accept queue were accepted by the kernel: closing the socket would reset them.
        self.empty_queue(socket);
        self.signals.go_away.cancel();
        // Connections first: only they spawn streams.
        for tasks in [&self.connections, &self.signals.streams] {
            tasks.close();
            tasks.wait().await;
        }
    }

    /// Accepts the connections in the accept queue, and closes the socket.
    fn empty_queue(&self, socket: impl Socket) {
        let mut queue = socket.close();
        while self.slots.has_free_slot()
            && let Some(connection) = queue.next()
        {
            if let Some(slot) = self.slots.take(connection.1) {
                self.spawn(connection, slot);
            }
        }
    }

    /// Drops all remaining streams and connections. Returns the number of streams.
    async fn force(&self, on_forced: hooks::OnForced) -> usize {
        let streams_cut = self.signals.streams.len();
        on_forced();
        // Responses that the hook caused can still be sent: a connection ends after it has written those of its
        // streams.
        self.connections.close();
        let _ = timeout(FLUSH_TIME, self.connections.wait()).await;
        self.signals.forced.cancel();
        for tasks in [&self.connections, &self.signals.streams] {
            tasks.close();
            // Bounded, since a handler that blocks its thread never ends.
            let _ = timeout(ABORT_TIME, tasks.wait()).await;
        }
        streams_cut
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::{Ready, poll_fn, ready},
        io::Read,
        net::TcpStream,
        task::Poll,
    };

    use super::*;
    use crate::bind;

    const LAME_DUCK: Duration = Duration::from_millis(10);

    #[tokio::test]
    async fn a_connection_that_came_at_the_last_moment_is_taken() {
        let listener = bind("127.0.0.1:0".parse().unwrap(), false).unwrap();
        let address = listener.local_addr().unwrap();
        let server = Server::new(tower::service_fn(nothing), short_lame_duck());
        let _connected = connect(&server, &listener).await;
        let (sender, clients) = std::sync::mpsc::channel();
        // Blocks the only thread beyond the lame-duck time: the kernel accepts connections, the server cannot.
        let hook = async move {
            let end = clock::now() + LAME_DUCK * 2;
            sender.send([(); 3].map(|()| TcpStream::connect(address).unwrap())).unwrap();
            while clock::now() < end {}
        };
        server.drain(listener, Box::new(|| Box::pin(hook))).await;
        for mut client in clients.recv().unwrap() {
            assert_eq!(client.read(&mut [0]).unwrap(), 0, "closed after it said nothing, not reset");
        }
        assert!(TcpStream::connect(address).is_err(), "the listener is still open");
    }

    #[tokio::test]
    async fn an_idle_listener_skips_the_lame_duck_time() {
        let listener = bind("127.0.0.1:0".parse().unwrap(), false).unwrap();
        let mut config = Config::default();
        config.drain.lame_duck = Duration::from_hours(1);
        let server = Server::new(tower::service_fn(nothing), config);
        let drain = server.drain(listener, Box::new(|| Box::pin(ready(()))));
        timeout(Duration::from_secs(10), drain).await.expect("it waits for nothing");
    }

    #[tokio::test]
    async fn a_listener_with_a_connection_keeps_the_lame_duck_time() {
        let listener = bind("127.0.0.1:0".parse().unwrap(), false).unwrap();
        let server = Server::new(tower::service_fn(nothing), short_lame_duck());
        let _connected = connect(&server, &listener).await;
        let began = clock::now();
        server.drain(listener, Box::new(|| Box::pin(ready(())))).await;
        assert!(began.elapsed() >= LAME_DUCK, "{:?}", began.elapsed());
    }

    /// A client whose connection the server has.
    async fn connect<S: Layers>(server: &Server<S>, listener: &tokio::net::TcpListener) -> TcpStream {
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let is_connected = || if server.connections.is_empty() { Poll::Pending } else { Poll::Ready(()) };
        server.accept_until(listener, poll_fn(|_| is_connected())).await;
        client
    }

    fn short_lame_duck() -> Config {
        let mut config = Config::default();
        (config.drain.lame_duck, config.limits.preface_timeout) = (LAME_DUCK, LAME_DUCK);
        config
    }

    fn nothing(_: Request<Body>) -> Ready<Result<Response<Body>, Infallible>> {
        ready(Ok(Response::default()))
    }
}
