//! Where in the body of a request a message ends.

use http::HeaderMap;
use tonic::Status;

pub(in crate::faces) use self::{grpc::Grpc, whole::Whole};
use crate::faces::transport::rules::Messages;

mod grpc;
mod whole;

/// Whether taking a message in is much work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::faces) enum Size {
    Small,
    Large,
}

/// How much of a body has come.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::faces) struct Seen {
    pub(super) bytes: usize,
    pub(super) ended: bool,
}

/// What is known of the first message of a body.
pub(in crate::faces) trait Framing: Send + 'static {
    fn of(headers: &HeaderMap) -> Self;

    /// Some bytes come, after so many.
    fn take(&mut self, before: usize, data: &[u8]);

    /// The length of the message, or what is taken for one of unknown length at first.
    fn length(&self, seen: Seen, most: usize) -> Option<usize>;

    /// Whether a message of unknown length is longer than so many bytes.
    fn has_outgrown(&self, seen: Seen, taken: usize) -> bool;

    /// Of which size it is, once it is complete.
    fn size(&self, seen: Seen) -> Size;

    /// Something once it is complete, and if there is to be one only, the body has ended with it. A message of more
    /// than `most` bytes is refused.
    fn completion(&self, seen: Seen, messages: Messages, most: usize) -> Result<Option<()>, Box<Status>>;
}
