//! Send: one attempt, bounded in time and size, and the judgement of what came that holds for every source.
//!
//! Redirects are never followed here: a connector that expects one accepts its status and asks again, so that each
//! request takes its own permit and each address is checked.

use std::time::Duration;

use bytes::BytesMut;
use http::{HeaderMap, StatusCode, header};
use rustls::crypto::ring;
use tokio::{select, time::timeout_at};

use super::{Answer, Due, Failure, FailureKind, Outgoing};
use crate::{clock, context::ToolContext};

/// How long a connection may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Sends requests. Cloning it makes another handle of the same connections.
#[derive(Clone, Debug)]
pub struct Sender(reqwest::Client);

/// The connections cannot be set up.
#[derive(Debug, thiserror::Error)]
#[error("upstream TLS: {0}")]
pub struct TlsError(String);

/// What bounds one attempt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) timeout: Duration,
    pub(super) max_body: usize,
    pub(super) judge: fn(&Answer) -> Option<Failure>,
}

impl Sender {
    /// Connections that verify certificates by the system's roots, send no cookies and follow no redirects.
    pub fn new() -> Result<Self, TlsError> {
        // Somebody else may have installed it: any will do.
        let _ = ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .connect_timeout(CONNECT_TIMEOUT)
            .build()
            .map_err(|error| TlsError(error.to_string()))?;
        Ok(Self(client))
    }

    /// One attempt. Ends when its time or the call's is up, or the call is cancelled; the connection is then dropped.
    pub(super) async fn send(
        &self,
        outgoing: &Outgoing,
        bounds: Bounds,
        context: &ToolContext,
    ) -> Result<Answer, Failure> {
        let own = clock::now() + outgoing.timeout.unwrap_or(bounds.timeout);
        let is_own = own < context.deadline;
        let answer = select! {
            biased;
            () = context.cancellation.cancelled() => return Err(Failure::new(FailureKind::Cancelled, "cancelled")),
            answer = timeout_at(own.min(context.deadline), self.attempt(outgoing, bounds.max_body)) => answer,
        };
        match answer {
            Ok(answer) => {
                let answer = answer?;
                // What only this source's answers say goes before what holds for every source.
                (bounds.judge)(&answer).map_or_else(|| judge(outgoing, answer), Err)
            }
            Err(_) if is_own => Err(Failure::new(FailureKind::TimedOut, "the attempt took too long")),
            Err(_) => Err(Failure::new(FailureKind::OutOfTime, "the call's deadline passed")),
        }
    }

    async fn attempt(&self, outgoing: &Outgoing, max_body: usize) -> Result<Answer, Failure> {
        let Outgoing { method, url, headers, body, .. } = outgoing.clone();
        let request = self.0.request(method, url.clone()).headers(headers).body(body);
        let mut response = request.send().await.map_err(|error| of_error(&error))?;
        let (status, headers) = (response.status(), response.headers().clone());
        let mut body = BytesMut::new();
        // Decompressed bytes are counted as they come, so that a bomb is never unpacked.
        while let Some(chunk) = response.chunk().await.map_err(|error| of_error(&error))? {
            if body.len() + chunk.len() > max_body {
                return Err(Failure::malformed(format!("an answer of more than {max_body} bytes")));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Answer { status, headers, body: body.freeze(), url })
    }
}

/// An error's chain without the address, which may hold a secret.
fn of_error(error: &reqwest::Error) -> Failure {
    let mut words = Vec::new();
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        words.push(inner.to_string());
        source = inner.source();
    }
    let kind = if error.is_decode() { FailureKind::Malformed } else { FailureKind::Unreachable };
    Failure::new(kind, words.join(": "))
}

/// What holds for every source. Never trusts a 200: the body is looked at first.
fn judge(outgoing: &Outgoing, answer: Answer) -> Result<Answer, Failure> {
    let status = answer.status;
    if outgoing.accepted.contains(&status) {
        return Ok(answer);
    }
    if status == StatusCode::TOO_MANY_REQUESTS || says_too_many(&answer) {
        let failure = Failure::new(FailureKind::RateLimited, format!("HTTP {status}"));
        return Err(failure.with_retry_after(retry_after(&answer.headers)));
    }
    let kind = match status.as_u16() {
        200..=299 if is_unexpected_page(outgoing.due, &answer) => FailureKind::Blocked,
        200..=299 => return Ok(answer),
        401 => FailureKind::AuthFailed,
        403 | 451 => FailureKind::Blocked,
        404 | 410 => FailureKind::NotFound,
        408 => FailureKind::TimedOut,
        500..=599 => FailureKind::Down,
        _ => FailureKind::Malformed,
    };
    Err(Failure::new(
        kind,
        format!("HTTP {status}, {} bytes of {:?}", answer.body.len(), answer.media_type()),
    ))
}

fn is_unexpected_page(due: Due, answer: &Answer) -> bool {
    matches!(due, Due::Json | Due::Xml | Due::Text) && answer.is_html()
}

fn says_too_many(answer: &Answer) -> bool {
    let head = &answer.body[..answer.body.len().min(256)];
    let head = String::from_utf8_lossy(head);
    answer.body.len() < 4096 && head.to_lowercase().contains("too many requests")
}

/// `Retry-After` in seconds. The form with a date is not used by the sources.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}
