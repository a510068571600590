//! Bounds on the lines of a process: their length, and their nesting where they are JSON.
//!
//! rmcp drops a line that it cannot hold or parse, so that its call would wait for its deadline; here the reader fails,
//! and the connection with it. What a process prints that is no JSON passes, to be dropped.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, ReadBuf};

use super::bounds::{MAX_ANSWER, MAX_LEVELS};

#[derive(Debug)]
pub(crate) struct LineBounds<R> {
    inner: R,
    line: Line,
}

/// The line that is being read.
#[derive(Debug, Default)]
struct Line {
    length: usize,
    /// `None` while there is white space only.
    is_json: Option<bool>,
    is_in_text: bool,
    is_escaped: bool,
    levels: usize,
}

impl<R> LineBounds<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self { inner, line: Line::default() }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for LineBounds<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        let taken = self.line.take(&buffer.filled()[before..]);
        if taken.is_err() {
            // A reader that fails has read nothing.
            buffer.set_filled(before);
        }
        Poll::Ready(taken)
    }
}

impl Line {
    fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        for &byte in bytes {
            if byte == b'\n' {
                *self = Self::default();
                continue;
            }
            if self.is_json.is_none() && !byte.is_ascii_whitespace() {
                self.is_json = Some(byte == b'{');
            }
            self.length += 1;
            if self.is_json == Some(true) {
                self.nest(byte);
            }
            if self.length > MAX_ANSWER {
                return Err(refuse(&format!("a message has at most {MAX_ANSWER} bytes")));
            }
            if self.levels > MAX_LEVELS {
                return Err(refuse(&format!("a message has at most {MAX_LEVELS} levels")));
            }
        }
        Ok(())
    }

    fn nest(&mut self, byte: u8) {
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' if self.is_in_text => self.is_escaped = true,
            b'"' => self.is_in_text = !self.is_in_text,
            b'{' | b'[' if !self.is_in_text => self.levels += 1,
            b'}' | b']' if !self.is_in_text => self.levels = self.levels.saturating_sub(1),
            _ => {}
        }
    }
}

fn refuse(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    async fn read(bytes: &[u8]) -> io::Result<usize> {
        LineBounds::new(bytes).read_to_end(&mut Vec::new()).await
    }

    #[tokio::test]
    async fn a_line_is_bounded_in_length_and_depth() {
        let deep = "[".repeat(MAX_LEVELS);
        for space in ["", " ", "\t"] {
            assert!(read(format!("{space}{{\"a\":{deep}\n").as_bytes()).await.is_err(), "{space:?}");
        }
        assert!(read(format!("{{\"a\":\"\\\"{deep}{deep}\"}}\n").as_bytes()).await.is_ok(), "within a text");
        assert!(read(format!("log {deep}{deep}\n").as_bytes()).await.is_ok(), "no JSON");
        assert!(read(format!("{{}}\n{}", "x".repeat(MAX_ANSWER)).as_bytes()).await.is_ok());
        assert!(read("x".repeat(MAX_ANSWER + 1).as_bytes()).await.is_err());
    }
}
