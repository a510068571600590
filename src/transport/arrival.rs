//! Stamps requests with their arrival: time, peer, and the caller's time-out.
//!
//! Every deadline of a call is computed from this reading of the clock. Not here: enforcing them (`deadline`).

use std::{
    convert::Infallible,
    net::SocketAddr,
    time::{Duration, SystemTime},
};

use http::{HeaderMap, Request, Response};
use tokio::time::Instant;
use tonic::Status;

use super::{peer::Peer, reply::Reply};
use toolwire_base::{clock, middleware::Middleware};
use toolwire_tool::context::ClientName;

/// Longer time-outs count as none: they would overflow the clock's arithmetic.
const FOREVER: Duration = Duration::from_hours(8760);

/// The arrival of a request, in its extensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// On the monotonic clock, for deadlines.
    pub at: Instant,
    /// On the wall clock, for records.
    pub wall: SystemTime,
    /// The caller's time-out.
    pub timeout: Option<Duration>,
    pub peer: Option<SocketAddr>,
    /// The face that received it, for records: `grpc`, `http`.
    pub face: &'static str,
}

impl Arrival {
    /// Arrival + min(`timeout`, `cap`); `None` if there is neither.
    pub fn deadline(&self, cap: Option<Duration>) -> Option<Instant> {
        let bound = match (self.timeout, cap) {
            (Some(timeout), Some(cap)) => timeout.min(cap),
            (timeout, cap) => timeout.or(cap)?,
        };
        (bound < FOREVER).then(|| self.at + bound)
    }
}

/// Reads the caller's time-out from headers.
pub(super) trait FindTimeout: Fn(&HeaderMap) -> Result<Option<Duration>, Box<Status>> + Copy {}

impl<F: Fn(&HeaderMap) -> Result<Option<Duration>, Box<Status>> + Copy> FindTimeout for F {}

/// Inserts the [`Arrival`] of a request, and refuses malformed time-outs.
#[derive(Debug, Clone, Copy)]
pub(super) struct StampArrival<F> {
    face: &'static str,
    find: F,
}

impl<F: FindTimeout> StampArrival<F> {
    /// `find` reads the time-out as callers of this face send it.
    pub(super) fn new(face: &'static str, find: F) -> Self {
        Self { face, find }
    }
}

impl<F, S, ReqB, ResB> Middleware<Request<ReqB>, S> for StampArrival<F>
where
    F: FindTimeout,
    S: tower::Service<Request<ReqB>, Response = Response<ResB>, Error = Infallible>,
    ResB: Default,
{
    type Future = Reply<S::Future, ResB>;

    fn call(&self, mut request: Request<ReqB>, inner: &mut S) -> Self::Future {
        let timeout = match (self.find)(request.headers()) {
            Ok(timeout) => timeout,
            Err(malformed) => return Reply::refuse(*malformed),
        };
        let peer = request.extensions().get::<Peer>().map(|peer| peer.address);
        let (at, wall, face) = (clock::now(), clock::wall(), self.face);
        let client = ClientName::of_user_agent(request.headers());
        request.extensions_mut().insert(Arrival { at, wall, timeout, peer, face });
        if let Some(client) = client {
            request.extensions_mut().insert(client);
        }
        Reply::forward(inner.call(request))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(timeout: Option<u64>) -> Arrival {
        let timeout = timeout.map(Duration::from_secs);
        Arrival { at: clock::now(), wall: clock::wall(), timeout, peer: None, face: "grpc" }
    }

    #[tokio::test]
    async fn the_shorter_of_time_out_and_cap_is_the_deadline() {
        let cap = Some(Duration::from_mins(2));
        for (timeout, cap, bound) in [
            (Some(5), cap, Some(5)),
            (Some(500), cap, Some(120)),
            (None, cap, Some(120)),
            (Some(500), None, Some(500)),
            (None, None, None),
        ] {
            let arrival = arrival(timeout);
            let deadline = arrival.deadline(cap);
            assert_eq!(deadline, bound.map(|bound| arrival.at + Duration::from_secs(bound)));
        }
    }

    #[tokio::test]
    async fn a_time_out_of_centuries_is_none() {
        assert_eq!(arrival(Some(99_999_999 * 3_600)).deadline(None), None);
    }
}
