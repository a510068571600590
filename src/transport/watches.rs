//! Ends watches when their connection is drained, so that they do not keep it open until the forced end, when the token
//! of their user has expired, and when the user has lost a right.
//!
//! A watch is a method with [`Lifetime::Uncapped`]. It ends with UNAVAILABLE, upon which its client watches again on
//! another connection, with UNAUTHENTICATED, upon which it needs a new token, or with `PERMISSION_DENIED`. A request in
//! the pool of watches that its handler ends at a drain is ended here for the other reasons. Other calls run to their
//! end; a call that only waits can observe [`drain_signal`] and return early.

use std::{
    convert::Infallible,
    fmt::Debug,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::{Duration, SystemTime},
};

use futures_util::future::{BoxFuture, FutureExt, Shared, pending};
use http::{Extensions, Request, Response};
use http_body::{Body as HttpBody, Frame, SizeHint};
use pin_project_lite::pin_project;
use tokio::time::{Sleep, sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tonic::{Code, Status};

use super::{
    authenticate::{AuthenticationError, Host},
    peer::Peer,
    polled_frame::PolledFrame,
    refusal,
    rules::{Lifetime, Pool, Rule},
};
use toolwire_base::{clock, middleware::Middleware};
use toolwire_contract::status;
use toolwire_identity::Refusal;
use toolwire_tool::context::{Acceptance, BearerToken, User};

/// Says when a user has lost what the user had when a watch began.
pub trait Withdrawals: Debug + Send + Sync {
    /// Completes with the status of a watch that begins now, once the user has lost a right, or the credentials are no
    /// longer accepted.
    fn wait_for_loss(&self, user: &User, bearer: Option<&BearerToken>) -> BoxFuture<'static, Status>;

    /// Completes once the token of a host would be accepted no longer.
    fn wait_for_loss_of_host(&self, token: &Acceptance) -> BoxFuture<'static, ()>;
}

/// The end of a host's token, by its expiry or by other settings of who signed it, in the extensions of a slot.
#[derive(Clone)]
struct TokenEnd(Shared<BoxFuture<'static, &'static str>>);

impl TokenEnd {
    /// That of the host that makes a request. `None` where nothing ends its credentials.
    fn of(extensions: &Extensions, withdrawals: Option<&Arc<dyn Withdrawals>>) -> Option<Self> {
        let grant = extensions.get::<Host>()?.grant.as_deref()?;
        let expired = sleep(grant.ends_at.map_or(Duration::MAX, left));
        let withdrawn =
            withdrawals.zip(grant.acceptance.as_ref()).map(|(it, token)| it.wait_for_loss_of_host(token));
        let withdrawn = withdrawn.unwrap_or_else(|| pending().boxed());
        let end = async move {
            tokio::select! {
                () = expired => "its token has expired; it joins again by another one",
                () = withdrawn => "the issuer or trust domain of its token is no longer the configured one",
            }
        };
        Some(Self(end.boxed().shared()))
    }
}

#[derive(Debug, Clone)]
pub(super) struct EndWatches {
    /// `None` where rights never change.
    pub(super) withdrawals: Option<Arc<dyn Withdrawals>>,
}

impl<S, ReqB, ResB> Middleware<Request<ReqB>, S> for EndWatches
where
    S: tower::Service<Request<ReqB>, Response = Response<ResB>, Error = Infallible>,
{
    type Future = ResponseFuture<S::Future>;

    fn call(&self, mut request: Request<ReqB>, inner: &mut S) -> Self::Future {
        if let Some(end) = TokenEnd::of(request.extensions(), self.withdrawals.as_ref()) {
            request.extensions_mut().insert(end);
        }
        let ended = End::of(request.extensions(), self.withdrawals.as_deref());
        ResponseFuture { inner: Some(inner.call(request)), ended }
    }
}

/// What ends a watch.
struct End {
    /// The drain, unless the handler ends the request then.
    drained: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    /// When the token of its user ends, if that is one of an identity provider.
    expired: Option<Pin<Box<Sleep>>>,
    /// Once its user has lost a right.
    withdrawn: Option<BoxFuture<'static, Status>>,
}

impl End {
    /// What ends this request, if it is a watch.
    fn of(extensions: &Extensions, withdrawals: Option<&dyn Withdrawals>) -> Option<Self> {
        let rule = extensions.get::<Rule>()?;
        let peer = extensions.get::<Peer>()?;
        let is_drained = rule.lifetime == Lifetime::Uncapped;
        if !is_drained && rule.pool != Pool::Watches {
            return None;
        }
        let user = extensions.get::<User>();
        let ends_at = user.and_then(|user| user.grant.as_ref()?.ends_at);
        let withdrawn = |user| Some(withdrawals?.wait_for_loss(user, extensions.get::<BearerToken>()));
        Some(Self {
            drained: is_drained.then(|| Box::pin(peer.watches_end.clone().cancelled_owned())),
            expired: ends_at.map(|ends_at| Box::pin(sleep(left(ends_at)))),
            withdrawn: user.and_then(withdrawn),
        })
    }

    /// Why the watch ends, once it does.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Status> {
        if self.drained.as_mut().is_some_and(|it| it.as_mut().poll(cx).is_ready()) {
            return Poll::Ready(draining());
        }
        if self.expired.as_mut().is_some_and(|it| it.as_mut().poll(cx).is_ready()) {
            return Poll::Ready(AuthenticationError::Refused(Refusal::Expired).into());
        }
        match &mut self.withdrawn {
            Some(withdrawn) => withdrawn.as_mut().poll(cx),
            None => Poll::Pending,
        }
    }
}

