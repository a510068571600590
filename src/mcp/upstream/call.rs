//! A call of a tool of an MCP server, and its end when the connection is lost.
//!
//! | lost | what happens |
//! |---|---|
//! | provably before the request left | once more, then UNAVAILABLE |
//! | a read or a repeatable write, not cancelled, 1 s left, the first time | once more |
//! | a read or a repeatable write otherwise | UNAVAILABLE |
//! | any other write | `OUTCOME_UNKNOWN` |

use std::{future::pending, sync::Arc};

use rmcp::{
    model::{CallToolRequest, CallToolRequestParams, ClientRequest, RequestMetaObject},
    service::PeerRequestOptions,
};
use serde_json::{Value, json};
use tokio::{
    select,
    sync::watch,
    time::{Instant, sleep_until},
};

use super::{
    bounds::{RECONNECT, RETRY},
    connection::Connection,
    link::Link,
    outcome::{self, Attempt},
    running::Running,
    spec::Spec,
    tap::{Departure, Outgoing, Progress},
};
use toolwire_base::{clock, words::visible};
use toolwire_contract::{ErrorCode, Origin, Payload, ToolError, arguments::Arguments};
use toolwire_hosts::{
    Effect, Throttle,
    bounds::{MAX_ARGUMENTS, MAX_PROGRESS, RETRY_AFTER, RETRY_NEEDS, WAIT_MARGIN},
    cut, traceparent,
};
use toolwire_tool::context::ToolContext;

/// A call under way.
pub(crate) struct McpCall<'a> {
    pub(crate) link: &'a Link,
    pub(crate) spec: &'a Spec,
    pub(crate) context: &'a ToolContext,
}

