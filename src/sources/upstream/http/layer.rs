//! What the layers of the stack share.

use futures_util::future::BoxFuture;
use tower::Service;

use super::{Answer, Failure, request::Request};

/// The rest of the stack, as a layer above it sees it.
pub(super) trait Inner:
    Service<Request, Response = Answer, Error = Failure, Future: Send> + Clone + Send + 'static
{
}

impl<S> Inner for S where
    S: Service<Request, Response = Answer, Error = Failure, Future: Send> + Clone + Send + 'static
{
}

/// How a request ends. Boxed: what a layer waits for costs more.
pub(super) type End = BoxFuture<'static, Result<Answer, Failure>>;
