//! Admits a request once its message is complete and its quotas permit it: the total, and that of its user or peer.
//!
//! An admitted request holds a permit until its response body has ended or is dropped, not only until the headers. An
//! incomplete request holds a permit of another quota, for a bounded time, so that incomplete requests cannot exhaust
//! the quota of calls. No handler sees a request before it is admitted. Not here: the quota that a method counts
//! against (`rules`).

use std::{
    convert::Infallible, future::poll_fn, marker::PhantomData, pin::pin, sync::Arc, task::Poll,
    thread::available_parallelism, time::Duration,
};

use futures_util::{future::BoxFuture, poll};
use http::{Request, Response};
use http_body::Body as HttpBody;
use tokio::{
    runtime::{Handle, RuntimeFlavor},
    task::block_in_place,
    time::timeout,
};
use tonic::{Status, body::Body};

pub(super) use self::framing::{Grpc, Whole};
use self::{
    admitted_body::{AdmittedBody, CompressionPermits},
    framing::{Framing, Size},
    message::Message,
    principal::{backlog_of, display, principal_of},
    refusals::{request_incomplete, shed, unread},
    round_robin::RoundRobin,
};
use super::{
    Config,
    limits::Limit,
    quotas::{Bounds, Principal, QuotaExceeded, QuotaPermit, Quotas},
    refusal,
    rules::{Lifetime, MaxMessage, Pool, Rule},
    stream,
};
use toolwire_base::{
    fair_semaphore::FairSemaphore,
    middleware::{Layer, Middleware, take_ready},
    offload,
};
use toolwire_tool::context::User;

mod admitted_body;
mod framing;
mod message;
mod principal;
mod refusals;
mod round_robin;

/// Bytes of incomplete and of large messages: in total, and per principal.
const BYTES: Bounds = Bounds { all: 64 << 20, each: 16 << 20 };
/// Maximum size of a conversation: a user's whole quota of bytes. The memory is bounded by the total quota.
const LONGEST_CONVERSATION: usize = BYTES.each;
/// The bytes by which the permit of a body of unknown length grows.
const STEP: usize = 1 << 20;
/// Concurrent reflection streams: in total, and per user.
const REFLECTION: Bounds = Bounds { all: 64, each: 16 };
/// Concurrent watches of health: in total, and per peer. Load balancers have one per connection.
const HEALTH: Bounds = Bounds { all: 1_024, each: 256 };

/// The quotas of requests, over all listeners. Cheap to clone; clones share state.
#[derive(Debug, Clone)]
pub struct Admission(Arc<RequestQuotas>);

/// Admits requests; `F` is the framing of their messages.
#[derive(Debug)]
pub(super) struct Admit<F> {
    quotas: Arc<RequestQuotas>,
    framing: PhantomData<fn() -> F>,
}

#[derive(Debug)]
struct RequestQuotas {
    calls: NamedQuota,
    watches: NamedQuota,
    transfers: NamedQuota,
    reflection: NamedQuota,
    health: NamedQuota,
    unfinished: NamedQuota,
    bytes: NamedQuota,
    round_robin: RoundRobin,
    /// Permits to decode a large message: one per user, on threads that serve no other request meanwhile.
    large: Arc<FairSemaphore<Principal>>,
    max_message: usize,
    request_timeout: Duration,
    idle_timeout: Duration,
    retry_after: Duration,
}

#[derive(Debug)]
struct NamedQuota {
    quotas: Quotas,
    what: &'static str,
}

