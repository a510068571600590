//! The accept loop and the way out: serve until told to stop, then drain in order, by force at the end.

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
    connections::{Connections, Place},
    listener::{Listener, accept},
    signals::Signals,
    socket::{Socket, Stream},
    tls::Tls,
};
use toolwire_base::clock;

mod hooks;

/// How long the answers that the forced end brought about have to be sent.
const FLUSH_TIME: Duration = Duration::from_millis(200);
/// How long handlers have to end after the forced end has dropped their streams.
const ABORT_TIME: Duration = Duration::from_secs(1);

/// How a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Report {
    /// Connections that were open at the signal.
    pub connections: usize,
    /// Streams that were in flight at the forced end and were cut; 0 after a clean drain.
    pub streams_cut: usize,
    /// From the signal to the end.
    pub elapsed: Duration,
}

impl Report {
    /// That of two listeners which ended together.
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
/// The drain, in order: `hooks` run (health says `NOT_SERVING`); the server goes on for the lame-duck time;
/// connections that wait in the accept queue are taken; the listener closes; watches end with UNAVAILABLE; every
/// connection says GOAWAY and closes when its calls are done. What is left at the forced end is dropped.
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
    let _drop_connections = server.signals.forced.clone().drop_guard();
    server.accept_until(&socket, shutdown).await;

    let signal = clock::now();
    let connections = server.connections.len();
    let forced_end = signal + server.config.drain.forced_end;
    let is_drained = timeout_at(forced_end, server.drain(socket, hooks.on_draining)).await.is_ok();
    let streams_cut = if is_drained { 0 } else { server.force(hooks.on_forced).await };
    Report { connections, streams_cut, elapsed: signal.elapsed() }
}

struct Server<S> {
    service: S,
    config: Arc<Config>,
    tls: Option<Tls>,
    signals: Arc<Signals>,
    connections: TaskTracker,
    places: Connections,
}

impl<S: Layers> Server<S> {
    fn new(service: S, config: Config) -> Self {
        Self {
            service,
            places: Connections::new(&config.limits),
            config: Arc::new(config),
            tls: None,
            signals: Arc::default(),
            connections: TaskTracker::new(),
        }
    }

    async fn accept_until(&self, socket: &impl Socket, end: impl Future<Output = ()>) {
        let (mut end, mut tended) = (pin!(end), pin!(self.places.tend()));
        loop {
            tokio::select! {
                biased;
                () = &mut end => return,
                never = &mut tended => match never {},
                (place, connection) = self.next(socket) => self.spawn(connection, place),
            }
        }
    }

    /// The next connection for which there is room. While there is none, peers wait in the kernel's queue.
    async fn next<K: Socket>(&self, socket: &K) -> (Place, (K::Stream, SocketAddr)) {
        loop {
            self.places.room().await;
            let (stream, address) = accept(socket).await;
            // Who has its share already is closed at once: in the queue it would keep others out.
            if let Some(place) = self.places.take(address) {
                return (place, (stream, address));
            }
        }
    }

    fn spawn(&self, (stream, address): (impl Stream, SocketAddr), place: Place) {
        let connection = Connection {
            address,
            service: self.service.clone(),
            config: self.config.clone(),
            tls: self.tls.clone(),
            signals: self.signals.clone(),
            known: place.known.clone(),
        };
        self.connections.spawn(async move {
            connection.run(stream).await;
            drop(place);
        });
    }

    async fn drain(&self, socket: impl Socket, on_draining: hooks::OnDraining) {
        let lame_duck = self.config.drain.lame_duck;
        self.signals.draining.cancel();
        let announced = join(timeout(lame_duck, on_draining()), sleep(lame_duck));
        self.accept_until(&socket, async { drop(announced.await) }).await;
        self.empty_queue(socket);
        self.signals.go_away.cancel();
        for tasks in [&self.connections, &self.signals.streams] {
            tasks.close();
            tasks.wait().await;
        }
    }

    /// Takes the connections that peers have made already, and closes the socket.
    fn empty_queue(&self, socket: impl Socket) {
        let mut queue = socket.close();
        while self.places.has_room()
            && let Some(connection) = queue.next()
        {
            if let Some(place) = self.places.take(connection.1) {
                self.spawn(connection, place);
            }
        }
    }

    /// Drops what is left; how many streams that were.
    async fn force(&self, on_forced: hooks::OnForced) -> usize {
        let streams_cut = self.signals.streams.len();
        on_forced();
        // What the hook made ready can still leave: a connection ends when it is written, its streams before that.
        self.connections.close();
        let _ = timeout(FLUSH_TIME, self.connections.wait()).await;
        self.signals.forced.cancel();
        for tasks in [&self.connections, &self.signals.streams] {
            tasks.close();
            // A handler that blocks its thread is not waited for any longer.
            let _ = timeout(ABORT_TIME, tasks.wait()).await;
        }
        streams_cut
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::{Ready, ready},
        io::Read,
        net::TcpStream,
    };

    use super::*;
    use crate::faces::transport::bind;

    const LAME_DUCK: Duration = Duration::from_millis(10);

    #[tokio::test]
    async fn a_connection_that_came_at_the_last_moment_is_taken() {
        let listener = bind("127.0.0.1:0".parse().unwrap(), false).unwrap();
        let address = listener.local_addr().unwrap();
        let server = Server::new(tower::service_fn(nothing), hurried());
        let (sender, clients) = std::sync::mpsc::channel();
        // Keeps the only thread busy past the lame-duck time: the kernel accepts, the server cannot.
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

    fn hurried() -> Config {
        let mut config = Config::default();
        (config.drain.lame_duck, config.limits.preface_timeout) = (LAME_DUCK, LAME_DUCK);
        config
    }

    fn nothing(_: Request<Body>) -> Ready<Result<Response<Body>, Infallible>> {
        ready(Ok(Response::default()))
    }
}
