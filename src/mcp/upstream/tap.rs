//! Between rmcp and a transport: what a server sends beside answers is bounded here, since rmcp spawns a task for each
//! notification and each request, and logs them whole.
//!
//! Progress goes to its call, of a flood the newest; a changed list is noted; all other notifications but those of a
//! subscription are dropped.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use rmcp::{
    RoleClient,
    model::{
        ClientJsonRpcMessage, ClientNotification, ClientRequest, GetMeta, JsonRpcMessage,
        ProgressNotificationParam, ProgressToken, ServerJsonRpcMessage, ServerNotification,
    },
    transport::Transport,
};
use tokio::{
    sync::{Notify, watch},
    time::Instant,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{bounds::MAX_REQUESTS, in_flight::InFlight, meter::Meter};
use toolwire_base::clock;

/// What a call puts into the extensions of its request.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing {
    pub(crate) progress: Arc<watch::Sender<Option<Progress>>>,
    pub(crate) departure: Arc<Departure>,
}

/// Whether a request leaves this process, decided once: by its sending, or by the call that gives it up.
#[derive(Debug, Default)]
pub(crate) struct Departure(OnceLock<bool>);

impl Departure {
    /// Returns whether the request may leave.
    fn depart(&self) -> bool {
        *self.0.get_or_init(|| true)
    }

    /// Gives the request up. Returns whether it never leaves; otherwise it may have left.
    pub(crate) fn abandon(&self) -> bool {
        !*self.0.get_or_init(|| false)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Progress {
    pub(crate) fraction: Option<f64>,
    pub(crate) message: Option<String>,
}

/// What a connection and its transport share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The calls that report progress.
    progress: Mutex<HashMap<ProgressToken, Arc<watch::Sender<Option<Progress>>>>>,
    received: Mutex<Instant>,
    in_flight: Mutex<InFlight>,
    has_warned_of_strays: AtomicBool,
    /// The rate of what serves no call.
    pub(crate) discarded: Meter,
    /// The calls that use the connection, each by a token.
    pub(crate) calls: TaskTracker,
    /// The list is to be read again: it has changed, or the session is doubtful.
    pub(crate) relist: Notify,
    /// Nothing more will be received.
    pub(crate) closed: CancellationToken,
}

#[derive(Debug)]
pub(crate) struct Tap<T> {
    inner: T,
    shared: Arc<Shared>,
    /// Requests of the server without an answer so far.
    requests: usize,
}

impl Shared {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            progress: Mutex::default(),
            received: Mutex::new(clock::now()),
            in_flight: Mutex::default(),
            has_warned_of_strays: AtomicBool::new(false),
            discarded: Meter::default(),
            calls: TaskTracker::new(),
            relist: Notify::new(),
            closed: CancellationToken::new(),
        })
    }

    pub(crate) fn in_flight(&self) -> MutexGuard<'_, InFlight> {
        lock(&self.in_flight)
    }

    /// The call has ended.
    pub(crate) fn forget(&self, token: &ProgressToken) {
        lock(&self.progress).remove(token);
    }

    /// Counts what was received against the rate of what serves no call, unless it is an answer that is awaited.
    pub(crate) fn meter(&self, message: Option<&ServerJsonRpcMessage>, bytes: usize) {
        let id = match message {
            Some(JsonRpcMessage::Response(it)) => Some(&it.id),
            Some(JsonRpcMessage::Error(it)) => it.id.as_ref(),
            Some(JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_)) | None => None,
        };
        if !id.is_some_and(|id| self.in_flight().contains(id)) {
            self.discarded.spend(bytes);
        }
    }

    /// The messages that one of a process is. A session whose answers may be of several requests is doubtful.
    pub(crate) fn attribute(&self, message: ServerJsonRpcMessage, is_rpc: bool) -> Vec<ServerJsonRpcMessage> {
        let mut in_flight = self.in_flight();
        let before = in_flight.strays();
        let messages = in_flight.attribute(message, is_rpc);
        if in_flight.strays() > before {
            self.relist.notify_one();
            if !self.has_warned_of_strays.swap(true, Ordering::Relaxed) {
                tracing::warn!("an MCP server answers without the identifier of a request");
            }
        }
        messages
    }

    /// How long nothing has come of the server.
    pub(crate) fn silence(&self) -> Duration {
        clock::now().saturating_duration_since(*lock(&self.received))
    }

    fn report(&self, reported: ProgressNotificationParam) {
        let ProgressNotificationParam { progress_token, progress, total, message, .. } = reported;
        let fraction = total.filter(|total| *total > 0.0).map(|total| progress / total);
        if let Some(call) = lock(&self.progress).get(&progress_token) {
            call.send_replace(Some(Progress { fraction, message }));
        }
    }
}

