//! Authentication: verifies credentials and inserts a [`User`] into the request's extensions, or answers
//! UNAUTHENTICATED.
//!
//! No layer or handler below reads a user from metadata or from a message. Public methods need no credentials and have
//! no user. Not here: authorization, which is the pipeline's.

use std::{convert::Infallible, net::SocketAddr, sync::Arc};

use futures_util::future::{BoxFuture, Either, Ready, ready};
use http::{HeaderMap, HeaderValue, Request, Response, header::AUTHORIZATION, request::Parts};
use tracing::Span;

pub(crate) use self::hosts::Host;
use self::trusted_proxies::FORWARDED;
pub use self::{
    error::AuthenticationError, hosts::HostTokens, issued_tokens::IssuedTokens, loopback::Loopback,
    static_tokens::StaticTokens, trusted_proxies::TrustedProxies, workloads::Workloads,
};
use super::{
    arrival::Arrival,
    peer::Peer,
    recent_token::RecentToken,
    refusal,
    refusal_lines::RefusalLines,
    reply::Reply,
    rules::{Access, RoutePath, Rule},
    toolset,
    trace::LoggedByPipeline,
};
use toolwire_base::{
    current::Current,
    middleware::{Middleware, take_ready},
};
use toolwire_config::Toolsets;
use toolwire_identity::{Principal, SpiffeId, Workload};
use toolwire_telemetry::attribute;
use toolwire_tool::context::{BearerToken, Origin, RefusalLog, RefusedRequest, User, UserId};

mod error;
mod hosts;
mod issued_tokens;
mod loopback;
mod static_tokens;
mod trusted_proxies;
mod workloads;

#[derive(Debug, Clone, Copy)]
pub struct Credentials<'a> {
    pub metadata: &'a HeaderMap,
    /// The first `authorization` header, looked up once.
    authorization: Option<&'a HeaderValue>,
    /// The TCP peer, if the request came over TCP.
    pub peer: Option<SocketAddr>,
    /// What the peer's certificate proves, if it has presented one.
    pub certified: Option<&'a Workload>,
    /// The token that the connection presented last.
    pub(crate) recent: Option<&'a RecentToken>,
}

/// Verifies credentials.
///
/// Implementations hold secrets, which their `Debug` must not show.
pub trait Authenticator: Send + Sync {
    /// Returns the user that `credentials` prove.
    fn authenticate<'a>(&'a self, credentials: Credentials<'a>) -> Authenticating<'a>;

    /// Returns what a bearer token of an issuer or a trust domain proves, which may be a host of a provider. By default
    /// there are none of either.
    fn verify<'a>(&'a self, _bearer: &'a [u8]) -> Proving<'a> {
        Either::Left(ready(Err(AuthenticationError::Rejected)))
    }

    /// The user that a workload is, if it is one.
    fn user_of_workload(&self, _id: &SpiffeId) -> Option<UserId> {
        None
    }
}

/// What a token proves at once, or by a future that waits for keys, as [`Authenticating`] does.
pub type Proving<'a> = Either<Ready<Identified<Arc<Principal>>>, BoxFuture<'a, Identified<Arc<Principal>>>>;

/// The user at once, or by a future that may wait, such as for keys: it is bounded by the call's deadline, and must do
/// nothing before it is polled.
pub type Authenticating<'a> = Either<Ready<Identified<User>>, BoxFuture<'a, Identified<User>>>;

type Identified<T> = Result<T, AuthenticationError>;

impl<'a> Credentials<'a> {
    /// The `authorization` header. There is at most one: a request with several is refused before this is called.
    pub fn authorization(&self) -> Option<&'a HeaderValue> {
        self.authorization
    }

    /// Refuses several `authorization` headers: a proxy and this server might use different ones.
    fn unambiguous(self) -> Result<Self, AuthenticationError> {
        // Most requests repeat no header at all.
        let repeats = self.metadata.len() != self.metadata.keys_len();
        if repeats && self.metadata.get_all(AUTHORIZATION).iter().nth(1).is_some() {
            return Err(AuthenticationError::Ambiguous);
        }
        Ok(self)
    }

    /// The token of an `authorization: Bearer …` header.
    pub fn bearer(&self) -> Option<&'a [u8]> {
        BearerToken::within(self.authorization()?)
    }

    /// The bearer token of a caller who is known, to be kept.
    fn to_bearer_token(self) -> Option<BearerToken> {
        BearerToken::new(self.authorization()?)
    }

    fn of(parts: &'a Parts) -> Self {
        let peer = parts.extensions.get::<Peer>();
        Self {
            metadata: &parts.headers,
            authorization: parts.headers.get(AUTHORIZATION),
            peer: peer.map(|peer| peer.address),
            certified: peer.and_then(|peer| peer.certified.as_deref()),
            recent: peer.map(|peer| &peer.state.recent_token),
        }
    }
}

/// Rejects callers that are not authenticated, except on public methods. Nothing below sees a proxy's word on a
/// certificate, which might be forged.
#[derive(Clone)]
pub(super) struct Authenticate {
    pub(super) users: Arc<dyn Authenticator>,
    pub(super) hosts: Arc<HostTokens>,
    pub(super) refusals: Arc<dyn RefusalLog>,
    pub(super) toolsets: Current<Toolsets>,
    pub(super) lines: Arc<RefusalLines>,
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
    type Future = Either<Reply<S::Future, ResB>, BoxFuture<'static, Result<Response<ResB>, Infallible>>>;

