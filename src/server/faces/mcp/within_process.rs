//! The services of this process as the face calls them: with messages of gRPC, and calls of tools without any.

use std::{
    borrow::Cow,
    future::ready,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures_util::{FutureExt, StreamExt, future::BoxFuture};
use http::Extensions;
use tonic::{Status, body::Body};
use tower::BoxError;

use crate::{
    faces::{
        grpc::{
            Face, Routes,
            invoke::{self, CallRequest},
        },
        render::{call_event::Invoked, result::ResultForm},
    },
    service::{Tools, request},
};
use toolwire_contract::{
    Refusal,
    proto::v1::{ResultFormat, ToolContext},
};
use toolwire_engine::pipeline::{ArrivalTime, Call, CallOptions, Target};
use toolwire_mcp::server::{CallEvents, Detached, Invocation, LocalCalls, LocalEnd, Via};
use toolwire_tool::context::User;
use toolwire_transport::{Arrival, backlog, grpc_timeout, peer::Peer};

/// The gRPC services of this process, for requests that carry the extensions of one that has arrived.
#[derive(Clone, Debug)]
pub(super) struct WithinProcess(Routes);

impl WithinProcess {
    pub(super) fn new(routes: Routes) -> Self {
        Self(routes)
    }
}

impl tower::Service<http::Request<Body>> for WithinProcess {
    type Response = http::Response<Body>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<http::Response<Body>, BoxError>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: http::Request<Body>) -> Self::Future {
        let timeout = grpc_timeout::in_headers(request.headers()).ok().flatten();
        adapt(request.extensions_mut(), timeout);
        self.0.call(request).map(|answer| answer.map_err(|never| match never {})).boxed()
    }
}

impl LocalCalls for Face {
    fn call_tool<'a>(
        &'a self,
        extensions: &'a Extensions,
        invocation: Invocation,
        keep_over_tokens: u32,
    ) -> BoxFuture<'a, LocalEnd> {
        let (call, form) = match call(&self.tools, extensions, invocation, keep_over_tokens) {
            Ok(call) => call,
            Err(refusal) => return Box::pin(ready(LocalEnd::refused(refusal.into()))),
        };
        let (call_id, facts) = (call.context.call_id, Arc::clone(&call.facts));
        let response = invoke::finish(&self.tools, call, form);
        Box::pin(async move {
            let response = response.await.map_err(Into::into);
            let digest = facts.tool().map(|tool| tool.definition.digest);
            LocalEnd { call_id: Some(call_id), digest, response }
        })
    }

    fn invoke_tool<'a>(
        &'a self,
        extensions: &'a Extensions,
        invocation: Invocation,
        keep_over_tokens: u32,
    ) -> BoxFuture<'a, Result<CallEvents, Status>> {
        Box::pin(async move {
            let (mut call, form) = call(&self.tools, extensions, invocation, keep_over_tokens)?;
            call.backlog = backlog();
            let started = self.tools.start(call).await?;
            Ok(Invoked::new(started, &self.tools, form).boxed())
        })
    }

    fn cancel_in_other_processes<'a>(
        &'a self,
        extensions: &'a Extensions,
        request: String,
    ) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            if let Some(user) = extensions.get::<User>() {
                self.tools.calls().cancel_client_request(&user.id, request).await;
            }
        })
    }
}

/// The call that a client asks for, and the form of its result. Refusals name the fields of `InvokeTool`.
fn call(
    tools: &Tools,
    extensions: &Extensions,
    mut invocation: Invocation,
    keep_over_tokens: u32,
) -> Result<(Box<Call>, ResultForm), Refusal> {
    let mut extensions = Cow::Borrowed(extensions);
    let is_detached = extensions.get::<Detached>().is_some();
    if is_detached && let Some(user) = extensions.get::<User>() {
        // Credentials were looked at when the request came, which may be long ago.
        tools.check_standing(user, &invocation.tool)?;
    }
    if invocation.timeout.is_some() || is_detached || extensions.get::<Via>().is_some() {
        adapt(extensions.to_mut(), invocation.timeout);
    }
    let form = ResultForm::read(ResultFormat::Json, 0)?.with_keep_over(keep_over_tokens)?;
    let request = CallRequest {
        arguments: invocation.take_arguments(),
        target: request::target(Some(Target::Tool(invocation.tool)))?,
        missing_hint: None,
        request_id: invocation.request_id,
        options: CallOptions {
            expected_digest: request::expected_digest("expected_digest", &invocation.expected_digest)?,
            wait_for_confirmation: (!invocation.wait.is_zero()).then_some(invocation.wait),
            require_confirmation: false,
            keep_over_tokens: form.keep_over_tokens,
            // Ignored for reads.
            resume_equal_write: true,
            deliver_by_get_call: invocation.deliver_by_get_call,
        },
        context: ToolContext {
            task_id: invocation.task_id,
            session_id: invocation.session_id,
            ..ToolContext::default()
        },
    };
    let mut call = request.into_call(&extensions)?;
    call.context.client = invocation.client.or(call.context.client);
    Ok((call, form))
}

/// Gives a detached request an arrival of its own, names its face, and lets its time-out shorten that of the request
/// that is answered.
fn adapt(extensions: &mut Extensions, timeout: Option<Duration>) {
    let (is_detached, via) = (extensions.get::<Detached>().is_some(), extensions.get::<Via>().copied());
    if is_detached {
        // The drain of the original connection must not end the waits of work that outlives it.
        extensions.remove::<Peer>();
    }
    let Some(arrival) = extensions.get_mut::<Arrival>() else { return };
    if is_detached {
        let ArrivalTime { at, wall } = ArrivalTime::now();
        *arrival = Arrival { at, wall, timeout: None, ..*arrival };
    }
    if let Some(Via(face)) = via {
        arrival.face = face;
    }
    if let Some(own) = timeout {
        arrival.timeout = Some(arrival.timeout.map_or(own, |timeout| timeout.min(own)));
    }
}
