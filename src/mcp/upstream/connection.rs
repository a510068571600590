//! A connection to an MCP server: either revision of the protocol, over either transport.

use std::sync::Arc;

use rmcp::{
    RoleClient,
    model::{ClientConfig, SubscriptionFilter},
    service::{ClientServiceExt, Peer, RunningService, Subscription},
    transport::Transport,
};
use tokio::{select, time::timeout};

use super::{
    bounds::{CONNECT, GRACE, LIST},
    connect_error::ConnectError,
    greeting::{Greeting, Lifecycle},
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

impl Session {
    /// A probe may end a process, a connection or a session: that is an answer too, and the server is greeted by the
    /// revision before on another one.
    pub(crate) async fn open(target: &Target, greeting: &Greeting) -> Result<Self, ConnectError> {
        if !greeting.is_older() {
            match Self::open_by(target, Lifecycle::Probe).await {
                Err(error) if error.may_be_of_probe() => {}
                opened => {
                    if let Ok(session) = &opened {
                        greeting.remember(session.is_older());
                    }
                    return opened;
                }
            }
        }
        let opened = Self::open_by(target, Lifecycle::Initialize).await;
        match &opened {
            Ok(_) => greeting.remember(true),
            // It may have become one that knows the newer only.
            Err(error) if error.is_refusal() => greeting.remember(false),
            Err(_) => {}
        }
        opened
    }

    async fn open_by(target: &Target, lifecycle: Lifecycle) -> Result<Self, ConnectError> {
        let shared = Shared::new();
        match target {
            Target::Http { client, url, token } => {
                let transport = http::transport(client.clone(), url, token.as_ref(), Arc::clone(&shared));
                Self::agree(transport, lifecycle, shared, None).await
            }
            Target::Process { command, env } => {
                let started = Process::start(command, env);
                let (process, stdout, stdin) = started.map_err(|error| ConnectError::start(&error))?;
                let transport = Lines::new(stdout, stdin, Arc::clone(&shared));
                Self::agree(transport, lifecycle, shared, Some(process)).await
            }
        }
    }

    async fn agree<T: Transport<RoleClient> + 'static>(
        transport: T,
        lifecycle: Lifecycle,
        shared: Arc<Shared>,
        process: Option<Process>,
    ) -> Result<Self, ConnectError> {
        let tap = Tap::new(transport, Arc::clone(&shared));
        let (config, mode) = lifecycle.terms();
        let agreed = timeout(CONNECT, config.serve_with_lifecycle(tap, mode)).await;
        let last_line = || process.as_ref().map(Process::last_line).filter(|line| !line.is_empty());
        let running = match agreed {
            Ok(Ok(running)) => running,
            Ok(Err(error)) => return Err(ConnectError::of_handshake(&error, last_line())),
            Err(_) => return Err(ConnectError::timed_out()),
        };
        let connection = Connection { peer: running.peer().clone(), shared };
        Ok(Self { connection, running, process, subscription: None })
    }

    fn is_older(&self) -> bool {
        self.connection.peer.peer_info().is_some_and(|it| it.protocol_version.has_initialize())
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

    /// Ends it once no call uses it any more: another one takes its place.
    pub(crate) async fn retire(self) {
        let shared = Arc::clone(&self.connection.shared);
        shared.calls.close();
        select! {
            () = shared.calls.wait() => {}
            () = shared.closed.cancelled() => {}
        }
        self.end().await;
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
