//! Conditional requests (RFC 9110 §13), for every route: the conditions are read and checked here once.
//!
//! A request that reads is answered first, and its conditions are held against the validators of its answer: those of
//! an answer that is no success are ignored. A request that writes must be checked before, and only what writes can do
//! that without a gap; routes that do so find the [`Conditions`] in the extensions of the request. Any other route that
//! writes has no validators, so that no tag matches. Not here: how the store compares etags (`store::documents`).

mod header;

use std::{
    convert::Infallible,
    future::ready,
    task::{Context, Poll},
    time::SystemTime,
};

use axum::{body::Body, response::IntoResponse};
use futures_util::future::{BoxFuture, Either, FutureExt};
use http::{
    HeaderMap, Method, Request, Response, StatusCode,
    header::{CACHE_CONTROL, CONTENT_LOCATION, DATE, ETAG, EXPIRES, LAST_MODIFIED, VARY},
};

pub use self::header::{Tag, Tags};
use super::{
    answer::{self, Answer},
    problem::Problem,
    table::Found,
};
use crate::contract::Refusal;

/// What a request makes depend on the present representation of its target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// The representation must have one of these tags.
    pub if_match: Option<Tags>,
    /// It must have none of these.
    pub if_none_match: Option<Tags>,
    /// It must have changed since. For reads alone.
    pub if_modified_since: Option<SystemTime>,
    /// It must not have changed since.
    pub if_unmodified_since: Option<SystemTime>,
}

/// What identifies a representation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Validators<'a> {
    /// The text of its tag, with quotation marks.
    pub etag: Option<&'a str>,
    /// When it changed last.
    pub last_modified: Option<SystemTime>,
}

/// What comes of conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// They hold.
    Proceed,
    /// The reader has the representation.
    NotModified,
    /// They do not hold.
    Failed,
}

impl Conditions {
    /// The conditions of a request, if it has any.
    pub fn read(headers: &HeaderMap) -> Result<Option<Self>, Refusal> {
        let conditions = Self {
            if_match: header::tags(headers, &http::header::IF_MATCH, "If-Match")?,
            if_none_match: header::tags(headers, &http::header::IF_NONE_MATCH, "If-None-Match")?,
            if_modified_since: header::date(headers, &http::header::IF_MODIFIED_SINCE),
            if_unmodified_since: header::date(headers, &http::header::IF_UNMODIFIED_SINCE),
        };
        Ok(Some(conditions).filter(|it| *it != Self::default()))
    }

    /// Whether they hold for the present representation, in the order of RFC 9110 §13.2.2.
    pub fn verdict(&self, is_read: bool, current: Option<&Validators<'_>>) -> Verdict {
        let etag = current.map(|it| it.etag.unwrap_or_default());
        let modified = current.and_then(|it| it.last_modified);
        let has_changed_after = |since| modified.map(|modified| modified > since);
        if let Some(tags) = &self.if_match {
            if !etag.is_some_and(|etag| tags.match_strongly(etag)) {
                return Verdict::Failed;
            }
        } else if self.if_unmodified_since.and_then(has_changed_after) == Some(true) {
            return Verdict::Failed;
        }
        let is_known = match &self.if_none_match {
            Some(tags) => etag.is_some_and(|etag| tags.match_weakly(etag)),
            None => is_read && self.if_modified_since.and_then(has_changed_after) == Some(false),
        };
        match (is_known, is_read) {
            (false, _) => Verdict::Proceed,
            (true, true) => Verdict::NotModified,
            (true, false) => Verdict::Failed,
        }
    }

    /// Whether a reader that sent these headers has the representation of a tag, so that it need not be made.
    pub fn spare(headers: &HeaderMap, etag: &str) -> bool {
        let current = Validators { etag: Some(etag), last_modified: None };
        let conditions = Self::read(headers).ok().flatten();
        conditions.is_some_and(|it| it.verdict(true, Some(&current)) == Verdict::NotModified)
    }
}

/// Which routes check the conditions of a write by themselves, by method and path.
pub(super) type Checks = fn(&Method, &str) -> bool;

/// Carries out a request only if its conditions hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layer(pub(super) Checks);

#[derive(Clone, Debug)]
pub(super) struct Service<S> {
    inner: S,
    checks: Checks,
}

impl<S> tower::Layer<S> for Layer {
    type Service = Service<S>;

    fn layer(&self, inner: S) -> Service<S> {
        Service { inner, checks: self.0 }
    }
}

impl<S> tower::Service<Request<Body>> for Service<S>
where
    S: tower::Service<Request<Body>, Response = Answer, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Answer;
    type Error = Infallible;
    // In a box only where there are conditions.
    type Future = Either<S::Future, BoxFuture<'static, Result<Answer, Infallible>>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let decided = |problem: Problem| Either::Right(ready(Ok(problem.into_response())).boxed());
        let conditions = match Conditions::read(request.headers()) {
            Ok(None) => return Either::Left(self.inner.call(request)),
            Ok(Some(conditions)) => conditions,
            Err(refusal) => return decided(refusal.into()),
        };
        if matches!(*request.method(), Method::GET | Method::HEAD) {
            let answer = self.inner.call(request);
            return Either::Right(answer.map(move |it| it.map(|it| judged(it, &conditions))).boxed());
        }
        let found = request.extensions().get::<Found>().copied();
        let is_checked = found.is_some_and(|found| (self.checks)(request.method(), found.template));
        let current = found.filter(|it| it.is_readable).map(|_| Validators::default());
        if !is_checked && conditions.verdict(false, current.as_ref()) == Verdict::Failed {
            return decided(failed());
        }
        request.extensions_mut().insert(conditions);
        Either::Left(self.inner.call(request))
    }
}

/// The answer to a request that reads, as its conditions have it.
fn judged(answer: Answer, conditions: &Conditions) -> Answer {
    if !matches!(answer.status(), StatusCode::OK | StatusCode::NOT_MODIFIED) {
        return answer;
    }
    let headers = answer.headers();
    let etag = headers.get(ETAG).and_then(|value| value.to_str().ok());
    let current = Validators { etag, last_modified: header::date(headers, &LAST_MODIFIED) };
    match conditions.verdict(true, Some(&current)) {
        Verdict::Proceed => answer,
        Verdict::NotModified => not_modified(&answer),
        Verdict::Failed => failed().into_response(),
    }
}

/// What a cache keeps of an answer that it has (RFC 9110 §15.4.5).
fn not_modified<B>(known: &Response<B>) -> Answer {
    let mut answer = answer::empty(StatusCode::NOT_MODIFIED);
    for name in [CACHE_CONTROL, CONTENT_LOCATION, DATE, ETAG, EXPIRES, LAST_MODIFIED, VARY] {
        for value in known.headers().get_all(&name) {
            answer.headers_mut().append(&name, value.clone());
        }
    }
    answer
}

/// The conditions of a request do not hold.
pub fn failed() -> Problem {
    let what = "the conditions of the request (If-Match, If-None-Match or If-Unmodified-Since) do not hold for what is \
                there now; nothing was done";
    Problem::new("PRECONDITION_FAILED", StatusCode::PRECONDITION_FAILED, what)
}

#[cfg(test)]
mod tests;