    fn call(&self, request: Request<ReqB>, inner: &mut S) -> Self::Future {
        let (mut parts, body) = request.into_parts();
        if let Some(identified) = self.identify_at_once(&mut parts) {
            remove_forwarded(&mut parts.headers);
            return Either::Left(match identified {
                Ok(()) => Reply::forward(inner.call(Request::from_parts(parts, body))),
                Err(error) => {
                    let error = self.hosts.specify(error, &*self.users, is_for_hosts(&parts));
                    self.note(&parts, &error);
                    Reply::refuse(error.into())
                }
            });
        }
        let (this, mut inner) = (self.clone(), take_ready(inner));
        Either::Right(Box::pin(async move {
            let identified = this.identify(&mut parts).await;
            remove_forwarded(&mut parts.headers);
            match identified {
                Ok(()) => inner.call(Request::from_parts(parts, body)).await,
                Err(error) => {
                    let error = this.hosts.specify(error, &*this.users, is_for_hosts(&parts));
                    this.note(&parts, &error);
                    Ok(refusal::response(error.into()))
                }
            }
        }))
    }
}

impl Authenticate {
    /// Inserts the user or the provider; a request of a public method passes unchanged. `None` if that may take a wait.
    fn identify_at_once(&self, parts: &mut Parts) -> Option<Identified<()>> {
        match parts.extensions.get::<Rule>().map_or(Access::User, |rule| rule.access) {
            Access::Public => Some(Ok(())),
            Access::Host => {
                let host = match Credentials::of(parts).unambiguous() {
                    Ok(credentials) => match self.hosts.identify(credentials, &*self.users) {
                        Either::Left(host) => host.into_inner(),
                        Either::Right(_) => return None,
                    },
                    Err(ambiguous) => Err(ambiguous),
                };
                Some(host.map(|host| insert_host(parts, host)))
            }
            Access::User => {
                let known = match Credentials::of(parts).unambiguous() {
                    Ok(credentials) => match self.users.authenticate(credentials) {
                        Either::Left(user) => {
                            user.into_inner().map(|user| (user, credentials.to_bearer_token()))
                        }
                        Either::Right(_) => return None,
                    },
                    Err(ambiguous) => Err(ambiguous),
                };
                Some(known.and_then(|(user, bearer)| self.insert_user(parts, user, bearer)))
            }
        }
    }

    /// The same, after a wait.
    async fn identify(&self, parts: &mut Parts) -> Identified<()> {
        let credentials = Credentials::of(parts).unambiguous()?;
        if is_for_hosts(parts) {
            let host = self.hosts.identify(credentials, &*self.users).await?;
            insert_host(parts, host);
            return Ok(());
        }
        let user = self.users.authenticate(credentials).await?;
        let bearer = credentials.to_bearer_token();
        self.insert_user(parts, user, bearer)
    }

    fn note(&self, parts: &Parts, error: &AuthenticationError) {
        let arrival = parts.extensions.get::<Arrival>();
        let peer = arrival.and_then(|it| it.peer).map(|address| address.ip().to_canonical());
        let origin = Origin { face: arrival.map_or("grpc", |it| it.face), peer };
        let method = parts.uri.path().trim_start_matches('/');
        let target = parts.extensions.get::<RoutePath>().map_or(method, |it| it.0);
        // There is one where something else of the request is refused.
        let user = error.user().or_else(|| parts.extensions.get::<User>());
        let refused = RefusedRequest { reason: error.reason(), user, origin, target };
        self.refusals.note(&refused);
        // This is the line of the request, too.
        if let Some(logged) = parts.extensions.get::<LoggedByPipeline>() {
            logged.set();
        }
        if let Some(unlogged) = self.lines.admit(&refused) {
            error.log(&refused, unlogged);
        }
    }

    fn insert_user(&self, parts: &mut Parts, mut user: User, bearer: Option<BearerToken>) -> Identified<()> {
        if let Some(bearer) = bearer {
            parts.extensions.insert(bearer);
        }
        if let Some(workload) = user.recorded_workload() {
            Span::current().record(attribute::WORKLOAD_ID, &**workload);
        }
        let toolset = if has_extensions(&parts.headers) {
            toolset::read(&parts.headers, &self.toolsets)
        } else {
            Ok(None)
        };
        let refused = toolset.map(|toolset| user.toolset = toolset);
        insert(parts, user);
        refused.map_err(AuthenticationError::from)
    }
}

fn is_for_hosts(parts: &Parts) -> bool {
    parts.extensions.get::<Rule>().is_some_and(|rule| rule.access == Access::Host)
}

/// Whether there may be a header of ours, or of a proxy. Few requests have one, and to read the names of all headers
/// costs less than to look one up.
fn has_extensions(headers: &HeaderMap) -> bool {
    headers.keys().any(|name| name.as_str().starts_with("x-"))
}

/// Nothing below sees a proxy's word on a certificate.
fn remove_forwarded(headers: &mut HeaderMap) {
    if has_extensions(headers) {
        headers.remove(FORWARDED);
    }
}

/// Inserts the provider that a host has proven, and what ends with its token.
fn insert_host(parts: &mut Parts, host: Host) {
    parts.extensions.insert(host.clone());
    insert(parts, host.provider);
}

/// Inserts the identity that a request has proven.
fn insert(parts: &mut Parts, identity: impl Clone + Send + Sync + 'static) {
    parts.extensions.insert(identity);
    if let Some(peer) = parts.extensions.get::<Peer>() {
        peer.set_authenticated();
    }
}

#[cfg(test)]
mod tests;
