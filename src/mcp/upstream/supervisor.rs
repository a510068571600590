//! Keeps one MCP server connected and its list in service.
//!
//! Reconnects with back-off, indefinitely. A silent server is probed at intervals and as soon as a call is lost or its
//! session doubtful: if it does not list its tools in time while no call is under way, the connection is replaced. If
//! it refuses to while calls are under way, another session takes its place as soon as there is one, and the calls of
//! the first go on.

use std::{convert::Infallible, fmt, sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use tokio::{
    select,
    time::{Instant, sleep, sleep_until, timeout},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    backoff::Backoff,
    bounds::{HTTP_PROBE_INTERVAL, HUNG_AFTER, LIST_INTERVAL, LONGEST_WAIT, PROBE_INTERVAL, STEADY_AFTER},
    connect_error::ConnectError,
    connection::{Connection, Session},
    greeting::Greeting,
    link::Link,
    listing::{List, ListedTool, list},
    target::Target,
};
use toolwire_base::clock;
use toolwire_providers::{
    bounds::{DEGRADED_AFTER, REMOVED_AFTER},
    ids::ProviderName,
};

/// Adds the tools of MCP servers to the catalogue. Implemented over the registry.
pub trait Registrar: Send + Sync {
    /// Serves what is listed and accepted in place of what was served before.
    fn serve<'a>(&'a self, link: &'a Link, listed: &'a [ListedTool]) -> BoxFuture<'a, ()>;

    /// Says why calls of the provider's tools will fail, or with `None` that they will not.
    fn set_degraded(&self, provider: &ProviderName, reason: Option<String>);

    /// Takes the provider's tools out, but for those that a file declares.
    fn withdraw(&self, provider: &ProviderName);
}

pub struct Supervisor {
    link: Link,
    target: Target,
    registrar: Arc<dyn Registrar>,
    greeting: Greeting,
    /// Sessions in whose place others serve.
    retired: TaskTracker,
}

/// Why a session ended.
enum SessionEnd {
    Stopped,
    Closed,
    /// Another one takes its place, which has listed its tools.
    Replaced(Box<Session>, List),
    /// The server did not list its tools: it refused, or did not answer in time.
    ListFailed(ConnectError),
}

impl fmt::Debug for Supervisor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { link, target, .. } = self;
        f.debug_struct("Supervisor").field("link", link).field("target", target).finish_non_exhaustive()
    }
}

impl Supervisor {
    pub fn new(link: Link, target: Target, registrar: Arc<dyn Registrar>) -> Self {
        Self { link, target, registrar, greeting: Greeting::default(), retired: TaskTracker::new() }
    }

    /// Runs until `stop`, and then ends the connection, and with it the process of the server.
    pub async fn run(self, stop: CancellationToken) {
        select! {
            () = self.connect(&stop) => {}
            never = self.watch_absence() => match never {},
        }
        self.retired.close();
        self.retired.wait().await;
    }

    async fn connect(&self, stop: &CancellationToken) {
        let (provider, mut backoff) = (self.link.provider(), Backoff::default());
        loop {
            let mut wait = Duration::ZERO;
            // Large: it holds either transport.
            let opening = Box::pin(Session::open(&self.target, &self.greeting));
            let Some(opened) = stop.run_until_cancelled(opening).await else { return };
            match opened {
                Ok(session) => match self.hold(session, stop).await {
                    None => return,
                    Some(in_service) if in_service >= STEADY_AFTER => backoff.reset(),
                    Some(_) => {}
                },
                Err(error) => {
                    wait = error.retry_after().min(LONGEST_WAIT);
                    tracing::warn!(%provider, %error, "an MCP server cannot be reached");
                }
            }
            if stop.run_until_cancelled(sleep(backoff.next().max(wait))).await.is_none() {
                return;
            }
        }
    }

    /// Keeps a session, and those that take its place, until one fails, and ends it. Returns for how long the tools
    /// were in service, or `None` after `stop`.
    async fn hold(&self, mut session: Session, stop: &CancellationToken) -> Option<Duration> {
        // Not since the session was opened: a server that lets every list time out would count as steady, and its
        // process would be started again without back-off.
        let (mut in_service_since, mut listed) = (None, None);
        let end = loop {
            let attending = self.attend(&mut session, listed.take(), &mut in_service_since);
            match stop.run_until_cancelled(attending).await.unwrap_or(SessionEnd::Stopped) {
                SessionEnd::Replaced(next, list) => {
                    let retiring = std::mem::replace(&mut session, *next).retire();
                    let stop = stop.clone();
                    self.retired.spawn(async move { stop.run_until_cancelled(retiring).await });
                    listed = Some(list);
                }
                end => break end,
            }
        };
        self.link.set(None);
        self.link.note_look();
        let in_service = in_service_since.map_or(Duration::ZERO, |since: Instant| since.elapsed());
        let (provider, last_line) = (self.link.provider(), session.last_line());
        match &end {
            SessionEnd::Stopped | SessionEnd::Replaced(..) => {}
            SessionEnd::Closed => {
                tracing::warn!(%provider, ?last_line, "the connection to an MCP server is lost");
            }
            SessionEnd::ListFailed(error) => {
                tracing::warn!(%provider, %error, ?last_line, "the connection to an MCP server is replaced");
            }
        }
        session.end().await;
        (!matches!(end, SessionEnd::Stopped)).then_some(in_service)
    }

