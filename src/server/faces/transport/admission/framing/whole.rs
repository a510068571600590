//! HTTP: the body is the message, unless it is read as a stream.

use http::{HeaderMap, header::CONTENT_LENGTH};
use tonic::Status;

use super::{Framing, Seen, Size};
use crate::faces::transport::{
    admission::{STEP, refused::too_large},
    rules::Messages,
};

/// Taking in a longer body may take longer than others should wait.
const LARGE: usize = 64 * 1024;

/// What the headers say of the body's length; chunked ones say nothing.
#[derive(Debug)]
pub(in crate::faces) struct Whole(Option<usize>);

impl Framing for Whole {
    fn of(headers: &HeaderMap) -> Self {
        // hyper holds the body to it.
        Self(headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok()))
    }

    fn take(&mut self, _: usize, _: &[u8]) {}

    fn length(&self, seen: Seen, most: usize) -> Option<usize> {
        if seen.ended { Some(seen.bytes) } else { Some(self.0.unwrap_or(most.min(STEP))) }
    }

    fn has_outgrown(&self, seen: Seen, taken: usize) -> bool {
        self.0.is_none() && seen.bytes > taken
    }

    fn size(&self, seen: Seen) -> Size {
        if seen.bytes > LARGE { Size::Large } else { Size::Small }
    }

    fn completion(&self, seen: Seen, messages: Messages, most: usize) -> Result<Option<()>, Box<Status>> {
        if messages == Messages::Many {
            return Ok(Some(()));
        }
        let length = self.0.unwrap_or_default().max(seen.bytes);
        if length > most {
            return Err(Box::new(too_large(length, most)));
        }
        Ok(seen.ended.then_some(()))
    }
}
