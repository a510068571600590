//! The events of a stream over HTTP, each within a bound, and comments and other lines at a bounded rate.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use rmcp::transport::{common::client_side_sse::BoxedSseResponse, streamable_http_client::SseError};
use sse_stream::SseStream;

use super::{
    bounds::{MAX_ANSWER, MESSAGE_COST},
    tap::Shared,
};

/// Why a stream ended.
#[derive(Debug, thiserror::Error)]
enum Broken {
    #[error("an event is too long")]
    TooLong,
    #[error(transparent)]
    Network(#[from] reqwest::Error),
}

/// Follows the lines of a stream, without keeping them.
#[derive(Debug, Default)]
struct Lines {
    /// Bytes of the event so far, without comments.
    event: usize,
    /// Bytes of the line so far.
    line: usize,
    /// The beginning of the line.
    start: [u8; 5],
    /// Bytes of lines that hold no data, since they were taken last.
    thrown_away: usize,
}

impl Lines {
    /// Whether the event is within its bound.
    fn read(&mut self, bytes: &[u8]) -> bool {
        for &byte in bytes {
            if byte == b'\n' || byte == b'\r' {
                self.end_line();
            } else {
                if let Some(place) = self.start.get_mut(self.line) {
                    *place = byte;
                }
                self.line += 1;
            }
            let length = if self.is_comment() { self.line } else { self.event + self.line };
            if length > MAX_ANSWER {
                return false;
            }
        }
        true
    }

    fn is_comment(&self) -> bool {
        self.line > 0 && self.start[0] == b':'
    }

    fn end_line(&mut self) {
        let is_data = self.line >= self.start.len() && self.start == *b"data:";
        let is_comment = self.is_comment();
        self.event = match self.line {
            0 => 0,
            _ if is_comment => self.event,
            line => self.event + line + 1,
        };
        if !is_data {
            // Each costs work, however short it is.
            self.thrown_away += self.line + 1;
        }
        self.line = 0;
    }
}

/// The events of a body. One that is too long ends them ([`is_too_long`]).
pub(crate) fn events(response: reqwest::Response, shared: Arc<Shared>) -> BoxedSseResponse {
    SseStream::from_bytes_stream(metered(response, shared)).boxed()
}

pub(crate) fn is_too_long(error: &SseError) -> bool {
    let SseError::Body(error) = error else { return false };
    matches!(error.downcast_ref(), Some(Broken::TooLong))
}

fn metered(
    response: reqwest::Response,
    shared: Arc<Shared>,
) -> impl Stream<Item = Result<Bytes, Broken>> + Send + Sync + 'static {
    stream::try_unfold((response, Lines::default(), shared), |(mut response, mut lines, shared)| async move {
        shared.discarded.wait().await;
        let Some(bytes) = response.chunk().await? else { return Ok(None) };
        if !lines.read(&bytes) {
            return Err(Broken::TooLong);
        }
        let thrown_away = std::mem::take(&mut lines.thrown_away);
        if thrown_away > MESSAGE_COST {
            shared.discarded.spend(thrown_away);
        } else {
            lines.thrown_away = thrown_away;
        }
        Ok(Some((bytes, (response, lines, shared))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (bool, usize) {
        let mut lines = Lines::default();
        let is_within = lines.read(text.as_bytes());
        (is_within, lines.thrown_away)
    }

    #[test]
    fn lines_without_data_are_thrown_away() {
        assert_eq!(read("data: 12345\n\n"), (true, 1));
        assert_eq!(read(": 12345\n"), (true, 8));
        assert_eq!(read("id: 1\r\ndata: x\r\nevent: message\r\n\r\n"), (true, 6 + 1 + 1 + 15 + 1 + 2));
        assert_eq!(read("dat"), (true, 0));
    }

    #[test]
    fn an_event_is_bounded_and_comments_are_no_part_of_it() {
        let long = "x".repeat(MAX_ANSWER);
        assert!(!read(&format!("data: {long}")).0);
        assert!(!read(&long.repeat(2)).0);
        let half = &long[..MAX_ANSWER / 2];
        assert!(!read(&format!("data: {half}\ndata: {half}\n")).0);
        assert!(read(&format!("data: {half}\n\ndata: {half}\n: {half}\n\n")).0);
    }
}
