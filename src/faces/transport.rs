//! The transport under every gRPC service: our own accept loop over hyper, and the layers that each request passes.
//!
//! tonic's generated services are kept; its server is not, because it leaves streams without a deadline, connections
//! without a bound, and a drain without an end. Nothing here knows a tool: a request that passed all layers
//! reaches the routes, and its extensions hold an [`Arrival`], a [`rules::Rule`] and, unless its method is
//! public, an [`User`](crate::context::User).

use std::{convert::Infallible, sync::Arc};

use bytes::Bytes;
use http::{Request, Response};
use tonic::{Status, body::Body};
use tower::{Service, ServiceBuilder};

pub use self::{
    arrival::Arrival,
    config::{Age, Config, Drain, Http2},
    listener::{BindError, ListenError, Listener, bind},
    serve::{Hooks, Report, serve},
    socket::{Socket, Stream},
    tls::Tls,
    trace::{CallersTrace, TakenOver},
    watches::ending,
};
use self::{authenticate::Authenticator, rules::Rules};

pub mod authenticate;
pub mod descriptors;
pub mod grpc_timeout;
pub mod rules;
pub mod tls;

mod admission;
mod alarm;
mod arrival;
mod compression;
mod config;
mod connection;
mod connections;
mod content_type;
mod deadline;
mod frames;
mod late;
mod layer;
mod listener;
mod message;
mod panics;
mod preface;
mod refusal;
mod reply;
mod serve;
mod shares;
mod socket;
mod status;
mod stream;
mod trace;
mod watches;
mod write_buffer;

/// The layers over `routes`, which find the service of a request and are always ready, in the order in which a request
/// passes them.
///
/// What it returns is what [`serve()`] serves.
pub fn stack<S>(
    routes: S,
    rules: Rules,
    authenticator: Arc<dyn Authenticator>,
    config: &Config,
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
        .layer(trace::Layer::new(rules.clone()))
        // Above all that answers, so that every status leaves in one form.
        .layer(status::Layer)
        // Above our own layers too: a bug in one of them ends one stream, not a connection.
        .layer(panics::Layer)
        // Who does not speak gRPC gets no gRPC answer.
        .layer(content_type::Layer)
        // The clock of the call starts before anything that may wait.
        .layer(arrival::Layer)
        // Deny by default; the layers below read the method's rule.
        .layer(rules::Layer::new(rules))
        // Bounds all that may wait: authentication, handler, body. Tells the stream's task, which bounds the rest.
        .layer(deadline::Layer::new(config.server_cap))
        // Nothing below runs without a verified user, unless the method is public.
        .layer(authenticate::Authenticate::layer(authenticator))
        // Before any work, and by user: nobody takes all the room.
        .layer(admission::Admission::layer(config))
        // The routes compress for who accepts it.
        .map_request(compression::as_asked)
        // Innermost: what it ends early still passes every layer above.
        .layer(watches::Layer)
        .service(routes)
}
