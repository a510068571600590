//! A connection to an MCP server: either revision of the protocol, over either transport.

use std::sync::Arc;

use rmcp::{
    RoleClient,
    model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion, SubscriptionFilter},
    service::{
        ClientInitializeError, ClientLifecycleMode, ClientServiceExt, Peer, RunningService, Subscription,
    },
    transport::Transport,
};
use tokio::time::timeout;

use super::{
    bounds::{CONNECT, GRACE, LIST},
    error_words::words,
    http,
    lines::Lines,
    process::Process,
    tap::{Shared, Tap},
    target::Target,
};

/// What calls use of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    pub(crate) peer: Peer<RoleClient>,
    pub(crate) shared: Arc<Shared>,
}

/// A connection and what ends with it.
pub(crate) struct Session {
    pub(crate) connection: Connection,
    running: RunningService<RoleClient, ClientConfig>,
    process: Option<Process>,
    subscription: Option<Subscription>,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("the program cannot be started: {0}")]
    Start(std::io::Error),
    #[error("{0}")]
    Handshake(String),
    #[error("it did not answer within {} s", CONNECT.as_secs())]
    TimedOut,
    #[error("it does not list its tools: {0}")]
    List(String),
}

impl Session {
    pub(crate) async fn open(target: &Target) -> Result<Self, ConnectError> {
        let shared = Shared::new();
        match target {
            Target::Http { client, url, token } => {
                let transport = http::transport(client.clone(), url, token.as_ref());
                Self::agree(transport, shared, None).await
            }
            Target::Process { command, env } => {
                let (process, stdout, stdin) = Process::start(command, env).map_err(ConnectError::Start)?;
                Self::agree(Lines::new(stdout, stdin), shared, Some(process)).await
            }
        }
    }

    async fn agree<T: Transport<RoleClient> + 'static>(
        transport: T,
        shared: Arc<Shared>,
        process: Option<Process>,
    ) -> Result<Self, ConnectError> {
        let tap = Tap::new(transport, Arc::clone(&shared));
        // The newest revision, and for a server that does not know it the one before.
        let lifecycle = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        };
        let agreed = timeout(CONNECT, config().serve_with_lifecycle(tap, lifecycle)).await;
        let last_line = || process.as_ref().map(Process::last_line).filter(|line| !line.is_empty());
        let running = match agreed {
            Ok(Ok(running)) => running,
            Ok(Err(error)) => return Err(handshake_error(&error, last_line())),
            Err(_) => return Err(ConnectError::TimedOut),
        };
        let connection = Connection { peer: running.peer().clone(), shared };
        Ok(Self { connection, running, process, subscription: None })
    }

    /// Subscribes to list changes where the revision requires it.
    pub(crate) async fn subscribe(&mut self) {
        let Some(info) = self.connection.peer.peer_info() else { return };
        let says_changes = info.capabilities.tools.as_ref().and_then(|it| it.list_changed) == Some(true);
        let has_ended = self.subscription.as_ref().is_none_or(|it| it.end().is_some());
        if info.protocol_version.has_initialize() || !says_changes || !has_ended {
            return;
        }
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        // Without one the list is looked at now and then.
        self.subscription =
            timeout(LIST, self.connection.peer.listen(filter)).await.ok().and_then(Result::ok);
    }

    pub(crate) fn is_process(&self) -> bool {
        self.process.is_some()
    }

    /// The last line of a process's standard error.
    pub(crate) fn last_line(&self) -> Option<String> {
        self.process.as_ref().map(Process::last_line).filter(|line| !line.is_empty())
    }

    /// Ends it, politely and within a bound.
    pub(crate) async fn end(self) {
        let Self { connection, mut running, process, subscription } = self;
        drop(subscription);
        connection.shared.closed.cancel();
        let closing = running.close_with_timeout(GRACE);
        let _ = closing.await;
        drop(running);
        if let Some(process) = process {
            process.end().await;
        }
    }
}

/// This client's description of itself: it offers a server nothing.
fn config() -> ClientConfig {
    ClientConfig::new(
        ClientCapabilities::default(),
        Implementation::new("toolwire", env!("CARGO_PKG_VERSION")),
    )
}

fn handshake_error(error: &ClientInitializeError, last_line: Option<String>) -> ConnectError {
    let what = match error {
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => words(fallback.as_ref()),
        error => words(error),
    };
    ConnectError::Handshake(
        last_line.map_or_else(|| what.clone(), |line| format!("{what}; it wrote: {line}")),
    )
}
