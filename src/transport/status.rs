//! Normalises every non-OK status to the server's form, whether it comes from tonic, a service or a layer.
//!
//! tonic answers a message over the size limit with `OUT_OF_RANGE` instead of the specified `RESOURCE_EXHAUSTED`, and a
//! message that it cannot decode with `INTERNAL`, which here always means a fault of the server. A status without
//! details gets an `ErrorInfo`. A long message is cut, because clients limit the size of trailers and report an error
//! of their own if it is exceeded. OK passes unchanged.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use http::{HeaderMap, Response};
use http_body::{Body as HttpBody, SizeHint};
use pin_project_lite::pin_project;
use tonic::{Code, Status};
use tonic_types::StatusExt;

use super::{message, polled_frame::PolledFrame, refusal};
use toolwire_contract::status;

/// Prefixes of tonic's errors about a message over the size limit.
const TOO_LARGE: [&str; 2] = ["Error, decoded message length too large", "Error decompressing: size limit"];

/// Prefixes of tonic's errors about a message that it cannot decode. If that is a response, to a client in this
/// process, the error also contains [`OF_RESPONSE`].
const UNREADABLE: [&str; 5] = [
    "protocol error: received message with",
    "Error decompressing: ",
    "Unexpected EOF decoding stream",
    "Missing request message",
    "failed to decode Protobuf message",
];
const OF_RESPONSE: &str = "while receiving response";
/// Prefix of tonic's error about a request with an unknown encoding.
const UNSUPPORTED: &str = "Content is compressed with";

/// Normalises the status in the headers, and in the trailers when they come.
pub(super) fn normalise<B>(mut response: Response<B>) -> Response<Body<B>> {
    normalise_headers(response.headers_mut());
    response.map(|inner| Body { inner })
}

pin_project! {
    /// The inner body with normalised trailers.
    #[derive(Debug, Default)]
    pub(super) struct Body<B> {
        #[pin]
        inner: B,
    }
}

impl<B: HttpBody> HttpBody for Body<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> PolledFrame<Self> {
        let mut frame = ready!(self.project().inner.poll_frame(cx));
        if let Some(Ok(frame)) = &mut frame
            && let Some(trailers) = frame.trailers_mut()
        {
            normalise_headers(trailers);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// Rewrites the status in `headers` unless it is OK or normalised already.
fn normalise_headers(headers: &mut HeaderMap) {
    if matches!(refusal::code_in(headers), None | Some(Code::Ok)) {
        return;
    }
    let Some(status) = Status::from_header_map(headers) else { return };
    if let Some(status) = normalise_status(&status) {
        headers.extend(refusal::trailers(&status));
    }
    message::encode(headers);
}

/// Normalises a status; `None` if it is already.
fn normalise_status(status: &Status) -> Option<Status> {
    let message = status::cut(status.message());
    if status.details().is_empty() {
        let (code, reason) = meaning(status);
        return Some(status::plain(code, reason, message));
    }
    if message.len() == status.message().len() {
        return None;
    }
    // Rebuilt with details, since the encoded details contain the message a second time.
    let details = status.get_error_details_vec();
    Some(Status::with_error_details_vec(status.code(), message, details))
}

fn meaning(status: &Status) -> (Code, &'static str) {
    let message = status.message();
    let begins = |beginnings: &[&str]| beginnings.iter().any(|beginning| message.starts_with(beginning));
    let too_large = begins(&TOO_LARGE);
    match status.code() {
        Code::Internal if begins(&UNREADABLE) && !message.contains(OF_RESPONSE) => {
            (Code::InvalidArgument, "MALFORMED_REQUEST")
        }
        Code::Unimplemented if begins(&[UNSUPPORTED]) => (Code::Unimplemented, "UNSUPPORTED_ENCODING"),
        Code::OutOfRange | Code::ResourceExhausted if too_large => {
            (Code::ResourceExhausted, "MESSAGE_TOO_LARGE")
        }
        code => (code, status::name(code)),
    }
}

#[cfg(test)]
mod tests {
    use tonic_types::ErrorDetails;

    use super::*;

    #[test]
    fn ok_is_left_alone() {
        let mut headers = HeaderMap::from_iter([(Status::GRPC_STATUS, "0".parse().unwrap())]);
        let before = headers.clone();
        normalise_headers(&mut headers);
        assert_eq!(headers, before);
    }

    #[test]
    fn a_bare_status_gets_one_error_info() {
        let status = normalised(&Status::not_found("no such service"));
        assert_eq!((status.code(), status.message()), (Code::NotFound, "no such service"));
        assert_eq!(status.get_error_details_vec().len(), 1);
        assert_eq!(status.get_details_error_info().unwrap().reason, "NOT_FOUND");
    }

    #[test]
    fn details_of_a_service_are_kept() {
        let details = ErrorDetails::with_error_info("MINE", "toolwire", std::collections::HashMap::new());
        let status = normalised(&Status::with_error_details(Code::NotFound, "x", details));
        assert_eq!(status.get_details_error_info().unwrap().reason, "MINE");
    }

    #[test]
    fn metadata_is_kept() {
        let mut bare = Status::unavailable("x");
        bare.metadata_mut().insert("grpc-retry-pushback-ms", "7".parse().unwrap());
        assert_eq!(normalised(&bare).metadata().get("grpc-retry-pushback-ms").unwrap(), "7");
    }

    #[test]
    fn a_message_over_the_size_limit_is_resource_exhausted() {
        let tonics = "Error, decoded message length too large: found 9 bytes, the limit is: 4 bytes";
        let status = normalised(&Status::out_of_range(tonics));
        assert_eq!(status.code(), Code::ResourceExhausted);
        assert_eq!(status.get_details_error_info().unwrap().reason, "MESSAGE_TOO_LARGE");
        assert_eq!(normalised(&Status::out_of_range("page 9 of 4")).code(), Code::OutOfRange);
    }

    #[test]
    fn a_request_that_cannot_be_read_is_its_callers_fault() {
        for beginning in UNREADABLE {
            let status = normalised(&Status::internal(format!("{beginning} x")));
            assert_eq!(status.code(), Code::InvalidArgument, "{beginning}");
            assert_eq!(status.get_details_error_info().unwrap().reason, "MALFORMED_REQUEST");
            let response =
                Status::internal(format!("{beginning} x, while receiving response with status: 200 OK"));
            assert_eq!(normalised(&response).code(), Code::Internal, "{beginning}");
        }
        assert_eq!(normalised(&Status::internal("a bug")).code(), Code::Internal);
    }

    #[test]
    fn a_long_message_is_cut_between_characters() {
        let long = "日".repeat(7_000);
        let details = ErrorDetails::with_error_info("MINE", "toolwire", std::collections::HashMap::new());
        for status in [Status::internal(&long), Status::with_error_details(Code::Internal, &long, details)] {
            let status = normalised(&status);
            assert_eq!(status.message().len(), 1_023);
            assert!(status.details().len() < 1_200, "{} bytes of details", status.details().len());
            assert!(status.get_details_error_info().is_some());
        }
    }

    fn normalised(status: &Status) -> Status {
        let mut headers = refusal::trailers(status);
        normalise_headers(&mut headers);
        Status::from_header_map(&headers).unwrap()
    }
}
