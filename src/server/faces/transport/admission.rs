//! Lets a request in once its message is complete and there is room for it: in all, and for whoever makes it.
//!
//! A request under way holds a share until its answer has ended or is dropped, not only until the headers. One whose
//! message is not complete yet holds another, for a bounded time, so that half requests keep no call out. Nothing of
//! the request is read by anybody before. Not here: which method counts against what (`rules`).

use std::{
    convert::Infallible, future::poll_fn, marker::PhantomData, pin::pin, sync::Arc, task::Poll,
    thread::available_parallelism, time::Duration,
};

use futures_util::{future::BoxFuture, poll};
use http::{Extensions, Request, Response};
use tokio::{
    runtime::{Handle, RuntimeFlavor},
    task::block_in_place,
    time::timeout,
};
use tonic::{Status, body::Body};

pub(super) use self::framing::{Grpc, Whole};
use self::{
    framing::{Framing, Size},
    held::{Compressed, Held},
    message::Message,
    refused::{late, shed},
    round_robin::RoundRobin,
};
use super::{
    Config,
    limits::Limit,
    peer::Peer,
    quotas::{Bounds, Full, Principal, Quotas, Share},
    refusal,
    rules::{Largest, Messages, Pool, Rule},
};
use toolwire_base::{
    fair_semaphore::FairSemaphore,
    middleware::{Layer, Middleware, take_ready},
    offload,
};
use toolwire_tool::context::User;

mod framing;
mod held;
mod message;
mod refused;
mod round_robin;

/// Bytes of messages that are not complete yet, or that are large: of all requests and of one holder's.
const BYTES: Bounds = Bounds { all: 64 << 20, each: 16 << 20 };
/// The longest conversation: as much as one user may have of them at once. Its memory is bounded by what all may have.
const LONGEST_CONVERSATION: usize = BYTES.each;
/// A body of unknown length takes so many bytes at a time.
const STEP: usize = 1 << 20;
/// Reflection at once: of all users and of one.
const REFLECTION: Bounds = Bounds { all: 64, each: 16 };
/// Watches of health at once: of all peers and of one. Balancers have one a connection.
const HEALTH: Bounds = Bounds { all: 1_024, each: 256 };

/// The room that there is for requests, of all listeners together. Cheap to clone; clones share it.
#[derive(Debug, Clone)]
pub struct Admission(Arc<Room>);

/// Admits requests whose messages are framed so.
#[derive(Debug)]
pub(super) struct Admit<F> {
    room: Arc<Room>,
    framing: PhantomData<fn() -> F>,
}

#[derive(Debug)]
struct Room {
    calls: Counted,
    watches: Counted,
    transfers: Counted,
    reflection: Counted,
    health: Counted,
    unfinished: Counted,
    bytes: Counted,
    /// Requests of users begin in turn.
    rounds: RoundRobin,
    /// Large messages are taken in one of a user at a time, beside the threads that carry the others.
    large: Arc<FairSemaphore<Principal>>,
    max_message: usize,
    request_timeout: Duration,
    idle_timeout: Duration,
    retry_after: Duration,
}

/// Quotas, and what they are of.
#[derive(Debug)]
struct Counted {
    shares: Quotas,
    what: &'static str,
}

impl Admission {
    /// As much as is configured.
    pub fn new(config: &Config) -> Self {
        let Config { limits, overload_retry_after, .. } = config;
        let counted = |bounds, what| Counted { shares: Quotas::new(bounds), what };
        let of = |all, each| Bounds { all, each };
        Self(Arc::new(Room {
            calls: counted(of(limits.max_concurrent_calls, limits.max_calls_per_user), "calls under way"),
            watches: counted(of(limits.max_watches, limits.max_watches_per_user), "watches"),
            transfers: counted(
                of(limits.max_transfers, limits.max_transfers_per_user),
                "uploads and downloads of documents",
            ),
            reflection: counted(REFLECTION, "reflection streams"),
            health: counted(HEALTH, "watches of health"),
            unfinished: counted(
                of(limits.max_unfinished_requests, limits.max_unfinished_per_user),
                "requests without an end",
            ),
            bytes: counted(BYTES, "bytes of requests without an end"),
            rounds: RoundRobin::new(limits.calls_per_turn),
            large: Arc::new(FairSemaphore::new(available_parallelism().map_or(1, usize::from), 1)),
            max_message: limits.max_request_bytes,
            request_timeout: limits.request_timeout,
            idle_timeout: limits.stream_idle_timeout,
            retry_after: *overload_retry_after,
        }))
    }

    pub(super) fn layer<F>(&self) -> Layer<Admit<F>> {
        Layer(Admit { room: Arc::clone(&self.0), framing: PhantomData })
    }
}

impl<F> Clone for Admit<F> {
    fn clone(&self) -> Self {
        Self { room: Arc::clone(&self.room), framing: PhantomData }
    }
}

