//! Responses are compressed only for clients that compress their requests.
//!
//! Most client libraries accept gzip by default, and compressing the message of a call is four times as expensive as
//! the call. A client that compresses its requests is assumed to want compressed responses.

use http::{HeaderName, Request};

const ENCODING: HeaderName = HeaderName::from_static("grpc-encoding");
const ACCEPTED: HeaderName = HeaderName::from_static("grpc-accept-encoding");

/// Removes the accepted encodings from a request that is not compressed itself.
pub(super) fn negotiate<B>(mut request: Request<B>) -> Request<B> {
    let headers = request.headers_mut();
    if headers.get(ENCODING).is_none_or(|encoding| encoding == "identity") {
        headers.remove(ACCEPTED);
    }
    request
}
