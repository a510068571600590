//! The transport of every gRPC service: an accept loop over hyper, and the layers that each request passes.
//!
//! tonic's generated services are used, but not its server, which enforces no deadline on streams, no limit on
//! connections and no end of a drain. Nothing here depends on tools: a request that passed all layers reaches the
//! routes, and its extensions hold an [`Arrival`], a [`rules::Rule`] and, unless its method is public, a
//! [`User`](toolwire_tool::context::User).

use std::{convert::Infallible, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use tonic::{Status, body::Body};
use tower::{Service, ServiceBuilder};

pub use self::{
    admission::Admission,
    arrival::Arrival,
    common::Common,
    config::{Age, Config},
    listener::{BindError, ListenError, Listener, bind},
    protocols::{HttpLimits, Protocols},
    serve::{Hooks, Report, serve},
    socket::{Socket, Stream},
    tls::Tls,
    trace::{CallersTrace, LoggedByPipeline},
    watches::{Withdrawals, drain_signal, slot_end},
};
use self::{
    arrival::StampArrival,
    content_type::RequireGrpc,
    deadline::EnforceDeadline,
    panics::CatchPanics,
    rules::{RequireRule, Rules},
    trace::Trace,
};
pub use self::{
    content_type::is_grpc, count_requests::CountRequests, framing::StrictFraming, polled_frame::PolledFrame,
    stream::backlog, trace::parent,
};
use toolwire_base::middleware::Layer;

pub mod authenticate;
pub mod descriptors;
pub mod grpc_timeout;
pub mod rules;
pub mod tls;
pub mod toolset;

mod admission;
mod arrival;
mod common;
mod compression;
mod config;
mod connection;
mod connections;
mod constant_time;
mod content_type;
mod count_requests;
mod deadline;
mod defer_poll;
mod frames;
mod framing;
pub mod grpc_frame;
mod limits;
mod listener;
mod message;
mod panics;
pub mod peer;
mod polled_frame;
mod preface;
mod protocols;
mod quotas;
mod recent_token;
mod refusal;
mod refusal_lines;
mod reply;
mod requests;
mod serve;
mod signals;
mod socket;
mod status;
mod stream;
mod trace;
mod watches;
mod write_buffer;
mod write_half;

/// The layers that the HTTP listener has in common with gRPC, over its routes. They refuse requests with gRPC statuses,
/// which the layers above convert to problems. The layers above also insert the route's [`rules::Rule`].
pub fn http_stack<S, B>(
    routes: S,
    find_timeout: fn(&HeaderMap) -> Result<Option<Duration>, Box<Status>>,
    common: &Common,
) -> impl Service<
    Request<Body>,
    Response = Response<impl http_body::Body<Data = Bytes, Error = B::Error> + Send + 'static + use<S, B>>,
    Error = Infallible,
    Future: Send,
>
+ Clone
+ Send
+ 'static
+ use<S, B>
where
    S: Service<Request<Body>, Response = Response<B>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send + 'static,
    B: http_body::Body<Data = Bytes> + Send + 'static,
{
    let deadline =
        EnforceDeadline::new(common.config.server_cap).with_watch_stall(common.http_bounds().stall_timeout);
    ServiceBuilder::new()
        .layer(Layer(CatchPanics))
        .layer(Layer(StampArrival::new("http", find_timeout)))
        .layer(Layer(deadline))
        .layer(Layer(common.authenticate()))
        .layer(common.admission.layer::<admission::Whole>())
        .layer(Layer(common.end_watches()))
        .service(routes)
}

/// The layers over `routes`, which dispatch a request to its service and are always ready, in the order in which a
/// request passes them.
///
/// The returned service is to be served by [`serve()`].
pub fn stack<S>(
    routes: S,
    rules: Rules,
    common: &Common,
) -> impl Service<
    Request<Body>,
    Response = Response<impl http_body::Body<Data = Bytes, Error = Status> + Send + 'static + use<S>>,
    Error = Infallible,
    Future: Send,
>
+ Clone
+ Send
+ 'static
+ use<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send + 'static,
{
    ServiceBuilder::new()
        // Outermost: its span sees every response, including refusals, in its final form. Finds the method's rule.
        .layer(Layer(Trace::new(rules)))
        // Above every layer that can respond, so that all statuses have one form.
        .map_response(status::normalise)
        // Above the other layers too: a panic in one of them ends its stream and not the connection.
        .layer(Layer(CatchPanics))
        // Above every gRPC response: a client that does not speak gRPC gets a plain HTTP status.
        .layer(Layer(RequireGrpc))
        // The call's clock starts before any layer that may wait.
        .layer(Layer(StampArrival::new("grpc", grpc_timeout::in_headers)))
        // Deny by default; all layers below read the method's rule.
        .layer(Layer(RequireRule))
        // Bounds everything that may wait: authentication, handler, body. Publishes the deadline to the stream's task,
        // which enforces it while the reader stalls.
        .layer(Layer(EnforceDeadline::new(common.config.server_cap)))
        // Nothing below runs without a verified user, unless the method is public.
        .layer(Layer(common.authenticate()))
        // Before any work, and after authentication: the quotas are per user.
        .layer(common.admission.layer::<admission::Grpc>())
        // The routes compress for clients that accept it; most clients do so without wanting it.
        .map_request(compression::negotiate)
        // Innermost: a watch that it ends still passes every layer above.
        .layer(Layer(common.end_watches()))
        .service(routes)
}

#[cfg(test)]
mod tests;
