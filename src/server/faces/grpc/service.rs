//! A gRPC service as its owner declares it: its routes, and which of its methods have a rule of their own.
//!
//! The tools' own service, health and reflection are declared the same way as the typed service of a domain. Not here:
//! the methods, which the descriptors define (`services`).

use std::{convert::Infallible, fmt, sync::Arc};

use http::{Request, Response};
use tonic::{body::Body, codec::CompressionEncoding, server::NamedService};

use super::{
    face::Face,
    routes::{ResponseFuture, Route},
    snapshot_stream,
};
use toolwire_transport::rules::Rule;

/// The encoding of compressed messages. Responses are compressed only for clients that compress their requests.
pub const COMPRESSION: CompressionEncoding = CompressionEncoding::Gzip;

/// A gRPC service.
///
/// Every method needs a user and is bounded by the server's cap, unless [`except`](Self::except) says otherwise. The
/// macro [`service!`](super::service) makes one of a server that `tonic` generated.
#[derive(Clone)]
pub struct Service {
    name: &'static str,
    route: MakeRoute,
    exceptions: Vec<(&'static str, Rule)>,
}

/// Makes the route of a service for a face.
type MakeRoute = Arc<dyn Fn(&Face) -> Route + Send + Sync>;

impl Service {
    /// The service that `make` returns for the face it is to be served by. Its full name is `S::NAME`. Its
    /// readiness is not polled: the servers that `tonic` generates are always ready.
    pub fn new<S>(make: impl Fn(&Face) -> S + Send + Sync + 'static) -> Self
    where
        S: tower::Service<
                Request<Body>,
                Response = Response<Body>,
                Error = Infallible,
                Future = ResponseFuture,
            > + NamedService
            + Clone
            + Send
            + Sync
            + 'static,
    {
        let route = move |face: &Face| -> Route {
            let service = make(face);
            Box::new(move |request| service.clone().call(request))
        };
        Self { name: S::NAME, route: Arc::new(route), exceptions: Vec::new() }
    }

    /// The same service, with a rule for one of its methods, such as `CancelCall`. Start-up refuses a method that the
    /// service does not have.
    pub fn except(mut self, method: &'static str, rule: Rule) -> Self {
        self.exceptions.push((method, rule));
        self
    }

    /// The same service, of which the method at this path may answer in two parts ([`snapshot_stream`]).
    pub(super) fn with_snapshot(self, path: &'static str) -> Self {
        let make = self.route;
        let route = move |face: &Face| -> Route {
            let route = make(face);
            Box::new(move |request| {
                let is_joined = request.uri().path() == path;
                let answer = route(request);
                if is_joined {
                    Box::pin(async { answer.await.map(|it| snapshot_stream::join(it, COMPRESSION)) })
                } else {
                    answer
                }
            })
        };
        Self { route: Arc::new(route), ..self }
    }

    /// Its full name, such as `toolwire.v1.ToolService`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The same under another name, for tests of what only looks at names.
    #[cfg(test)]
    pub(super) fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    pub(super) fn exceptions(&self) -> &[(&'static str, Rule)] {
        &self.exceptions
    }

    /// The route of the service for a face.
    pub(super) fn route(&self, face: &Face) -> Route {
        (self.route)(face)
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service")
            .field("name", &self.name)
            .field("exceptions", &self.exceptions)
            .finish_non_exhaustive()
    }
}

/// A [`Service`](crate::faces::grpc::Service) of a server that `tonic` generated, with the bounds that hold for every
/// service of ours. The second argument makes what answers, from the face.
///
/// ```ignore
/// grpc::service!(ToyServiceServer, |face| Toys { face: face.clone(), box_of_toys })
/// ```
#[macro_export]
#[doc(hidden)]
macro_rules! grpc_service {
    ($server:ident, |$face:ident| $answers:expr) => {
        $crate::faces::grpc::Service::new(move |$face: &$crate::faces::grpc::Face| {
            $server::new($answers)
                .accept_compressed($crate::faces::grpc::COMPRESSION)
                .send_compressed($crate::faces::grpc::COMPRESSION)
                // Also bounds the decompressed size of a compressed request.
                .max_decoding_message_size($face.max_request_bytes)
        })
    };
}
