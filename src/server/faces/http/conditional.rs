//! Conditional requests (RFC 9110 §13), for every route: preconditions are parsed and evaluated here once.
//!
//! A GET or HEAD is answered first, and its preconditions are evaluated against the validators of the answer; an answer
//! other than 200 or 304 is returned as it is. The preconditions of a write are evaluated before it. Only the store can
//! do that atomically with the write; routes that leave it to the store find the [`Conditions`] in the extensions of
//! the request. Every other route that writes has no validators, so no entity tag matches. Not here: how the store
//! compares etags (`toolwire_state::documents`).

mod header;

use std::{convert::Infallible, future::ready, time::SystemTime};

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
    table::RouteMatch,
};
use toolwire_base::middleware::Middleware;
use toolwire_contract::Refusal;

/// The preconditions of a request, on the current representation of its target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// The representation has one of these entity tags.
    pub if_match: Option<Tags>,
    /// The representation has none of these entity tags.
    pub if_none_match: Option<Tags>,
    /// The representation was modified after this time. Evaluated for GET and HEAD only.
    pub if_modified_since: Option<SystemTime>,
    /// The representation was not modified after this time.
    pub if_unmodified_since: Option<SystemTime>,
}

/// The validators of a representation (RFC 9110 §8.8).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Validators<'a> {
    /// The text of its entity tag, with quotation marks.
    pub etag: Option<&'a str>,
    /// When it was last modified.
    pub last_modified: Option<SystemTime>,
}

/// The result of evaluating preconditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// They hold: the request is carried out.
    Proceed,
    /// The client already has the representation: 304.
    NotModified,
    /// They do not hold: 412.
    Failed,
}

impl Conditions {
    /// The preconditions in the headers of a request, if there are any. A malformed list of tags is refused.
    pub fn read(headers: &HeaderMap) -> Result<Option<Self>, Refusal> {
        let conditions = Self {
            if_match: header::tags(headers, &http::header::IF_MATCH, "If-Match")?,
            if_none_match: header::tags(headers, &http::header::IF_NONE_MATCH, "If-None-Match")?,
            if_modified_since: header::date(headers, &http::header::IF_MODIFIED_SINCE),
            if_unmodified_since: header::date(headers, &http::header::IF_UNMODIFIED_SINCE),
        };
        Ok(Some(conditions).filter(|it| *it != Self::default()))
    }

    /// Evaluates them against the current representation, in the order of RFC 9110 §13.2.2.
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

    /// Whether a client that sent these headers already has the representation with this tag, so that the body need not
    /// be made.
    pub fn spare(headers: &HeaderMap, etag: &str) -> bool {
        let current = Validators { etag: Some(etag), last_modified: None };
        let conditions = Self::read(headers).ok().flatten();
        conditions.is_some_and(|it| it.verdict(true, Some(&current)) == Verdict::NotModified)
    }
}

/// Passes a request on only if its preconditions hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct CheckConditions;

impl<S> Middleware<Request<Body>, S> for CheckConditions
where
    S: tower::Service<Request<Body>, Response = Answer, Error = Infallible>,
    S::Future: Send + 'static,
{
    // Boxed only for requests with preconditions.
    type Future = Either<S::Future, BoxFuture<'static, Result<Answer, Infallible>>>;

    fn call(&self, mut request: Request<Body>, inner: &mut S) -> Self::Future {
        let decided = |problem: Problem| Either::Right(ready(Ok(problem.into_response())).boxed());
        let conditions = match Conditions::read(request.headers()) {
            Ok(None) => return Either::Left(inner.call(request)),
            Ok(Some(conditions)) => conditions,
            Err(refusal) => return decided(refusal.into()),
        };
        if matches!(*request.method(), Method::GET | Method::HEAD) {
            let answer = inner.call(request);
            return Either::Right(answer.map(move |it| it.map(|it| evaluate(it, &conditions))).boxed());
        }
        let found = request.extensions().get::<RouteMatch>().copied();
        let is_checked = found.is_some_and(|found| found.checks_preconditions);
        let current = found.filter(|it| it.is_readable).map(|_| Validators::default());
        if !is_checked && conditions.verdict(false, current.as_ref()) == Verdict::Failed {
            return decided(precondition_failed());
        }
        request.extensions_mut().insert(conditions);
        Either::Left(inner.call(request))
    }
}

/// The answer to a GET or HEAD after its preconditions were evaluated: unchanged, 304 or 412.
fn evaluate(answer: Answer, conditions: &Conditions) -> Answer {
    if !matches!(answer.status(), StatusCode::OK | StatusCode::NOT_MODIFIED) {
        return answer;
    }
    let headers = answer.headers();
    let etag = headers.get(ETAG).and_then(|value| value.to_str().ok());
    let current = Validators { etag, last_modified: header::date(headers, &LAST_MODIFIED) };
    match conditions.verdict(true, Some(&current)) {
        Verdict::Proceed => answer,
        Verdict::NotModified => not_modified(&answer),
        Verdict::Failed => precondition_failed().into_response(),
    }
}

/// A 304 with the headers that a cache updates its stored answer by (RFC 9110 §15.4.5).
fn not_modified<B>(known: &Response<B>) -> Answer {
    let mut answer = answer::empty(StatusCode::NOT_MODIFIED);
    for name in [CACHE_CONTROL, CONTENT_LOCATION, DATE, ETAG, EXPIRES, LAST_MODIFIED, VARY] {
        for value in known.headers().get_all(&name) {
            answer.headers_mut().append(&name, value.clone());
        }
    }
    answer
}

/// The 412 for preconditions that do not hold.
pub fn precondition_failed() -> Problem {
    let what = "the conditions of the request (If-Match, If-None-Match or If-Unmodified-Since) do not hold for what is \
                there now; nothing was done";
    Problem::new("PRECONDITION_FAILED", StatusCode::PRECONDITION_FAILED, what)
}

#[cfg(test)]
mod tests;
