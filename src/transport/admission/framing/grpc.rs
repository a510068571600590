//! gRPC framing: a prefix of five bytes with a compressed flag and the length.

use http::HeaderMap;
use tonic::Status;

use super::{Framing, Progress, Size};
use crate::{
    admission::refusals::{malformed, too_large},
    grpc_frame::{self, HEAD},
    rules::Messages,
};

/// Longer messages are expensive to decode.
const LARGE: usize = 64 * 1024;
/// Longer compressed messages are expensive to decode: gzip compresses up to a thousandfold.
const LARGE_COMPRESSED: usize = 64;

/// The first bytes of a body.
#[derive(Debug)]
pub(crate) struct Grpc([u8; HEAD]);

impl Grpc {
    /// The length of the first message, once its prefix has arrived.
    fn declared(&self, progress: Progress) -> Option<usize> {
        let (_, length) = grpc_frame::head(&self.0)?;
        (progress.bytes >= HEAD).then_some(length)
    }
}

impl Framing for Grpc {
    fn of(_: &HeaderMap) -> Self {
        Self([0; HEAD])
    }

    fn push(&mut self, before: usize, data: &[u8]) {
        if before < HEAD {
            let missing = &mut self.0[before..];
            let length = missing.len().min(data.len());
            missing[..length].copy_from_slice(&data[..length]);
        }
    }

    fn length(&self, progress: Progress, _: usize) -> Option<usize> {
        self.declared(progress).or(progress.ended.then_some(0))
    }

    fn has_outgrown(&self, _: Progress, _: usize) -> bool {
        false
    }

    fn size(&self, progress: Progress) -> Size {
        let most = if self.0[0] == 0 { LARGE } else { LARGE_COMPRESSED };
        if self.declared(progress).is_some_and(|length| length > most) { Size::Large } else { Size::Small }
    }

    fn completion(
        &self,
        progress: Progress,
        messages: Messages,
        most: usize,
    ) -> Result<Option<()>, Box<Status>> {
        let refuse = |status| Err(Box::new(status));
        // Checked first: with an invalid flag, the next bytes are not a length.
        if progress.bytes > 0 && self.0[0] > 1 {
            let what =
                "a message begins with 0, or with 1 if it is compressed; this one begins with another byte";
            return refuse(malformed(what));
        }
        let Some(length) = self.declared(progress) else {
            return match (progress.ended, messages) {
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
        let whole = progress.bytes.cmp(&(HEAD + length));
        match (messages, whole.is_lt(), whole.is_gt()) {
            (_, true, _) if progress.ended => refuse(malformed("the request ends within its message")),
            (_, true, _) => Ok(None),
            (Messages::One, _, true) => {
                refuse(malformed("a request of this method is one message; there is more than one"))
            }
            (Messages::One, ..) => Ok(progress.ended.then_some(())),
            (Messages::Many, ..) => Ok(Some(())),
        }
    }
}