impl<F, S, B> Middleware<Request<Body>, S> for Admit<F>
where
    F: Framing,
    S: tower::Service<Request<Body>, Response = Response<B>, Error = Infallible, Future: Send>
        + Clone
        + Send
        + 'static,
    B: Default + Send + 'static,
{
    type Future = BoxFuture<'static, Result<Response<Held<B>>, Infallible>>;

    fn call(&self, request: Request<Body>, inner: &mut S) -> Self::Future {
        let (room, mut inner) = (Arc::clone(&self.room), take_ready(inner));
        Box::pin(async move {
            let holder = holder(request.extensions());
            let user = request.extensions().get::<User>().map(|user| user.id.shared());
            let (request, admitted) = match room.admit::<F>(request, holder.as_ref()).await {
                Ok(admitted) => admitted,
                Err(status) => return Ok(refusal::response(*status)),
            };
            let Admitted { share, bytes, size } = admitted;
            let mut answer = pin!(offload::on_behalf(user.clone(), inner.call(request)));
            let Ok(response) = match size {
                Size::Small => answer.await,
                Size::Large => {
                    let first = poll_fn(|cx| Poll::Ready(aside(|| answer.as_mut().poll(cx))));
                    let first = room.large.run(holder.as_ref(), first).await;
                    drop(bytes);
                    match first {
                        Poll::Ready(response) => response,
                        Poll::Pending => answer.await,
                    }
                }
            };
            let compressed = response.headers().contains_key("grpc-encoding");
            let compressed =
                holder.filter(|_| compressed).map(|holder| Compressed::new(Arc::clone(&room.large), holder));
            Ok(response.map(|inner| Held::new(inner, share, user, compressed)))
        })
    }
}

/// What a request that was let in holds.
struct Admitted {
    share: Option<Share>,
    /// Until the message is taken in.
    bytes: Vec<Share>,
    size: Size,
}

impl Room {
    /// The request, complete, and what it holds. Boxed: a status is large, and seldom.
    async fn admit<F: Framing>(
        &self,
        request: Request<Body>,
        holder: Option<&Principal>,
    ) -> Result<(Request<Body>, Admitted), Box<Status>> {
        let rule = request.extensions().get().copied().unwrap_or(Rule::USER);
        let (parts, body) = request.into_parts();
        let mut message: Message<F> =
            Message::new(&parts.headers, body, rule.messages, self.most(rule.largest));
        let bytes = self.complete(&mut message, holder).await?;
        let share = match self.pool(rule.pool) {
            Some(pool) => Some(pool.take(holder, 1, self.retry_after)?),
            None => None,
        };
        if let (Pool::Calls | Pool::Watches | Pool::Transfers, Some(holder)) = (rule.pool, holder) {
            self.rounds.turn(holder).await;
        }
        let size = message.size();
        let body = message.into_body(match rule.messages {
            Messages::One => None,
            Messages::Many => Some(self.idle_timeout),
        });
        Ok((Request::from_parts(parts, body), Admitted { share, bytes, size }))
    }

    fn most(&self, largest: Largest) -> usize {
        match largest {
            Largest::Request => self.max_message,
            Largest::Conversation => self.max_message.max(LONGEST_CONVERSATION),
        }
    }

    /// Waits until the message is complete. Most are at once, and cost nothing.
    async fn complete<F: Framing>(
        &self,
        message: &mut Message<F>,
        holder: Option<&Principal>,
    ) -> Result<Vec<Share>, Box<Status>> {
        if let Poll::Ready(end) = poll!(pin!(message.complete())) {
            return end.map(|()| Vec::new());
        }
        let _unfinished = self.unfinished.take(holder, 1, self.retry_after)?;
        let completed = async {
            let mut taken = message.length().await?;
            let mut bytes = vec![self.bytes.take(holder, taken, self.retry_after)?];
            // A body of unknown length takes more as it comes: its bound is far above what nearly all of them have.
            while !message.complete_within(taken).await? {
                bytes.push(self.bytes.take(holder, STEP, self.retry_after)?);
                taken += STEP;
            }
            Ok(bytes)
        };
        let Ok(completed) = timeout(self.request_timeout, completed).await else {
            Limit::RequestTime.exceeded("a request", &shown(holder));
            return Err(Box::new(late(self.request_timeout)));
        };
        completed
    }

    fn pool(&self, pool: Pool) -> Option<&Counted> {
        match pool {
            Pool::Calls => Some(&self.calls),
            Pool::Watches => Some(&self.watches),
            Pool::Transfers => Some(&self.transfers),
            Pool::Reflection => Some(&self.reflection),
            Pool::Health => Some(&self.health),
            Pool::Free => None,
        }
    }
}

impl Counted {
    fn take(
        &self,
        holder: Option<&Principal>,
        amount: usize,
        retry_after: Duration,
    ) -> Result<Share, Box<Status>> {
        self.shares.take(holder.cloned(), amount).map_err(|full| {
            let bound = match full {
                Full::Each => Limit::Share,
                Full::All => Limit::All,
            };
            bound.exceeded(self.what, &shown(holder));
            Box::new(shed(full, holder, self.what, self.shares.bounds(), retry_after))
        })
    }
}

/// Who makes a request: its user, or for a public method its peer, unless that is trusted.
fn holder(extensions: &Extensions) -> Option<Principal> {
    match extensions.get::<User>() {
        Some(user) => Some(Principal::User(user.id.clone())),
        None => extensions.get::<Peer>()?.origin().map(Principal::Peer),
    }
}

fn shown(holder: Option<&Principal>) -> String {
    holder.map_or_else(|| "a trusted peer".to_owned(), ToString::to_string)
}

/// Does work that may take longer than others should wait: on a thread that carries nothing else meanwhile.
fn aside<T>(work: impl FnOnce() -> T) -> T {
    match Handle::current().runtime_flavor() {
        RuntimeFlavor::MultiThread => block_in_place(work),
        // There is no other thread that could carry the rest.
        _ => work(),
    }
}

#[cfg(test)]
mod tests;