pin_project! {
    /// The response, or the status with which the watch ends.
    pub(super) struct ResponseFuture<F> {
        #[pin]
        inner: Option<F>,
        ended: Option<End>,
    }
}

impl<F, B> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<B>, Infallible>>,
{
    type Output = Result<Response<Body<B>>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        if let Some(end) = why_ended(this.ended.as_mut(), cx) {
            this.inner.set(None);
            return Poll::Ready(Ok(refusal::response(end)));
        }
        let inner = this.inner.as_mut().as_pin_mut().expect("a response is not polled once it is there");
        let Ok(response) = ready!(inner.poll(cx));
        let ended = this.ended.take();
        Poll::Ready(Ok(response.map(|inner| Body { inner: Some(inner), ended })))
    }
}

pin_project! {
    /// The inner body until its end, or until watches end.
    pub(super) struct Body<B> {
        #[pin]
        inner: Option<B>,
        ended: Option<End>,
    }
}

impl<B> Default for Body<B> {
    fn default() -> Self {
        Self { inner: None, ended: None }
    }
}

impl<B: HttpBody> HttpBody for Body<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> PolledFrame<Self> {
        let mut this = self.project();
        let Some(inner) = this.inner.as_mut().as_pin_mut() else { return Poll::Ready(None) };
        let Some(end) = why_ended(this.ended.as_mut(), cx) else { return inner.poll_frame(cx) };
        this.inner.set(None);
        Poll::Ready(Some(Ok(Frame::trailers(refusal::trailers(&end)))))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    /// Exact only for a body that is not a watch: the layers above do not cut a body of known length.
    fn size_hint(&self) -> SizeHint {
        match (&self.inner, &self.ended) {
            (Some(inner), None) => inner.size_hint(),
            (Some(_), Some(_)) => SizeHint::default(),
            (None, _) => SizeHint::with_exact(0),
        }
    }
}

/// How long it takes until a token ends.
fn left(ends_at: SystemTime) -> Duration {
    ends_at.duration_since(clock::wall()).unwrap_or_default()
}

/// Completes with the reason, for the host, when a slot should be left: its connection is drained, or the token of its
/// host has ended.
pub fn slot_end(extensions: &Extensions) -> impl Future<Output = &'static str> + use<> {
    let drained = drain_signal(extensions).cancelled_owned();
    let token = extensions.get::<TokenEnd>().cloned();
    async move {
        let ended = async {
            match token {
                Some(TokenEnd(end)) => end.await,
                None => pending().await,
            }
        };
        tokio::select! {
            () = drained => "the connection ends",
            reason = ended => reason,
        }
    }
}

/// A token that is cancelled when calls that only wait should return, because their connection is drained.
pub fn drain_signal(extensions: &Extensions) -> CancellationToken {
    extensions.get::<Peer>().map(|peer| peer.watches_end.clone()).unwrap_or_default()
}

/// Why a watch ends; `None` while it goes on.
fn why_ended(ended: Option<&mut End>, cx: &mut Context<'_>) -> Option<Status> {
    match ended?.poll(cx) {
        Poll::Ready(status) => Some(status),
        Poll::Pending => None,
    }
}

fn draining() -> Status {
    status::plain(Code::Unavailable, "DRAINING", "this connection is about to close; watch again on another")
}
