//! A call of a tool of an MCP server, over one connection.

use std::{future::pending, sync::Arc};

use rmcp::{
    model::{CallToolRequest, CallToolRequestParams, ClientRequest, RequestMetaObject},
    service::PeerRequestOptions,
};
use serde_json::json;
use tokio::{select, sync::watch};

use super::{
    bounds::RECONNECT,
    connection::Connection,
    link::Link,
    outcome,
    running_request::RunningRequest,
    tap::{Departure, Outgoing, Progress},
};
use toolwire_base::{clock, words::visible};
use toolwire_contract::ToolError;
use toolwire_providers::{
    Attempt, Call, Effect, RemoteTool, Throttle, bounds::MAX_PROGRESS, cut, traceparent,
};

/// A tool of an MCP server.
#[derive(Clone, Debug)]
pub struct McpTool {
    pub link: Link,
    /// Its server's name for it.
    pub name: String,
}

impl RemoteTool for McpTool {
    const KIND: &'static str = "MCP server";

    async fn attempt(&self, call: &Call<'_>) -> Result<Attempt, ToolError> {
        let waits_until = call.waits_until();
        let permit = self.link.permit(&call.context.user.id, waits_until);
        let Some(_permit) = call.unless_cancelled(permit).await? else {
            return Err(refuse(call, "too many of its calls are under way"));
        };
        let connection = self.link.connection(waits_until.min(clock::now() + RECONNECT));
        let Some(connection) = call.unless_cancelled(connection).await? else {
            return Err(refuse(call, "it is not connected"));
        };
        call.check_time()?;
        // Another one takes its place only once it has ended.
        let _use = connection.shared.calls.token();
        Ok(self.attempt_over(&connection, call).await)
    }

    async fn recover(&self) {
        self.link.recover().await;
    }
}

impl McpTool {
    async fn attempt_over(&self, connection: &Connection, call: &Call<'_>) -> Attempt {
        let (progress, mut reports) = watch::channel(None);
        let departure = Arc::<Departure>::default();
        let outgoing = Outgoing { progress: Arc::new(progress), departure: Arc::clone(&departure) };
        let request = self.request(call, outgoing);
        let options = PeerRequestOptions::no_options().with_meta(meta(call));
        let sending = connection.peer.send_request_with_option(request, options);
        // It fails only where the connection takes nothing any more.
        let Ok(handle) = sending.await else {
            self.link.doubt();
            return Attempt::Unsent;
        };
        let cancellation = &call.context.cancellation;
        call.context.note_request();
        let mut running = RunningRequest::new(handle, connection, &self.link, call.context);
        let mut throttle = Throttle::default();
        loop {
            select! {
                biased;
                answer = running.answer() => {
                    let is_sent = answer.is_ok() || !departure.abandon();
                    if outcome::makes_doubtful(&answer) {
                        self.link.doubt();
                    }
                    return outcome::read(answer, call.spec, is_sent).await;
                }
                () = connection.shared.closed.cancelled() => {
                    running.end();
                    self.link.doubt();
                    return if departure.abandon() { Attempt::Unsent } else { outcome::LOST };
                }
                () = cancellation.cancelled(), if running.may_cancel() => {
                    if call.spec.effect == Effect::Read {
                        return Attempt::Ended(Err(ToolError::cancelled()));
                    }
                    running.ask_to_stop();
                }
                Some(progress) = next(&mut reports) => report(call, throttle.offer(progress, clock::now())),
                held = throttle.next() => report(call, held),
            }
        }
    }

    fn request(&self, call: &Call<'_>, outgoing: Outgoing) -> ClientRequest {
        let params = CallToolRequestParams::new(self.name.clone()).with_arguments(call.arguments.clone());
        let mut request = CallToolRequest::new(params);
        request.extensions.insert(outgoing);
        ClientRequest::CallToolRequest(request)
    }
}

/// Trace context and idempotency key only: no user, task or session leaves this process.
fn meta(call: &Call<'_>) -> RequestMetaObject {
    let mut meta = RequestMetaObject::new();
    let traceparent = traceparent();
    if !traceparent.is_empty() {
        meta.insert("traceparent".to_owned(), json!(traceparent));
    }
    if call.spec.effect != Effect::Read {
        // The same in every repeat, for a server that looks at it.
        let request_id = call.context.lineage.request_id().to_string();
        meta.insert("toolwire/request_id".to_owned(), json!(request_id));
    }
    meta
}

fn refuse(call: &Call<'_>, why: &str) -> ToolError {
    call.unavailable(format!("The MCP server `{}` cannot take the call: {why}.", call.spec.provider))
}

fn report(call: &Call<'_>, progress: Option<Progress>) {
    let Some(Progress { fraction, message }) = progress else { return };
    let message = message.filter(|it| !it.trim().is_empty()).unwrap_or_else(|| "Working".to_owned());
    call.report(fraction, &visible(&cut(&message, MAX_PROGRESS)));
}

/// The newest report. Never, once the call is forgotten.
async fn next(reports: &mut watch::Receiver<Option<Progress>>) -> Option<Progress> {
    match reports.changed().await {
        Ok(()) => reports.borrow_and_update().clone(),
        Err(_) => pending().await,
    }
}
