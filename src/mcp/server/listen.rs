//! Tells clients that their tools have changed, as `WatchTools` reports it for their user.

use std::time::Duration;

use rmcp::{ErrorData, Peer, RoleServer, service::SubscriptionContext};
use tokio::time::timeout_at;
use tokio_util::sync::CancellationToken;
use tonic::{Status, Streaming};

use super::{outcome, services::Services};
use toolwire_base::clock;
use toolwire_contract::proto::v1::{ToolView, WatchEventType, WatchToolsRequest, WatchToolsResponse};

/// Changes within this time are one notification: a reload changes many tools.
const JOINED: Duration = Duration::from_millis(100);

/// The changes of the user's tools from now on.
struct Changes {
    events: Streaming<WatchToolsResponse>,
    is_synced: bool,
}

/// Serves a subscription until its client leaves, or the server drains. The result that follows reports the drain.
pub(super) async fn until_end(
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
    let mut changes = Changes::begin(services).await.map_err(|status| outcome::protocol_error(&status))?;
    loop {
        tokio::select! {
            () = context.cancelled() => return Ok(()),
            () = drain.cancelled() => return Ok(()),
            is_there = changes.next() => {
                if !is_there || context.sink().notify_tool_list_changed().await.is_err() {
                    return Ok(());
                }
            }
        }
    }
}

/// Notifies a client of an older revision, which cannot subscribe, until it disconnects.
pub(super) async fn announce(services: &Services, peer: Peer<RoleServer>) {
    let Ok(mut changes) = Changes::begin(services).await else { return };
    while changes.next().await {
        if peer.notify_tool_list_changed().await.is_err() {
            return;
        }
    }
}

impl Changes {
    async fn begin(services: &Services) -> Result<Self, Status> {
        let request = WatchToolsRequest { view: ToolView::Basic.into() };
        let events = services.tools().watch_tools(request).await?.into_inner();
        Ok(Self { events, is_synced: false })
    }

    /// Waits for changes. Returns false once the watch has ended.
    async fn next(&mut self) -> bool {
        loop {
            match self.event().await {
                None => return false,
                Some(true) => break,
                Some(false) => {}
            }
        }
        let end = clock::now() + JOINED;
        while let Ok(Some(_)) = timeout_at(end, self.event()).await {}
        true
    }

    /// Whether the next event changes the list.
    async fn event(&mut self) -> Option<bool> {
        let kind = self.events.message().await.ok()??.r#type();
        let was_synced = self.is_synced;
        self.is_synced |= kind == WatchEventType::Synced;
        let is_change = matches!(
            kind,
            WatchEventType::Added
                | WatchEventType::Changed
                | WatchEventType::Removed
                | WatchEventType::Degraded
        );
        Some(was_synced && is_change)
    }
}
