//! Encodes a status as a trailers-only response, or as the trailers that end a stream.
//!
//! Not here: building statuses (`toolwire_contract::status`).

use http::{HeaderMap, Response};
use tonic::{Code, Status};

/// The trailers-only response with `status`: HTTP 200, one header block, no body.
pub(super) fn response<B: Default>(status: Status) -> Response<B> {
    status.into_http()
}

/// The trailers that end a stream with `status`.
pub(super) fn trailers(status: &Status) -> HeaderMap {
    let mut trailers = HeaderMap::new();
    status
        .add_header(&mut trailers)
        .expect("a percent-encoded message and base64 details are valid header values");
    trailers
}

/// The code in headers or trailers; `None` without a `grpc-status`.
pub(super) fn code_in(headers: &HeaderMap) -> Option<Code> {
    headers.get(Status::GRPC_STATUS).map(|value| Code::from_bytes(value.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolwire_contract::status::plain;

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
}
