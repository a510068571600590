//! gRPC: five bytes before each message say whether it is compressed, and its length.

use http::HeaderMap;
use tonic::Status;

use super::{Framing, Seen, Size};
use crate::faces::transport::{
    admission::refused::{malformed, too_large},
    grpc_frame::{self, HEAD},
    rules::Messages,
};

/// Taking in a longer message may take longer than others should wait.
const LARGE: usize = 64 * 1024;
/// The same of one that is compressed: gzip shrinks at most a thousandfold.
const LARGE_COMPRESSED: usize = 64;

/// The first bytes of a body.
#[derive(Debug)]
pub(in crate::faces) struct Grpc([u8; HEAD]);

impl Grpc {
    /// The length of the first message, once it is known.
    fn declared(&self, seen: Seen) -> Option<usize> {
        let (_, length) = grpc_frame::head(&self.0)?;
        (seen.bytes >= HEAD).then_some(length)
    }
}

impl Framing for Grpc {
    fn of(_: &HeaderMap) -> Self {
        Self([0; HEAD])
    }

    fn take(&mut self, before: usize, data: &[u8]) {
        if before < HEAD {
            let missing = &mut self.0[before..];
            let length = missing.len().min(data.len());
            missing[..length].copy_from_slice(&data[..length]);
        }
    }

    fn length(&self, seen: Seen, _: usize) -> Option<usize> {
        self.declared(seen).or(seen.ended.then_some(0))
    }

    fn has_outgrown(&self, _: Seen, _: usize) -> bool {
        false
    }

    fn size(&self, seen: Seen) -> Size {
        let most = if self.0[0] == 0 { LARGE } else { LARGE_COMPRESSED };
        if self.declared(seen).is_some_and(|length| length > most) { Size::Large } else { Size::Small }
    }

    fn completion(&self, seen: Seen, messages: Messages, most: usize) -> Result<Option<()>, Box<Status>> {
        let refuse = |status| Err(Box::new(status));
        // First: what follows another flag is no length.
        if seen.bytes > 0 && self.0[0] > 1 {
            let what =
                "a message begins with 0, or with 1 if it is compressed; this one begins with another byte";
            return refuse(malformed(what));
        }
        let Some(length) = self.declared(seen) else {
            return match (seen.ended, messages) {
                (false, _) => Ok(None),
                (true, Messages::Many) => Ok(Some(())),
                (true, Messages::One) => {
                    refuse(malformed("a request of this method is one message; there is none"))
                }
            };
        };
        if length > most {
            return refuse(too_large(length, most));
        }
        let whole = seen.bytes.cmp(&(HEAD + length));
        match (messages, whole.is_lt(), whole.is_gt()) {
            (_, true, _) if seen.ended => refuse(malformed("the request ends within its message")),
            (_, true, _) => Ok(None),
            (Messages::One, _, true) => {
                refuse(malformed("a request of this method is one message; there is more than one"))
            }
            (Messages::One, ..) => Ok(seen.ended.then_some(())),
            (Messages::Many, ..) => Ok(Some(())),
        }
    }
}
