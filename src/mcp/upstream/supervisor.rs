//! Keeps one MCP server connected and its list in service.
//!
//! Reconnects with back-off, indefinitely. A silent server is probed at intervals and as soon as a call is lost: if it
//! does not list its tools in time while no call is under way, the connection is replaced.

use std::{convert::Infallible, fmt, sync::Arc};

use futures_util::future::BoxFuture;
use tokio::{
    select,
    time::{sleep, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    backoff::Backoff,
    bounds::{HUNG, LIST_INTERVAL, LOOK, LOOK_OVER_HTTP, STEADY},
    connection::{ConnectError, Session},
    link::Link,
    listing::{ListedTool, list},
    target::Target,
};
use toolwire_base::clock;
use toolwire_hosts::{
    bounds::{DEGRADED_AFTER, REMOVED_AFTER},
    ids::ProviderName,
};

/// Makes the tools of MCP servers part of what is served. Implemented over the registry.
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
}

/// Why a session ended.
enum SessionEnd {
    Stopped,
    Closed,
    Silent(ConnectError),
}

impl fmt::Debug for Supervisor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { link, target, .. } = self;
        f.debug_struct("Supervisor").field("link", link).field("target", target).finish_non_exhaustive()
    }
}

impl Supervisor {
    pub fn new(link: Link, target: Target, registrar: Arc<dyn Registrar>) -> Self {
        Self { link, target, registrar }
    }

    /// Runs until `stop`, and then ends the connection, and with it the process of the server.
    pub async fn run(self, stop: CancellationToken) {
        select! {
            () = self.connect(&stop) => {}
            never = self.watch_absence() => match never {},
        }
    }

    async fn connect(&self, stop: &CancellationToken) {
        let (provider, mut backoff) = (self.link.provider(), Backoff::default());
        loop {
            // Large: it holds either transport.
            let opening = Box::pin(Session::open(&self.target));
            let Some(opened) = stop.run_until_cancelled(opening).await else { return };
            match opened {
                Ok(session) => {
                    let since = clock::now();
                    if let SessionEnd::Stopped = self.hold(session, stop).await {
                        return;
                    }
                    if since.elapsed() >= STEADY {
                        backoff.reset();
                    }
                }
                Err(error) => tracing::warn!(%provider, %error, "an MCP server cannot be reached"),
            }
            if stop.run_until_cancelled(sleep(backoff.next())).await.is_none() {
                return;
            }
        }
    }

    /// Holds a session for as long as it is good, and ends it.
    async fn hold(&self, mut session: Session, stop: &CancellationToken) -> SessionEnd {
        let end = stop.run_until_cancelled(self.attend(&mut session)).await.unwrap_or(SessionEnd::Stopped);
        self.link.set(None);
        let (provider, last_line) = (self.link.provider(), session.last_line());
        match &end {
            SessionEnd::Stopped => {}
            SessionEnd::Closed => {
                tracing::warn!(%provider, ?last_line, "the connection to an MCP server is lost");
            }
            SessionEnd::Silent(error) => {
                tracing::warn!(%provider, %error, ?last_line, "the connection to an MCP server is replaced");
            }
        }
        session.end().await;
        end
    }

    /// Follows a server for as long as it is there.
    async fn attend(&self, session: &mut Session) -> SessionEnd {
        let shared = Arc::clone(&session.connection.shared);
        let mut listed = match list(&session.connection).await {
            Ok(listed) => listed,
            Err(error) => return SessionEnd::Silent(error),
        };
        self.registrar.serve(&self.link, &listed).await;
        self.link.set(Some(session.connection.clone()));
        tracing::info!(provider = %self.link.provider(), tools = listed.len(), "an MCP server is connected");
        let look = if session.is_process() { LOOK } else { LOOK_OVER_HTTP };
        let mut listed_at = clock::now();
        loop {
            session.subscribe().await;
            let next = async {
                select! {
                    () = shared.list_changed.notified() => {}
                    () = self.link.wait_for_doubt() => {}
                    () = sleep(look) => {}
                }
                // However often a server says that its list has changed.
                sleep_until(listed_at + LIST_INTERVAL).await;
            };
            select! {
                biased;
                () = shared.closed.cancelled() => return SessionEnd::Closed,
                () = self.link.wait_for_reconsideration() => {
                    self.registrar.serve(&self.link, &listed).await;
                    // Whatever gave cause for a list meanwhile has it now.
                    shared.list_changed.notify_one();
                    continue;
                }
                () = next => listed_at = clock::now(),
            }
            // A server that does one thing at a time lists nothing until its call has ended, and a list that fails says
            // nothing of calls under way.
            let may_be_busy = self.link.has_calls() && shared.silence() < HUNG;
            match list(&session.connection).await {
                Ok(again) if again != listed => {
                    listed = again;
                    self.registrar.serve(&self.link, &listed).await;
                }
                Ok(_) => {}
                Err(_) if shared.closed.is_cancelled() => return SessionEnd::Closed,
                Err(_) if may_be_busy => {}
                Err(error) => return SessionEnd::Silent(error),
            }
        }
    }

    /// Without a connection the tools are first degraded and then removed, unless it comes back.
    async fn watch_absence(&self) -> Infallible {
        let (provider, mut watch) = (self.link.provider(), self.link.watch());
        loop {
            // The sender is in the link, which is here.
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
            tracing::warn!(%provider, "an MCP server was not connected for ten minutes: its tools are removed");
            self.registrar.withdraw(provider);
        }
    }
}