impl Admission {
    pub fn new(config: &Config) -> Self {
        let Config { limits, overload_retry_after, .. } = config;
        let quota = |bounds, what| NamedQuota { quotas: Quotas::new(bounds), what };
        let of = |all, each| Bounds { all, each };
        Self(Arc::new(RequestQuotas {
            calls: quota(of(limits.max_concurrent_calls, limits.max_calls_per_user), "calls under way"),
            watches: quota(of(limits.max_watches, limits.max_watches_per_user), "watches"),
            transfers: quota(
                of(limits.max_transfers, limits.max_transfers_per_user),
                "uploads and downloads of documents",
            ),
            reflection: quota(REFLECTION, "reflection streams"),
            health: quota(HEALTH, "watches of health"),
            unfinished: quota(
                of(limits.max_unfinished_requests, limits.max_unfinished_per_user),
                "requests without an end",
            ),
            bytes: quota(BYTES, "bytes of requests without an end"),
            round_robin: RoundRobin::new(limits.calls_per_turn),
            large: Arc::new(FairSemaphore::new(available_parallelism().map_or(1, usize::from), 1)),
            max_message: limits.max_request_bytes,
            request_timeout: limits.request_timeout,
            idle_timeout: limits.stream_idle_timeout,
            retry_after: *overload_retry_after,
        }))
    }

    pub(super) fn layer<F>(&self) -> Layer<Admit<F>> {
        Layer(Admit { quotas: Arc::clone(&self.0), framing: PhantomData })
    }
}

impl<F> Clone for Admit<F> {
    fn clone(&self) -> Self {
        Self { quotas: Arc::clone(&self.quotas), framing: PhantomData }
    }
}

impl<F, S, B> Middleware<Request<Body>, S> for Admit<F>
where
    F: Framing,
    S: tower::Service<Request<Body>, Response = Response<B>, Error = Infallible, Future: Send>
        + Clone
        + Send
        + 'static,
    B: HttpBody + Default + Send + 'static,
{
    type Future = BoxFuture<'static, Result<Response<AdmittedBody<B>>, Infallible>>;

    fn call(&self, request: Request<Body>, inner: &mut S) -> Self::Future {
        let (quotas, mut inner) = (Arc::clone(&self.quotas), take_ready(inner));
        let (parts, body) = request.into_parts();
        let rule = parts.extensions.get().copied().unwrap_or(Rule::USER);
        let longest = quotas.max_bytes(rule.max_message);
        let mut message: Message<F> = Message::new(&parts.headers, body, rule.messages, longest);
        Box::pin(async move {
            let principal = principal_of(&parts.extensions);
            let user = parts.extensions.get::<User>().map(|user| user.id.shared());
            let permits = match quotas.admit(rule, &mut message, principal.as_ref()).await {
                Ok(permits) => permits,
                Err(status) => return Ok(refusal::response(*status)),
            };
            let Permits { permit, bytes, size } = permits;
            // An idle slot of a host is silent for as long as there are no calls.
            let bound = (rule.lifetime != Lifetime::Slot).then_some(quotas.idle_timeout);
            let backlog = backlog_of(&parts.extensions, principal.as_ref());
            stream::set_backlog(backlog.clone());
            let request = Request::from_parts(parts, message.into_body(bound));
            let mut answer = pin!(offload::on_behalf(user.clone(), inner.call(request)));
            // The first poll decodes the message; the rest of the call, which can last minutes, holds no bytes.
            let first = match size {
                Size::Small => poll!(answer.as_mut()),
                Size::Large => {
                    let first = poll_fn(|cx| Poll::Ready(run_blocking(|| answer.as_mut().poll(cx))));
                    Box::pin(quotas.large.run(principal.as_ref(), first)).await
                }
            };
            drop(bytes);
            let Ok(response) = match first {
                Poll::Ready(response) => response,
                Poll::Pending => answer.await,
            };
            if let (Some(backlog), Some(bytes)) = (&backlog, response.body().size_hint().exact())
                && let Err(bound) = backlog.pass_on(usize::try_from(bytes).unwrap_or(usize::MAX))
            {
                Limit::report_end(backlog);
                stream::set_backlog(None);
                return Ok(refusal::response(unread(bound, backlog.bounds())));
            }
            let compressed = response.headers().contains_key("grpc-encoding");
            let compressed = principal
                .filter(|_| compressed)
                .map(|principal| CompressionPermits::new(Arc::clone(&quotas.large), principal));
            Ok(response.map(|inner| AdmittedBody::new(inner, permit, user, compressed, backlog)))
        })
    }
}

