//! Refusals: a gRPC status with `google.rpc` details, as a trailers-only response or as trailers.
//!
//! Every non-OK status carries exactly one `ErrorInfo`: a stable `UPPER_SNAKE` reason in the domain [`DOMAIN`].

use std::collections::HashMap;

use http::{HeaderMap, Response};
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

/// Domain of every `google.rpc.ErrorInfo` of this server.
pub const DOMAIN: &str = "toolwire";

/// A status with `ErrorInfo { reason, domain }` beside the other `details`.
pub fn status(code: Code, reason: &str, message: &str, mut details: ErrorDetails) -> Status {
    details.set_error_info(reason, DOMAIN, HashMap::new());
    Status::with_error_details(code, message, details)
}

/// A status with `ErrorInfo { reason, domain }` and no other detail.
pub fn plain(code: Code, reason: &str, message: &str) -> Status {
    status(code, reason, message, ErrorDetails::new())
}

/// The trailers-only response that says `status`: HTTP 200, one header block, no body.
pub fn response<B: Default>(status: Status) -> Response<B> {
    status.into_http()
}

/// The trailers that end a stream with `status`.
pub fn trailers(status: &Status) -> HeaderMap {
    let mut trailers = HeaderMap::new();
    status
        .add_header(&mut trailers)
        .expect("a percent-encoded message and base64 details are valid header values");
    trailers
}

/// The gRPC name of `code`: `DEADLINE_EXCEEDED`.
pub const fn name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}

/// The code in `headers` or trailers, when they hold a `grpc-status`.
pub(super) fn code_in(headers: &HeaderMap) -> Option<Code> {
    headers.get(Status::GRPC_STATUS).map(|value| Code::from_bytes(value.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_carries_one_error_info() {
        let status = plain(Code::Unavailable, "OVERLOADED", "too many requests");
        let details = status.get_error_details_vec();
        assert_eq!(details.len(), 1);
        let info = status.get_details_error_info().unwrap();
        assert_eq!((info.reason.as_str(), info.domain.as_str()), ("OVERLOADED", DOMAIN));
    }

    #[test]
    fn a_response_is_trailers_only() {
        let response: Response<tonic::body::Body> = response(plain(Code::Aborted, "X", "grüße"));
        assert_eq!(response.status(), http::StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "application/grpc");
        assert_eq!(code_in(response.headers()), Some(Code::Aborted));
        assert!(http_body::Body::is_end_stream(response.body()));
    }

    #[test]
    fn trailers_survive_any_message() {
        let status = plain(Code::Internal, "X", "line\nbreak \u{0} 日本 %41");
        let read = Status::from_header_map(&trailers(&status)).unwrap();
        assert_eq!(read.message(), status.message());
    }

    #[test]
    fn every_code_has_its_grpc_name() {
        for number in 0..=16 {
            let code = Code::from_i32(number);
            let letters: String = name(code).chars().filter(|c| *c != '_').collect();
            assert_eq!(letters.to_lowercase(), format!("{code:?}").to_lowercase());
        }
    }
}
