//! Percent-encodes the status message in headers exactly as the gRPC specification requires: printable ASCII except `%`
//! is not encoded.
//!
//! tonic encodes more characters, such as `?` and `#`, which some clients do not decode (grpc-js uses `decodeURI`) and
//! show as `%3F`.

use http::{HeaderMap, HeaderValue};
use percent_encoding::{AsciiSet, CONTROLS, percent_decode, percent_encode};
use tonic::Status;

/// The encoded ASCII characters; other characters are always encoded.
const ENCODED: &AsciiSet = &CONTROLS.add(b'%');

/// Re-encodes the message in `headers`, if there is one.
pub(super) fn encode(headers: &mut HeaderMap) {
    let Some(value) = headers.get_mut(Status::GRPC_MESSAGE) else { return };
    let text: Vec<u8> = percent_decode(value.as_bytes()).collect();
    let encoded = percent_encode(&text, ENCODED).to_string();
    if let Ok(encoded) = HeaderValue::from_str(&encoded) {
        *value = encoded;
    }
}

#[cfg(test)]
mod tests {
    use tonic::Code;

    use super::*;

    fn encoded(message: &str) -> (String, Status) {
        let mut headers = HeaderMap::new();
        Status::new(Code::NotFound, message).add_header(&mut headers).unwrap();
        encode(&mut headers);
        let text = headers[Status::GRPC_MESSAGE].to_str().unwrap().to_owned();
        (text, Status::from_header_map(&headers).unwrap())
    }

    #[test]
    fn printable_ascii_stands_as_it_is() {
        let message = "Unknown tool: a{b} <c> \"d\" #e. Did you mean f?";
        assert_eq!(encoded(message).0, message);
    }

    #[test]
    fn every_message_survives() {
        for message in ["100 %41", "line\nbreak \u{0}", "日本", "~ |"] {
            let (text, status) = encoded(message);
            assert_eq!(status.message(), message, "{text}");
        }
    }
}
