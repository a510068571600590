//! Dispatches a request to its service, by the first part of its path.

use std::{
    collections::HashMap,
    convert::Infallible,
    fmt,
    future::ready,
    sync::Arc,
    task::{Context, Poll},
};

use http::{Request, Response};
use tonic::{Status, body::Body};

/// How the servers that `tonic` generates answer.
pub(super) type ResponseFuture = futures_util::future::BoxFuture<'static, Result<Response<Body>, Infallible>>;

/// The services that are served, by their full names. Cheap to clone.
#[derive(Clone, Default)]
pub struct Routes(Arc<HashMap<&'static str, Route, foldhash::fast::FixedState>>);

pub(super) type Route = Box<dyn Fn(Request<Body>) -> ResponseFuture + Send + Sync>;

impl FromIterator<(&'static str, Route)> for Routes {
    fn from_iter<I: IntoIterator<Item = (&'static str, Route)>>(routes: I) -> Self {
        Self(Arc::new(routes.into_iter().collect()))
    }
}

impl fmt::Debug for Routes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl tower::Service<Request<Body>> for Routes {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> ResponseFuture {
        let service = request.uri().path().split('/').nth(1).unwrap_or_default();
        match self.0.get(service) {
            Some(route) => route(request),
            // The rules let nothing pass that is not served.
            None => Box::pin(ready(Ok(Status::unimplemented("no such service").into_http()))),
        }
    }
}
