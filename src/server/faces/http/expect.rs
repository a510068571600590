//! What a request expects of this server before it sends its body (RFC 9110 §10.1.1).

use http::{HeaderMap, header::EXPECT};

/// Whether a request expects nothing but `100-continue`, which hyper answers when the body is read.
pub(in crate::faces) fn can_be_met(headers: &HeaderMap) -> bool {
    headers.get_all(EXPECT).iter().all(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"))
}
