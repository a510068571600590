//! Who is calling: credentials in, a [`User`] in the request's extensions, or UNAUTHENTICATED.
//!
//! Identity is verified here and nowhere claimed: nothing below reads a user from metadata or from a message. Public
//! methods pass without credentials and without a user. What the user may do is decided in the pipeline.

use std::{net::SocketAddr, sync::Arc};

use futures_util::future::BoxFuture;
use http::{HeaderMap, HeaderValue, Request, Response, header::AUTHORIZATION, request::Parts};
use secrecy::SecretString;

pub use self::{error::AuthenticationError, loopback::Loopback, static_tokens::StaticTokens};
use super::{
    layer::{Around, Inner, Layer},
    peer::Peer,
    refusal,
    rules::{Access, Rule},
};
use toolwire_tool::context::User;

mod error;
mod loopback;
mod static_tokens;

/// What a caller brings along.
#[derive(Debug, Clone, Copy)]
pub struct Credentials<'a> {
    pub metadata: &'a HeaderMap,
    /// The TCP peer, if the request came over TCP.
    pub peer: Option<SocketAddr>,
}

/// The bearer token that an accepted caller presented, for tools that act on the caller's behalf elsewhere.
#[derive(Debug, Clone)]
pub struct Bearer(pub Arc<SecretString>);

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
    /// The `authorization` header. There is at most one: a request with more is refused before anybody looks.
    pub fn authorization(&self) -> Option<&'a HeaderValue> {
        self.metadata.get(AUTHORIZATION)
    }

    /// Refuses several `authorization` headers: which one counts must not depend on who reads them.
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
    authenticator: Arc<dyn Authenticator>,
}

impl Authenticate {
    pub(super) fn layer(authenticator: Arc<dyn Authenticator>) -> Layer<Self> {
        Layer(Self { authenticator })
    }
}

impl<A: Send + 'static, B: Default> Around<A, B> for Authenticate {
    type Body = B;

    async fn call(self, request: Request<A>, mut inner: impl Inner<A, B>) -> Response<B> {
        match identified(&*self.authenticator, request).await {
            Ok(request) => {
                let Ok(response) = inner.call(request).await;
                response
            }
            Err(error) => refusal::response(error.into()),
        }
    }
}

/// `request` with its user, or as it is if anyone may make it.
async fn identified<B>(
    authenticator: &dyn Authenticator,
    request: Request<B>,
) -> Result<Request<B>, AuthenticationError> {
    let (mut parts, body) = request.into_parts();
    if !parts.extensions.get::<Rule>().is_some_and(|rule| rule.access == Access::Public) {
        let user = authenticator.authenticate(Credentials::of(&parts).unambiguous()?).await?;
        if let Some(token) =
            Credentials::of(&parts).bearer().and_then(|token| std::str::from_utf8(token).ok())
        {
            let bearer = Bearer(Arc::new(token.into()));
            parts.extensions.insert(bearer);
        }
        parts.extensions.insert(user);
        if let Some(peer) = parts.extensions.get::<Peer>() {
            peer.has_authenticated();
        }
    }
    Ok(Request::from_parts(parts, body))
}

#[cfg(test)]
mod tests;
