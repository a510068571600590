//! HTTP framing: the whole body is the message, unless it is read as a stream.

use http::{HeaderMap, header::CONTENT_LENGTH};
use tonic::Status;

use super::{Framing, Progress, Size};
use crate::{
    admission::{STEP, refusals::too_large},
    rules::Messages,
};

/// Longer bodies are expensive to decode.
const LARGE: usize = 64 * 1024;

/// The `Content-Length`; `None` for a chunked body.
#[derive(Debug)]
pub(crate) struct Whole(Option<usize>);

impl Framing for Whole {
    fn of(headers: &HeaderMap) -> Self {
        // hyper enforces it.
        Self(headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok()))
    }

    fn push(&mut self, _: usize, _: &[u8]) {}

    fn length(&self, progress: Progress, most: usize) -> Option<usize> {
        if progress.ended { Some(progress.bytes) } else { Some(self.0.unwrap_or(most.min(STEP))) }
    }

    fn has_outgrown(&self, progress: Progress, taken: usize) -> bool {
        self.0.is_none() && progress.bytes > taken
    }

    fn size(&self, progress: Progress) -> Size {
        if progress.bytes > LARGE { Size::Large } else { Size::Small }
    }

    fn completion(
        &self,
        progress: Progress,
        messages: Messages,
        most: usize,
    ) -> Result<Option<()>, Box<Status>> {
        if messages == Messages::Many {
            return Ok(Some(()));
        }
        let length = self.0.unwrap_or_default().max(progress.bytes);
        if length > most {
            return Err(Box::new(too_large(length, most)));
        }
        Ok(progress.ended.then_some(()))
    }
}
