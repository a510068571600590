//! The layer of limits: each request takes a permit, or is refused at once where none comes in time.

#[cfg(test)]
mod tests;

use tower::ServiceExt;

use super::{
    layer::{End, Inner},
    request::Request,
};
use crate::upstream::stack;
use toolwire_base::middleware::Middleware;

/// Sends requests to a source when its limiter admits them.
#[derive(Clone, Debug)]
pub(super) struct Limit(pub(super) stack::Limit);

impl<S: Inner> Middleware<Request, S> for Limit {
    type Future = End;

    fn call(&self, request: Request, inner: &mut S) -> End {
        let (limit, inner) = (self.0.clone(), inner.clone());
        Box::pin(async move {
            limit.permit(&request.context, request.context.deadline.at()).await?;
            let end = inner.oneshot(request).await;
            if let Err(failure) = &end {
                limit.note(failure).await;
            }
            end
        })
    }
}
