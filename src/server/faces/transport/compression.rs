//! Answers are compressed for whoever compresses too.
//!
//! Most client libraries say with every request that they can read gzip, whether or not anybody wants it, and to
//! compress the message of a call costs four times what the call costs. Who compresses its requests is understood to
//! want it.

use http::{HeaderName, Request};

const ENCODING: HeaderName = HeaderName::from_static("grpc-encoding");
const ACCEPTED: HeaderName = HeaderName::from_static("grpc-accept-encoding");

/// The request, without what it accepts unless it is compressed itself.
pub(super) fn as_asked<B>(mut request: Request<B>) -> Request<B> {
    let headers = request.headers_mut();
    if headers.get(ENCODING).is_none_or(|encoding| encoding == "identity") {
        headers.remove(ACCEPTED);
    }
    request
}