struct Permits {
    permit: Option<QuotaPermit>,
    /// Held until the message is decoded.
    bytes: Vec<QuotaPermit>,
    size: Size,
}

impl RequestQuotas {
    /// Waits for the complete message and the permits of its request. The error is boxed: a status is large and rare.
    async fn admit<F: Framing>(
        &self,
        rule: Rule,
        message: &mut Message<F>,
        principal: Option<&Principal>,
    ) -> Result<Permits, Box<Status>> {
        let bytes = self.complete(message, principal).await?;
        let permit = match self.pool(rule.pool) {
            Some(pool) => Some(pool.take(principal, 1, self.retry_after)?),
            None => None,
        };
        // After the permit: a request that will be shed must not wait for its round first.
        if let (Pool::Calls | Pool::Watches | Pool::Transfers, Some(principal)) = (rule.pool, principal) {
            self.round_robin.wait_to_start(principal).await;
        }
        Ok(Permits { permit, bytes, size: message.size() })
    }

    fn max_bytes(&self, max_message: MaxMessage) -> usize {
        match max_message {
            MaxMessage::Request => self.max_message,
            MaxMessage::Conversation => self.max_message.max(LONGEST_CONVERSATION),
        }
    }

    /// Waits until the message is complete. Most are complete at the first poll and take no permit.
    async fn complete<F: Framing>(
        &self,
        message: &mut Message<F>,
        principal: Option<&Principal>,
    ) -> Result<Vec<QuotaPermit>, Box<Status>> {
        if let Poll::Ready(end) = poll!(pin!(message.complete())) {
            return end.map(|()| Vec::new());
        }
        let _unfinished = self.unfinished.take(principal, 1, self.retry_after)?;
        let completed = async {
            let mut taken = message.length().await?;
            let mut bytes = vec![self.bytes.take(principal, taken, self.retry_after)?];
            // Permits for a body of unknown length are taken as it arrives: its maximum is far above the usual size.
            while !message.complete_within(taken).await? {
                bytes.push(self.bytes.take(principal, STEP, self.retry_after)?);
                taken += STEP;
            }
            Ok(bytes)
        };
        // Boxed: a request has room for what it waits with only while it waits.
        let Ok(completed) = Box::pin(timeout(self.request_timeout, completed)).await else {
            Limit::RequestTime.exceeded("a request", &display(principal));
            return Err(Box::new(request_incomplete(self.request_timeout)));
        };
        completed
    }

    fn pool(&self, pool: Pool) -> Option<&NamedQuota> {
        match pool {
            Pool::Calls => Some(&self.calls),
            Pool::Watches => Some(&self.watches),
            Pool::Transfers => Some(&self.transfers),
            Pool::Reflection => Some(&self.reflection),
            Pool::Health => Some(&self.health),
            Pool::Slots | Pool::Free => None,
        }
    }
}

impl NamedQuota {
    fn take(
        &self,
        principal: Option<&Principal>,
        amount: usize,
        retry_after: Duration,
    ) -> Result<QuotaPermit, Box<Status>> {
        self.quotas.take(principal.cloned(), amount).map_err(|full| {
            let bound = match full {
                QuotaExceeded::Each => Limit::Share,
                QuotaExceeded::All => Limit::All,
            };
            bound.exceeded(self.what, &display(principal));
            Box::new(shed(full, principal, self.what, self.quotas.bounds(), retry_after))
        })
    }
}

/// Runs work that may take too long for an async worker, on a thread that runs no other task meanwhile.
fn run_blocking<T>(work: impl FnOnce() -> T) -> T {
    match Handle::current().runtime_flavor() {
        RuntimeFlavor::MultiThread => block_in_place(work),
        // A single-threaded runtime has no other thread to move the tasks to.
        _ => work(),
    }
}

#[cfg(test)]
mod tests;