impl<T> Tap<T> {
    pub(crate) fn new(inner: T, shared: Arc<Shared>) -> Self {
        Self { inner, shared, requests: 0 }
    }

    /// Notes what is to be sent. Returns what decides whether it leaves, for a call.
    fn note_sent(&mut self, message: &ClientJsonRpcMessage) -> Option<Arc<Departure>> {
        match message {
            JsonRpcMessage::Request(request) => {
                let mut in_flight = self.shared.in_flight();
                match &request.request {
                    ClientRequest::InitializeRequest(_) | ClientRequest::DiscoverRequest(_) => {
                        in_flight.add_handshake(&request.id);
                    }
                    ClientRequest::SubscriptionsListenRequest(_) => in_flight.add_subscription(&request.id),
                    _ => in_flight.add(&request.id),
                }
                drop(in_flight);
                let ClientRequest::CallToolRequest(call) = &request.request else { return None };
                let outgoing = call.extensions.get::<Outgoing>()?;
                if let Some(token) = request.request.get_meta().get_progress_token() {
                    let mut calls = lock(&self.shared.progress);
                    // A call may have been dropped before its request came here.
                    calls.retain(|_, it| !it.is_closed());
                    calls.insert(token, Arc::clone(&outgoing.progress));
                }
                Some(Arc::clone(&outgoing.departure))
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {
                self.requests = self.requests.saturating_sub(1);
                None
            }
            JsonRpcMessage::Notification(it) => {
                let mut in_flight = self.shared.in_flight();
                in_flight.note_unanswered();
                // Its answer is no longer waited for.
                if let ClientNotification::CancelledNotification(it) = &it.notification
                    && let Some(id) = &it.params.request_id
                {
                    in_flight.remove(id);
                }
                None
            }
        }
    }

    /// What rmcp is to see of a message; `Err` if the connection is to end.
    fn filter(&mut self, message: ServerJsonRpcMessage) -> Result<Option<ServerJsonRpcMessage>, ()> {
        *lock(&self.shared.received) = clock::now();
        match message {
            JsonRpcMessage::Notification(notification) => {
                match notification.notification {
                    ServerNotification::ProgressNotification(it) => self.shared.report(it.params),
                    ServerNotification::ToolListChangedNotification(_) => {
                        self.shared.relist.notify_one();
                    }
                    it @ (ServerNotification::SubscriptionsAcknowledgedNotification(_)
                    | ServerNotification::CancelledNotification(_)) => {
                        return Ok(Some(JsonRpcMessage::notification(it)));
                    }
                    _ => {}
                }
                Ok(None)
            }
            JsonRpcMessage::Request(request) => {
                self.requests += 1;
                if self.requests > MAX_REQUESTS {
                    tracing::warn!(
                        "an MCP server asks faster than it takes answers: its connection is ended"
                    );
                    return Err(());
                }
                Ok(Some(JsonRpcMessage::Request(request)))
            }
            // A slow server may answer the first handshake after the second was sent, which rmcp takes for an error.
            JsonRpcMessage::Response(it) if !self.shared.in_flight().remove(&it.id) => Ok(None),
            JsonRpcMessage::Error(it)
                if it.id.as_ref().is_none_or(|id| !self.shared.in_flight().remove(id)) =>
            {
                Ok(None)
            }
            message => Ok(Some(message)),
        }
    }
}

impl<T: Transport<RoleClient> + 'static> Transport<RoleClient> for Tap<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let departure = self.note_sent(&message);
        let request = if let JsonRpcMessage::Request(it) = &message { Some(it.id.clone()) } else { None };
        let shared = Arc::clone(&self.shared);
        let sending = self.inner.send(message);
        async move {
            // A call that was given up may have been made again elsewhere.
            let leaves = departure.is_none_or(|it| it.depart());
            let sent = if leaves { sending.await } else { Ok(()) };
            if let Some(id) = request.filter(|_| !leaves || sent.is_err()) {
                shared.in_flight().remove(&id);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            // The only wait here, so that nothing is lost where rmcp drops this future.
            let message = self.inner.receive().await;
            match message.map(|it| self.filter(it)) {
                Some(Ok(Some(message))) => return Some(message),
                Some(Ok(None)) => {}
                Some(Err(())) | None => {
                    self.shared.closed.cancel();
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.shared.closed.cancel();
        self.inner.close().await
    }
}

impl<T> Drop for Tap<T> {
    fn drop(&mut self) {
        self.shared.closed.cancel();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
