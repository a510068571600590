//! Authentication: verifies credentials and inserts a [`User`] into the request's extensions, or answers
//! UNAUTHENTICATED.
//!
//! No layer or handler below reads a user from metadata or from a message. Public methods need no credentials and have
//! no user. Not here: authorization, which is the pipeline's.

use std::{convert::Infallible, net::SocketAddr, sync::Arc};

use futures_util::future::BoxFuture;
use http::{HeaderMap, HeaderValue, Request, Response, header::AUTHORIZATION, request::Parts};
use secrecy::SecretString;

pub use self::{
    error::AuthenticationError, hosts::HostTokens, loopback::Loopback, static_tokens::StaticTokens,
};
use super::{
    peer::Peer,
    refusal,
    rules::{Access, Rule},
};
use toolwire_base::middleware::{Middleware, take_ready};
use toolwire_tool::context::User;

mod error;
mod hosts;
mod loopback;
mod static_tokens;

#[derive(Debug, Clone, Copy)]
pub struct Credentials<'a> {
    pub metadata: &'a HeaderMap,
    /// The TCP peer, if the request came over TCP.
    pub peer: Option<SocketAddr>,
}

/// The bearer token of an authenticated caller, for tools that act on the caller's behalf elsewhere.
#[derive(Debug, Clone)]
pub struct Bearer(pub Arc<SecretString>);

/// Verifies credentials.
///
/// Implementations hold secrets, which their `Debug` must not show. The call's deadline bounds the future, such as a
/// wait for keys; it must be cancel safe.
pub trait Authenticator: Send + Sync {
    /// Returns the user that `credentials` prove.
    fn authenticate<'a>(
        &'a self,
        credentials: Credentials<'a>,
    ) -> BoxFuture<'a, Result<User, AuthenticationError>>;
}

impl<'a> Credentials<'a> {
    /// The `authorization` header. There is at most one: a request with several is refused before this is called.
    pub fn authorization(&self) -> Option<&'a HeaderValue> {
        self.metadata.get(AUTHORIZATION)
    }

    /// Refuses several `authorization` headers: a proxy and this server might use different ones.
    fn unambiguous(self) -> Result<Self, AuthenticationError> {
        match self.metadata.get_all(AUTHORIZATION).iter().nth(1) {
            None => Ok(self),
            Some(_) => Err(AuthenticationError::Ambiguous),
        }
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
pub(super) struct Authenticate {
    pub(super) users: Arc<dyn Authenticator>,
    pub(super) hosts: Arc<HostTokens>,
}

impl<S, ReqB, ResB> Middleware<Request<ReqB>, S> for Authenticate
where
    S: tower::Service<Request<ReqB>, Response = Response<ResB>, Error = Infallible, Future: Send>
        + Clone
        + Send
        + 'static,
    ReqB: Send + 'static,
    ResB: Default,
{
    type Future = BoxFuture<'static, Result<Response<ResB>, Infallible>>;

    fn call(&self, request: Request<ReqB>, inner: &mut S) -> Self::Future {
        let (this, mut inner) = (self.clone(), take_ready(inner));
        Box::pin(async move {
            match this.identify(request).await {
                Ok(request) => inner.call(request).await,
                Err(error) => Ok(refusal::response(error.into())),
            }
        })
    }
}

impl Authenticate {
    /// Inserts the user or the provider; a request of a public method passes unchanged.
    async fn identify<B>(&self, request: Request<B>) -> Result<Request<B>, AuthenticationError> {
        let (mut parts, body) = request.into_parts();
        match parts.extensions.get::<Rule>().map_or(Access::User, |rule| rule.access) {
            Access::Public => return Ok(Request::from_parts(parts, body)),
            Access::Host => {
                let provider = self.hosts.identify(Credentials::of(&parts).unambiguous()?)?;
                parts.extensions.insert(provider);
            }
            Access::User => self.identify_user(&mut parts).await?,
        }
        if let Some(peer) = parts.extensions.get::<Peer>() {
            peer.set_authenticated();
        }
        Ok(Request::from_parts(parts, body))
    }

    async fn identify_user(&self, parts: &mut Parts) -> Result<(), AuthenticationError> {
        let user = self.users.authenticate(Credentials::of(parts).unambiguous()?).await?;
        let token = Credentials::of(parts).bearer().and_then(|token| std::str::from_utf8(token).ok());
        if let Some(bearer) = token.map(|token| Bearer(Arc::new(token.into()))) {
            parts.extensions.insert(bearer);
        }
        parts.extensions.insert(user);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
