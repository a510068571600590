//! The transport under every gRPC service: our own accept loop over hyper, and the layers that each request passes.
//!
//! tonic's generated services are kept; its server is not, because it leaves streams without a deadline, connections
//! without a bound, and a drain without an end. Nothing here knows a tool: a request that passed all layers
//! reaches the routes, and its extensions hold an [`Arrival`], a [`rules::Rule`] and, unless its method is
//! public, an [`User`](toolwire_tool::context::User).

use std::{convert::Infallible, sync::Arc, time::Duration};

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
    protocols::{Either, Protocols},
    serve::{Hooks, Report, serve},
    socket::{Socket, Stream},
    tls::Tls,
    trace::{CallersTrace, TakenOver},
    watches::ending,
};
use self::{
    arrival::StampArrival,
    authenticate::Authenticate,
    content_type::RequireGrpc,
    deadline::EnforceDeadline,
    panics::CatchPanics,
    rules::{RequireRule, Rules},
    trace::Trace,
    watches::EndWatches,
};
pub(super) use self::{
    content_type::is_grpc, counted::CountRequests, framing::StrictFraming, polled_frame::PolledFrame,
    trace::parent,
};
use toolwire_base::middleware::Layer;

pub mod authenticate;
pub mod descriptors;
pub mod grpc_timeout;
pub mod rules;
pub mod tls;

mod admission;
mod arrival;
mod common;
mod compression;
mod config;
mod connection;
mod connections;
mod content_type;
mod counted;
mod deadline;
mod defer_poll;
mod frames;
mod framing;
pub(super) mod grpc_frame;
mod limits;
mod listener;
mod message;
mod panics;
pub(super) mod peer;
mod polled_frame;
mod preface;
mod protocols;
mod quotas;
mod refusal;
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

/// The layers that the HTTP listener shares, over its routes. Refusals leave it as they do for gRPC, and are spelled
/// above. What is above also leaves the route's [`rules::Rule`].
pub(super) fn shared<S, B>(
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
    let deadline = EnforceDeadline::new(common.config.server_cap).watched(common.http_bounds().stall_timeout);
    ServiceBuilder::new()
        .layer(Layer(CatchPanics))
        .layer(Layer(StampArrival::new("http", find_timeout)))
        .layer(Layer(deadline))
        .layer(Layer(Authenticate(Arc::clone(&common.authenticator))))
        .layer(common.admission.layer::<admission::Whole>())
        .layer(Layer(EndWatches))
        .service(routes)
}

/// The layers over `routes`, which find the service of a request and are always ready, in the order in which a request
/// passes them.
///
/// What it returns is what [`serve()`] serves.
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
        // Outermost: its span sees every answer, refusals too, in its final form.
        .layer(Layer(Trace::new(rules.clone())))
        // Above all that answers, so that every status leaves in one form.
        .map_response(status::normalise)
        // Above our own layers too: a bug in one of them ends one stream, not a connection.
        .layer(Layer(CatchPanics))
        // Who does not speak gRPC gets no gRPC answer.
        .layer(Layer(RequireGrpc))
        // The clock of the call starts before anything that may wait.
        .layer(Layer(StampArrival::new("grpc", grpc_timeout::in_headers)))
        // Deny by default; the layers below read the method's rule.
        .layer(Layer(RequireRule(rules)))
        // Bounds all that may wait: authentication, handler, body. Tells the stream's task, which bounds the rest.
        .layer(Layer(EnforceDeadline::new(common.config.server_cap)))
        // Nothing below runs without a verified user, unless the method is public.
        .layer(Layer(Authenticate(Arc::clone(&common.authenticator))))
        // Before any work, and by user: nobody takes all the room.
        .layer(common.admission.layer::<admission::Grpc>())
        // The routes compress for who accepts it.
        .map_request(compression::as_asked)
        // Innermost: what it ends early still passes every layer above.
        .layer(Layer(EndWatches))
        .service(routes)
}

#[cfg(test)]
mod tests;
