//! Send: one attempt, bounded in time and size, and cut the moment its call is cancelled.
//!
//! No `traceparent` goes out: our trace ids mean nothing to third parties, and would let them join up what one user
//! asks.

#[cfg(test)]
mod tests;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, header};
use tokio::{select, time::timeout_at};
use tracing::{Instrument, Span, field::Empty, info_span};
use url::Url;

use super::{
    Answer, Failure, FailureKind, Outgoing, Profile, Sender,
    check::check,
    in_process::{self, too_long},
    network_error, record,
    request::Request,
    sender::{MAX_HEADERS, Route},
};
use toolwire_base::{clock, offload};
use toolwire_telemetry::attribute;

/// The service at the bottom of the stack: sends requests to one source.
#[derive(Clone, Debug)]
pub(super) struct Send {
    sender: Sender,
    profile: Profile,
}

impl Send {
    /// Requests to a source over the given connections.
    pub(super) fn new(sender: Sender, profile: Profile) -> Self {
        Self { sender, profile }
    }

    /// Sends a request once.
    pub(super) async fn attempt(self, request: Request) -> Result<Answer, Failure> {
        let span = span(&self.profile, &request.outgoing);
        let began = clock::now();
        let end = self.exchange_within(&request).instrument(span.clone()).await;
        record_on_span(&span, &end);
        record::request_ended(self.profile.name, &end, clock::now() - began);
        end
    }

    /// Exchanges a request for a checked answer, within the time of the attempt and of the call. At the end of either,
    /// or when the call is cancelled, the connection is dropped.
    async fn exchange_within(&self, request: &Request) -> Result<Answer, Failure> {
        let Request { outgoing, context, attempts } = request;
        if context.cancellation.is_cancelled() {
            return Err(Failure::cancelled());
        }
        let attempt_ends = clock::now() + outgoing.timeout.unwrap_or(self.profile.timeout);
        let ends_before_call = attempt_ends < context.deadline.at();
        // Before the exchange: a request that is cut may have reached the source.
        attempts.count();
        context.note_request();
        let answer = select! {
            biased;
            () = context.cancellation.cancelled() => return Err(Failure::cancelled()),
            answer = timeout_at(attempt_ends.min(context.deadline.at()), self.exchange(outgoing)) => answer,
        };
        match answer {
            Ok(answer) => self.check(outgoing, answer?).await,
            Err(_) if ends_before_call => {
                Err(Failure::new(FailureKind::TimedOut, "the attempt took too long"))
            }
            Err(_) => Err(Failure::new(FailureKind::OutOfTime, "the call's deadline passed")),
        }
    }

    /// Checks an answer. A profile's check may read a whole page, hence off the threads that carry calls if it is
    /// large.
    async fn check(&self, outgoing: &Outgoing, answer: Answer) -> Result<Answer, Failure> {
        let (profile, outgoing) = (self.profile, outgoing.clone());
        offload::if_large(answer.body.len(), move || check(&profile, &outgoing, answer)).await
    }

    async fn exchange(&self, outgoing: &Outgoing) -> Result<Answer, Failure> {
        let mut outgoing = outgoing.clone();
        if let Some(user_agent) = self.sender.user_agent() {
            outgoing.headers.entry(header::USER_AGENT).or_insert_with(|| user_agent.clone());
        }
        let url = outgoing.url.clone();
        let response = match self.sender.route(&url)? {
            Route::InProcess(service) => in_process::ask(service, outgoing, self.profile.max_body).await?,
            Route::Network(client) => send_over_network(client, outgoing).await?,
        };
        let (status, headers) = (response.status(), response.headers().clone());
        Span::current().record(attribute::HTTP_RESPONSE_STATUS_CODE, i64::from(status.as_u16()));
        // Before the body, so that none is read of an answer that is refused.
        check_headers(&headers)?;
        let body = read(response, self.profile.max_body).await?;
        Ok(Answer { status, headers, body, url })
    }
}

async fn send_over_network(
    client: &reqwest::Client,
    outgoing: Outgoing,
) -> Result<reqwest::Response, Failure> {
    let Outgoing { method, url, headers, body, .. } = outgoing;
    let request = client.request(method, url).headers(headers).body(body);
    request.send().await.map_err(|error| network_error::failure(&error))
}

fn check_headers(headers: &HeaderMap) -> Result<(), Failure> {
    let size: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if size > MAX_HEADERS as usize {
        return Err(Failure::malformed(format!("an answer with {size} bytes of headers")));
    }
    Ok(())
}

/// Reads a body. The decompressed bytes are counted as they come, so that a decompression bomb is never unpacked.
async fn read(mut response: reqwest::Response, max: usize) -> Result<Bytes, Failure> {
    if response.content_length().is_some_and(|length| length > max as u64) {
        return Err(too_long(max));
    }
    let mut body = BytesMut::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| network_error::failure(&error))? {
        if body.len() + chunk.len() > max {
            return Err(too_long(max));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

/// The span of one attempt, by the semantic conventions for HTTP clients. Never the values of the query, which may tell
/// what a user asks and hold a token.
fn span(profile: &Profile, outgoing: &Outgoing) -> Span {
    info_span!(
        "upstream",
        { attribute::OTEL_NAME } = outgoing.method.as_str(),
        { attribute::OTEL_KIND } = attribute::CLIENT,
        { attribute::OTEL_STATUS_CODE } = Empty,
        { attribute::SOURCE_NAME } = profile.name,
        { attribute::HTTP_REQUEST_METHOD } = outgoing.method.as_str(),
        { attribute::SERVER_ADDRESS } = outgoing.url.host_str(),
        { attribute::SERVER_PORT } = outgoing.url.port_or_known_default().map(i64::from),
        { attribute::URL_FULL } = full_url(&outgoing.url),
        { attribute::HTTP_RESPONSE_STATUS_CODE } = Empty,
        { attribute::ERROR_TYPE } = Empty,
    )
}

/// A URL without credentials, and with its query redacted.
fn full_url(url: &Url) -> String {
    let mut url = url.clone();
    // Fail for a URL without a host, which has no credentials either.
    let _ = (url.set_username(""), url.set_password(None));
    if url.query().is_some() {
        url.set_query(Some("REDACTED"));
    }
    url.into()
}

/// A status of 400 or more is an error of a client's span, also where the source's caller makes an answer of it.
fn record_on_span(span: &Span, end: &Result<Answer, Failure>) {
    match end {
        Err(failure) => span.record(attribute::ERROR_TYPE, failure.kind.into_str()),
        Ok(answer) if answer.status.as_u16() >= 400 => {
            span.record(attribute::ERROR_TYPE, answer.status.as_str())
        }
        Ok(_) => return,
    };
    span.record(attribute::OTEL_STATUS_CODE, attribute::ERROR);
}
