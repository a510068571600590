//! Notifies clients of changes to their tools, as `WatchTools` reports them for their user.

use std::{mem, time::Duration};

use rmcp::{ErrorData, Peer, RoleServer, service::SubscriptionContext};
use tokio::time::{sleep, timeout_at};
use tokio_util::sync::CancellationToken;
use tonic::{Status, Streaming};

use super::{outcome, services::Services};
use toolwire_base::clock;
use toolwire_contract::proto::v1::{ToolView, WatchEventType, WatchToolsRequest, WatchToolsResponse};

/// Changes within this time are one notification: a reload changes many tools.
const DEBOUNCE: Duration = Duration::from_millis(100);

/// The delay before the first attempt to watch again, which doubles with each, and its maximum.
const RECONNECT: Duration = Duration::from_secs(1);
const MAX_RECONNECT: Duration = Duration::from_secs(30);

/// The changes of the user's tools from now on. A watch that ends, as when its server restarts, is replaced by another.
struct Changes<'a> {
    services: &'a Services,
    /// The watch, unless it has to be begun.
    events: Option<Streaming<WatchToolsResponse>>,
    is_synced: bool,
    /// Whether a watch has ended, so that changes may have been missed.
    is_behind: bool,
    /// The delay before the next attempt.
    delay: Duration,
}

/// Serves a subscription until its client leaves, or the server drains. The result that follows reports the drain.
pub(super) async fn serve(
    services: &Services,
    drain: &CancellationToken,
    context: &SubscriptionContext,
) -> Result<(), ErrorData> {
    if context.accepted().tools_list_changed != Some(true) {
        tokio::select! {
            () = context.cancelled() => return Ok(()),
            () = drain.cancelled() => return Ok(()),
        }
    }
    let mut changes = Changes::new(services);
    changes.connect().await.map_err(|status| outcome::protocol_error(&status))?;
    loop {
        tokio::select! {
            () = context.cancelled() => return Ok(()),
            () = drain.cancelled() => return Ok(()),
            () = changes.next() => {
                if context.sink().notify_tool_list_changed().await.is_err() {
                    return Ok(());
                }
            }
        }
    }
}

/// Notifies a client of an older revision, which cannot subscribe, until it disconnects.
pub(super) async fn notify_until_closed(services: &Services, peer: Peer<RoleServer>) {
    let mut changes = Changes::new(services);
    while !peer.is_transport_closed() {
        changes.next().await;
        if peer.notify_tool_list_changed().await.is_err() {
            return;
        }
    }
}

impl<'a> Changes<'a> {
    fn new(services: &'a Services) -> Self {
        Self { services, events: None, is_synced: false, is_behind: false, delay: Duration::ZERO }
    }

    async fn connect(&mut self) -> Result<(), Status> {
        let request = WatchToolsRequest { view: ToolView::Basic.into() };
        self.events = Some(self.services.tools().watch_tools(request).await?.into_inner());
        self.is_synced = false;
        Ok(())
    }

    /// Waits for changes.
    async fn next(&mut self) {
        while !self.event().await {}
        let end = clock::now() + DEBOUNCE;
        while timeout_at(end, self.event()).await.is_ok() {}
    }

    /// Waits for an event, or for a watch. Returns whether the list may have changed. Cancel safe.
    async fn event(&mut self) -> bool {
        let Some(events) = &mut self.events else {
            self.reconnect().await;
            return false;
        };
        let Ok(Some(event)) = events.message().await else {
            (self.events, self.is_behind) = (None, true);
            return false;
        };
        match event.r#type() {
            WatchEventType::Synced => {
                (self.is_synced, self.delay) = (true, Duration::ZERO);
                mem::take(&mut self.is_behind)
            }
            WatchEventType::Added
            | WatchEventType::Changed
            | WatchEventType::Removed
            | WatchEventType::Degraded => self.is_synced,
            _ => false,
        }
    }

    /// Tries once to begin a watch, later after each failure: the server may have many clients that it has lost.
    async fn reconnect(&mut self) {
        sleep(self.delay.mul_f64(0.5 + fastrand::f64() / 2.0)).await;
        self.delay = (self.delay * 2).clamp(RECONNECT, MAX_RECONNECT);
        if let Err(status) = self.connect().await {
            tracing::debug!(%status, "the tools cannot be watched");
        }
    }
}