    /// Puts the list of a server into service, and follows its changes until the connection fails.
    async fn attend(
        &self,
        session: &mut Session,
        listed: Option<List>,
        in_service_since: &mut Option<Instant>,
    ) -> SessionEnd {
        let shared = Arc::clone(&session.connection.shared);
        let listed = match listed {
            Some(listed) => Ok(listed),
            None => list(&session.connection).await,
        };
        let mut listed = match listed {
            Ok(listed) => listed,
            Err(error) => return SessionEnd::ListFailed(error),
        };
        self.put_in_service(&session.connection, &listed).await;
        in_service_since.get_or_insert_with(clock::now);
        let probe_interval = if session.is_process() { PROBE_INTERVAL } else { HTTP_PROBE_INTERVAL };
        let (mut listed_at, mut backoff) = (clock::now(), Backoff::default());
        loop {
            session.subscribe().await;
            let next = async {
                select! {
                    () = shared.relist.notified() => {}
                    () = self.link.wait_for_doubt() => {}
                    () = sleep(probe_interval) => {}
                }
                // Bounds the lists of a server that announces changes all the time.
                sleep_until(listed_at + LIST_INTERVAL).await;
            };
            select! {
                biased;
                () = shared.closed.cancelled() => return SessionEnd::Closed,
                () = self.link.wait_for_reconsideration() => {
                    self.registrar.serve(&self.link, &listed.tools).await;
                    // `next` was dropped, and with it a notification that it may have taken: list again.
                    shared.relist.notify_one();
                    continue;
                }
                () = next => listed_at = clock::now(),
            }
            match self.list_again(&session.connection, &mut listed).await {
                Ok(true) => {}
                Ok(false) => listed_at = clock::now() + backoff.next(),
                Err(end) => return end,
            }
            self.link.note_look();
        }
    }

    async fn put_in_service(&self, connection: &Connection, listed: &List) {
        self.report(listed, &List::default());
        self.registrar.serve(&self.link, &listed.tools).await;
        self.link.set(Some(connection.clone()));
        let (provider, tools) = (self.link.provider(), listed.tools.len());
        tracing::info!(%provider, tools, "an MCP server is connected");
    }

    /// Probes the connection by its list, and serves that if it has changed. False if the session should be replaced
    /// and no other one can be opened.
    async fn list_again(&self, connection: &Connection, listed: &mut List) -> Result<bool, SessionEnd> {
        let shared = &connection.shared;
        // A server that handles one request at a time does not list until its call has ended, so while calls are under
        // way a list that fails does not show that the server is lost.
        let may_be_busy = self.link.has_calls() && shared.silence() < HUNG_AFTER;
        match list(connection).await {
            Ok(again) => {
                if again != *listed {
                    self.report(&again, listed);
                    *listed = again;
                    self.registrar.serve(&self.link, &listed.tools).await;
                }
                Ok(true)
            }
            Err(_) if shared.closed.is_cancelled() => Err(SessionEnd::Closed),
            Err(error) if !may_be_busy => Err(SessionEnd::ListFailed(error)),
            // It is not busy with them either: it answers.
            Err(error) if error.is_refusal() => {
                let replacing = Box::pin(self.replacement());
                let Some(Ok((next, list))) = shared.closed.run_until_cancelled(replacing).await else {
                    return Ok(false);
                };
                tracing::warn!(provider = %self.link.provider(), %error, "the session of an MCP server is replaced");
                self.link.set(Some(next.connection.clone()));
                self.link.note_look();
                Err(SessionEnd::Replaced(next, list))
            }
            Err(_) => Ok(true),
        }
    }

    /// Another session, while the one before still serves.
    async fn replacement(&self) -> Result<(Box<Session>, List), ConnectError> {
        let session = Box::new(Session::open(&self.target, &self.greeting).await?);
        match list(&session.connection).await {
            Ok(listed) => Ok((session, listed)),
            Err(error) => {
                session.end().await;
                Err(error)
            }
        }
    }

    /// Warns of what is left out of a list, unless that was so before.
    fn report(&self, list: &List, before: &List) {
        let provider = self.link.provider();
        for what in list.left_out.iter().filter(|it| !before.left_out.contains(it)) {
            tracing::warn!(%provider, what, "an entry of the list of an MCP server is left out");
        }
    }

    /// Without a connection, marks the tools as degraded and then withdraws them, unless the server comes back.
    async fn watch_absence(&self) -> Infallible {
        let (provider, mut watch) = (self.link.provider(), self.link.watch());
        loop {
            // Never an error: the sender is in `self.link`.
            let _ = watch.wait_for(Option::is_some).await;
            self.registrar.set_degraded(provider, None);
            let _ = watch.wait_for(Option::is_none).await;
            if timeout(DEGRADED_AFTER, watch.wait_for(Option::is_some)).await.is_ok() {
                continue;
            }
            tracing::warn!(%provider, "an MCP server is not connected: its tools are degraded");
            self.registrar
                .set_degraded(provider, Some(format!("the MCP server `{provider}` is not connected")));
            let left = REMOVED_AFTER.saturating_sub(DEGRADED_AFTER);
            if timeout(left, watch.wait_for(Option::is_some)).await.is_ok() {
                continue;
            }
            tracing::warn!(%provider, after = ?REMOVED_AFTER, "an MCP server was not connected: its tools are removed");
            self.registrar.withdraw(provider);
        }
    }
}
