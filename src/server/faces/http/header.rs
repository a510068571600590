//! Reads a header that a request may send once.

use http::{HeaderMap, HeaderName};

use crate::service::request::refuse;
use toolwire_contract::Refusal;

/// The text of a header, which refusals name as it is `written`. A malformed value is refused, not taken for absent,
/// and so is one that is sent twice.
pub(in crate::faces) fn text<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
    written: &str,
) -> Result<Option<&'a str>, Refusal> {
    let malformed = || refuse(written, "format", "must be visible ASCII characters, sent once");
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(|it| Some(it.trim())).map_err(|_| malformed()),
        (Some(_), Some(_)) => Err(malformed()),
    }
}
