//! Message framing: where a message ends in the body of a request.

use http::HeaderMap;
use tonic::Status;

pub(crate) use self::{grpc::Grpc, whole::Whole};
use crate::rules::Messages;

mod grpc;
mod whole;

/// Whether decoding a message is expensive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    Small,
    Large,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Progress {
    pub(super) bytes: usize,
    pub(super) ended: bool,
}

/// The framing of the first message of a body.
pub(crate) trait Framing: Send + 'static {
    fn of(headers: &HeaderMap) -> Self;

    /// Observes data that arrives after `before` bytes.
    fn push(&mut self, before: usize, data: &[u8]);

    /// The length of the message, or the initial permit for one of unknown length. `None` until it is known.
    fn length(&self, progress: Progress, most: usize) -> Option<usize>;

    /// Whether a message of unknown length is longer than `taken` bytes.
    fn has_outgrown(&self, progress: Progress, taken: usize) -> bool;

    /// The size of a complete message.
    fn size(&self, progress: Progress) -> Size;

    /// `Some` once the message is complete and, for a method with a single message, the body has ended. A message of
    /// more than `most` bytes is refused.
    fn completion(
        &self,
        progress: Progress,
        messages: Messages,
        most: usize,
    ) -> Result<Option<()>, Box<Status>>;
}
