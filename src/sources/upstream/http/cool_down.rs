//! The layers of cool-downs: a source that refused us is not asked.

#[cfg(test)]
mod tests;

use tower::ServiceExt;

use super::{
    layer::{End, Inner},
    request::Request,
};
use crate::upstream::stack::Scope;
use toolwire_base::middleware::Middleware;

/// Sends nothing while a cool-down is in force, and begins one when the source refuses us.
#[derive(Clone, Debug)]
pub(super) struct Check(pub(super) Scope);

impl<S: Inner> Middleware<Request, S> for Check {
    type Future = End;

    fn call(&self, request: Request, inner: &mut S) -> End {
        let (scope, inner) = (self.0.clone(), inner.clone());
        Box::pin(async move {
            let user = request.context.user.id.clone();
            if let Some(refusal) = scope.in_force(&user).await {
                return Err(refusal);
            }
            match inner.oneshot(request).await {
                Err(failure) => Err(scope.note(failure, &user).await),
                answer => answer,
            }
        })
    }
}

/// Checks again below the layers that may wait for long.
#[derive(Clone, Debug)]
pub(super) struct Recheck(pub(super) Scope);

impl<S: Inner> Middleware<Request, S> for Recheck {
    type Future = End;

    fn call(&self, request: Request, inner: &mut S) -> End {
        let (scope, inner) = (self.0.clone(), inner.clone());
        Box::pin(async move {
            match scope.in_force(&request.context.user.id).await {
                Some(refusal) => Err(refusal),
                None => inner.oneshot(request).await,
            }
        })
    }
}
