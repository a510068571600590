//! A request that was handed to a connection: its server is asked to stop once, by its caller, its deadline, or by its
//! being dropped.

use rmcp::{
    RoleClient, ServiceError,
    model::{ClientNotification, CustomNotification, ServerResult},
    service::RequestHandle,
};
use serde_json::json;
use tokio::time::timeout;

use super::{bounds::CANCEL, connection::Connection, link::Link};
use toolwire_tool::context::{StopCause, ToolContext};

pub(crate) struct RunningRequest<'a> {
    /// `None` once it has ended.
    handle: Option<RequestHandle<RoleClient>>,
    connection: &'a Connection,
    link: &'a Link,
    context: &'a ToolContext,
    may_cancel: bool,
}

impl<'a> RunningRequest<'a> {
    pub(crate) fn new(
        handle: RequestHandle<RoleClient>,
        connection: &'a Connection,
        link: &'a Link,
        context: &'a ToolContext,
    ) -> Self {
        Self { handle: Some(handle), connection, link, context, may_cancel: true }
    }

    /// The answer. Pending for ever after it.
    pub(crate) async fn answer(&mut self) -> Result<ServerResult, ServiceError> {
        let Some(handle) = &mut self.handle else { return std::future::pending().await };
        let answer = (&mut handle.rx).await.unwrap_or(Err(ServiceError::TransportClosed));
        self.end();
        answer
    }

    pub(crate) fn may_cancel(&self) -> bool {
        self.may_cancel
    }

    /// Asks the server to stop, and still waits for its answer: a write may be done before it stops.
    ///
    /// The notification is sent as one that rmcp does not know, since it forgets a request that it cancels.
    pub(crate) fn ask_to_stop(&mut self) {
        self.may_cancel = false;
        let Some(handle) = &self.handle else { return };
        let params = json!({"requestId": handle.id, "reason": self.reason()});
        let notification = CustomNotification::new("notifications/cancelled", Some(params));
        let peer = self.connection.peer.clone();
        tokio::spawn(async move {
            let sending = peer.send_notification(ClientNotification::CustomNotification(notification));
            let _ = timeout(CANCEL, sending).await;
        });
    }

    /// The connection is gone.
    pub(crate) fn end(&mut self) {
        if let Some(handle) = self.handle.take() {
            self.connection.shared.forget(&handle.progress_token);
        }
    }

    fn reason(&self) -> &'static str {
        match self.context.cancellation.cause() {
            Some(StopCause::Deadline | StopCause::Timeout) => "its time is over",
            Some(StopCause::Shutdown) => "the client ends",
            Some(StopCause::Cancelled | StopCause::CallerGone) | None => "it is no longer wanted",
        }
    }
}

impl Drop for RunningRequest<'_> {
    /// The pipeline drops a read that nothing waits for, and a write at the server's cap.
    fn drop(&mut self) {
        let reason = self.reason();
        if let Some(handle) = self.handle.take() {
            self.connection.shared.forget(&handle.progress_token);
            // It may have taken too long because nothing is there.
            self.link.doubt();
            tokio::spawn(async move {
                let _ = timeout(CANCEL, handle.cancel(Some(reason.to_owned()))).await;
            });
        }
    }
}