impl McpCall<'_> {
    pub(crate) async fn carry_out(&self, arguments: Arguments) -> Result<Payload, ToolError> {
        let length = Value::Object(arguments.clone()).to_string().len();
        if length > MAX_ARGUMENTS {
            let text = format!("The arguments are {length} bytes, over the limit of {MAX_ARGUMENTS}.");
            return Err(ToolError::new(ErrorCode::InvalidArgument, text));
        }
        let until = self.context.deadline.awaited().min(clock::now() + self.spec.timeout);
        let waits_until = until.checked_sub(WAIT_MARGIN).unwrap_or(until);
        let Some(_permit) = self.unless_cancelled(self.link.permit(waits_until)).await? else {
            return Err(self.unavailable("too many of its calls are under way"));
        };
        let mut is_repeat = false;
        loop {
            let connected_until = waits_until.min(clock::now() + RECONNECT);
            let Some(connection) = self.unless_cancelled(self.link.connection(connected_until)).await? else {
                return Err(self.unavailable("it is not connected"));
            };
            // A write of whose end its caller would not hear must not begin.
            if clock::now() >= until {
                return Err(self.unavailable("its time was over before the call was sent"));
            }
            let attempt = self.attempt(&connection, arguments.clone()).await;
            let may_repeat = !is_repeat
                && !self.context.cancellation.is_cancelled()
                && clock::remaining(until) >= RETRY_NEEDS;
            match attempt {
                Attempt::Ended(result) => return result,
                Attempt::Lost if self.spec.effect == Effect::Write => {
                    self.link.doubt();
                    return Err(outcome::unknown_outcome(&self.spec.tool));
                }
                Attempt::Lost | Attempt::Unsent if may_repeat => {
                    is_repeat = true;
                    self.link.doubt();
                    self.unless_cancelled(self.link.wait_for_change(RETRY)).await?;
                }
                Attempt::Unsent => return Err(self.unavailable("the call could not be sent")),
                Attempt::Lost => return Err(self.loss()),
            }
        }
    }

    async fn attempt(&self, connection: &Connection, arguments: Arguments) -> Attempt {
        let (progress, mut reports) = watch::channel(None);
        let departure = Arc::<Departure>::default();
        let outgoing = Outgoing { progress: Arc::new(progress), departure: Arc::clone(&departure) };
        let request = self.request(arguments, outgoing);
        let options = PeerRequestOptions::no_options().with_meta(self.meta());
        let sending = connection.peer.send_request_with_option(request, options);
        // It fails only where the connection takes nothing any more.
        let Ok(handle) = sending.await else { return Attempt::Unsent };
        let mut running = Running::new(handle, connection, self.link, self.context);
        let mut throttle = Throttle::default();
        loop {
            select! {
                biased;
                answer = running.answer() => {
                    let is_sent = answer.is_ok() || !departure.abandon();
                    return outcome::read(answer, self.spec, is_sent).await;
                }
                () = connection.shared.closed.cancelled() => {
                    running.end();
                    return if departure.abandon() { Attempt::Unsent } else { Attempt::Lost };
                }
                () = self.context.cancellation.cancelled(), if running.may_cancel() => {
                    if self.spec.effect == Effect::Read {
                        return Attempt::Ended(Err(ToolError::cancelled()));
                    }
                    running.ask_to_stop();
                }
                Some(report) = next(&mut reports) => self.report(throttle.offer(report, clock::now())),
                () = wait_until(throttle.due()) => self.report(throttle.take(clock::now())),
            }
        }
    }

    fn request(&self, arguments: Arguments, outgoing: Outgoing) -> ClientRequest {
        let params = CallToolRequestParams::new(self.spec.name.clone()).with_arguments(arguments);
        let mut request = CallToolRequest::new(params);
        request.extensions.insert(outgoing);
        ClientRequest::CallToolRequest(request)
    }

    /// Trace context and idempotency key only: no user, task or session leaves this process.
    fn meta(&self) -> RequestMetaObject {
        let mut meta = RequestMetaObject::new();
        let traceparent = traceparent();
        if !traceparent.is_empty() {
            meta.insert("traceparent".to_owned(), json!(traceparent));
        }
        if self.spec.effect != Effect::Read {
            // The same in every repeat, for a server that looks at it.
            let request_id = self.context.lineage.request_id().to_string();
            meta.insert("toolwire/request_id".to_owned(), json!(request_id));
        }
        meta
    }

    fn report(&self, progress: Option<Progress>) {
        let Some(Progress { fraction, message }) = progress else { return };
        let fraction = fraction.filter(|it| (0.0..=1.0).contains(it));
        let message = message.filter(|it| !it.trim().is_empty()).unwrap_or_else(|| "Working".to_owned());
        let message = visible(&cut(&message, MAX_PROGRESS));
        self.context.events.progress(fraction, cut(&message, MAX_PROGRESS));
    }

    async fn unless_cancelled<T>(&self, waiting: impl Future<Output = T>) -> Result<T, ToolError> {
        select! {
            biased;
            () = self.context.cancellation.cancelled() => Err(ToolError::cancelled()),
            waited = waiting => Ok(waited),
        }
    }

    fn loss(&self) -> ToolError {
        let provider = self.link.provider();
        let text = format!(
            "The MCP server `{provider}` was lost while it carried {} out. Call again.",
            self.spec.tool
        );
        ToolError::new(ErrorCode::Unavailable, text).with_retry_after(RETRY_AFTER)
    }

    fn unavailable(&self, why: &str) -> ToolError {
        let text = format!("The MCP server `{}` cannot take the call: {why}.", self.link.provider());
        ToolError::new(ErrorCode::Unavailable, text)
            .with_retry_after(RETRY_AFTER)
            .with_origin(Origin::Service)
    }
}

/// The newest report. Never, once the call is forgotten.
async fn next(reports: &mut watch::Receiver<Option<Progress>>) -> Option<Progress> {
    match reports.changed().await {
        Ok(()) => reports.borrow_and_update().clone(),
        Err(_) => pending().await,
    }
}

/// Never, without an instant.
async fn wait_until(instant: Option<Instant>) {
    match instant {
        Some(instant) => sleep_until(instant).await,
        None => pending().await,
    }
}
