//! Who is calling: credentials in, a [`User`] in the request's extensions, or UNAUTHENTICATED.
//!
//! Identity is verified here and nowhere claimed: nothing below reads a user from metadata or from a message. Public
//! methods pass without credentials and without a user. What the user may do is decided in the pipeline.

use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::Arc,
    task::{Context, Poll},
};

use futures_util::future::BoxFuture;
use http::{HeaderMap, HeaderValue, Request, Response, header::AUTHORIZATION, request::Parts};
use secrecy::SecretString;

pub use self::{error::AuthenticationError, loopback::Loopback, static_tokens::StaticTokens};
use super::{
    connection::Peer,
    refusal,
    reply::Reply,
    rules::{Access, Rule},
};
use crate::context::User;

mod error;
mod loopback;
mod static_tokens;

/// What a caller brings along.
#[derive(Debug, Clone, Copy)]
pub struct Credentials<'a> {
    /// All request metadata.
    pub metadata: &'a HeaderMap,
    /// The TCP peer, if the request came over TCP.
    pub peer: Option<SocketAddr>,
}

/// The bearer token that an accepted caller presented, for tools that act on the caller's behalf elsewhere.
#[derive(Debug, Clone)]
pub struct Bearer(pub SecretString);

/// Decides who a caller is.
///
/// Implementations hold secrets: their `Debug` must not show them. Waiting (for keys, say) is bounded by the call's
/// deadline; a dropped future must leave nothing half done.
pub trait Authenticator: Send + Sync {
    /// The caller that `credentials` prove.
    fn authenticate<'a>(
        &'a self,
        credentials: Credentials<'a>,
    ) -> BoxFuture<'a, Result<User, AuthenticationError>>;
}

impl<'a> Credentials<'a> {
    /// The `authorization` header; the last one, should there be several.
    pub fn authorization(&self) -> Option<&'a HeaderValue> {
        self.metadata.get_all(AUTHORIZATION).iter().next_back()
    }

    /// The token of an `authorization: Bearer …` header.
    pub fn bearer(&self) -> Option<&'a [u8]> {
        let (scheme, token) = self.authorization()?.as_bytes().split_at_checked(b"Bearer ".len())?;
        scheme.eq_ignore_ascii_case(b"Bearer ").then_some(token)
    }

    fn of(parts: &'a Parts) -> Self {
        Self { metadata: &parts.headers, peer: parts.extensions.get::<Peer>().map(|peer| peer.address) }
    }
}

/// Rejects callers that are not authenticated, except on public methods.
#[derive(Clone)]
pub(super) struct Layer {
    authenticator: Arc<dyn Authenticator>,
}

impl Layer {
    pub(super) fn new(authenticator: Arc<dyn Authenticator>) -> Self {
        Self { authenticator }
    }
}

#[derive(Clone)]
pub(super) struct Service<S> {
    inner: S,
    authenticator: Arc<dyn Authenticator>,
}

impl<S> tower::Layer<S> for Layer {
    type Service = Service<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Service { inner, authenticator: self.authenticator.clone() }
    }
}

impl<S, ReqB, ResB> tower::Service<Request<ReqB>> for Service<S>
where
    S: tower::Service<Request<ReqB>, Response = Response<ResB>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
    ReqB: Send + 'static,
    ResB: Default + Send + 'static,
{
    type Response = Response<ResB>;
    type Error = Infallible;
    type Future = Reply<BoxFuture<'static, Result<Response<ResB>, Infallible>>, ResB>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<ReqB>) -> Self::Future {
        // The ready service goes into the future, its clone stays.
        let clone = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, clone);
        let authenticator = self.authenticator.clone();
        Reply::passed(Box::pin(async move {
            match identified(&*authenticator, request).await {
                Ok(request) => inner.call(request).await,
                Err(error) => Ok(refusal::response(error.into())),
            }
        }))
    }
}

/// `request` with its user, or as it is if anyone may make it.
async fn identified<B>(
    authenticator: &dyn Authenticator,
    request: Request<B>,
) -> Result<Request<B>, AuthenticationError> {
    let (mut parts, body) = request.into_parts();
    if !parts.extensions.get::<Rule>().is_some_and(|rule| rule.access == Access::Public) {
        let user = authenticator.authenticate(Credentials::of(&parts)).await?;
        if let Some(token) =
            Credentials::of(&parts).bearer().and_then(|token| std::str::from_utf8(token).ok())
        {
            let bearer = Bearer(token.into());
            parts.extensions.insert(bearer);
        }
        parts.extensions.insert(user);
    }
    Ok(Request::from_parts(parts, body))
}

#[cfg(test)]
mod tests;
