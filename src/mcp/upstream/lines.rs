//! The messages of a process, one a line. What it prints that is no message is dropped, at a bounded rate.

use std::{collections::VecDeque, io, mem::take, panic::resume_unwind, sync::Arc};

use bytes::Bytes;
use rmcp::{
    RoleClient,
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::Transport,
};
use serde_json::value::RawValue;
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader},
    spawn,
    sync::Mutex,
    task::JoinHandle,
};

use super::{
    bounds::{MAX_ANSWER, MAX_LINE},
    reading,
    tap::Shared,
    unreadable::{Outline, too_large},
};
use toolwire_base::{offload, words::bytes_without_bom};

#[derive(Debug)]
pub(crate) struct Lines<R, W> {
    input: BufReader<R>,
    /// The part of a line that was read, unless it is too long. It outlives a dropped [`receive`](Transport::receive).
    line: Vec<u8>,
    outline: Outline,
    /// What is left of a line that is a list of messages.
    batch: Bytes,
    /// What is received next.
    ready: VecDeque<ServerJsonRpcMessage>,
    /// Whether the message is printed over several lines, of which the first is a brace and no other begins with one.
    is_spread: bool,
    begins_line: bool,
    /// The large message that is being decoded. It outlives a dropped `receive` too.
    decoding: Option<JoinHandle<Decoded>>,
    /// `None` once it is closed.
    output: Arc<Mutex<Option<W>>>,
    shared: Arc<Shared>,
}

/// A line, or an element of one that is a list.
#[derive(Debug, Default)]
struct Decoded {
    message: Option<ServerJsonRpcMessage>,
    is_rpc: bool,
    length: usize,
    /// What follows it in the list.
    rest: Bytes,
}

impl<R: AsyncRead + Unpin, W> Lines<R, W> {
    pub(crate) fn new(input: R, output: W, shared: Arc<Shared>) -> Self {
        Self {
            input: BufReader::new(input),
            line: Vec::new(),
            outline: Outline::default(),
            batch: Bytes::new(),
            ready: VecDeque::new(),
            is_spread: false,
            begins_line: true,
            decoding: None,
            output: Arc::new(Mutex::new(Some(output))),
            shared,
        }
    }

    /// Reads on until a line is complete. False at the end of the input, and at a line without an end.
    async fn read_line(&mut self) -> io::Result<bool> {
        loop {
            let read = self.input.fill_buf().await?;
            if self.is_spread && self.begins_line && read.first() == Some(&b'{') {
                // The next one: this had no end.
                self.is_spread = false;
                return Ok(true);
            }
            let newline = read.iter().position(|byte| *byte == b'\n');
            let part = &read[..newline.unwrap_or(read.len())];
            self.outline.read(part);
            if self.outline.length <= MAX_ANSWER {
                self.line.extend_from_slice(part);
            } else {
                self.line = Vec::new();
            }
            let (taken, is_end) = (newline.map_or(read.len(), |at| at + 1), read.is_empty());
            self.input.consume(taken);
            self.begins_line = newline.is_some();
            if self.begins_line {
                let is_first = self.line.trim_ascii() == b"{";
                self.is_spread = (self.is_spread || is_first) && self.outline.is_open();
                if !self.is_spread {
                    return Ok(true);
                }
            }
            if self.outline.length > MAX_LINE {
                tracing::warn!("a line of an MCP server is over {MAX_LINE} bytes: its connection is ended");
                return Ok(false);
            }
            if is_end {
                return Ok(false);
            }
        }
    }

    async fn decode(&mut self) -> Decoded {
        if self.decoding.is_none() {
            let (line, outline, batch) =
                (take(&mut self.line), take(&mut self.outline), take(&mut self.batch));
            let length = line.len() + batch.len();
            let work = move || if batch.is_empty() { decode(&line, outline) } else { decode_element(&batch) };
            if length <= offload::SMALL {
                return work();
            }
            self.decoding = Some(spawn(offload::if_large(length, work)));
        }
        let Some(decoding) = &mut self.decoding else { return Decoded::default() };
        let decoded = decoding.await;
        self.decoding = None;
        // Cancelled at the end of the runtime only.
        decoded.unwrap_or_else(|error| match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(_) => Decoded::default(),
        })
    }
}

/// The message of a line, or the error in its place. Of a list, that of its first element.
fn decode(line: &[u8], outline: Outline) -> Decoded {
    if let Some(batch) = bytes_without_bom(line).trim_ascii_start().strip_prefix(b"[") {
        return decode_element(&String::from_utf8_lossy(batch).into_owned().into());
    }
    let (length, is_rpc) = (outline.length, outline.is_rpc);
    let message = if length > MAX_ANSWER {
        outline.error(too_large(), None)
    } else {
        reading::message_or_error(line, None).map(|(message, _)| message)
    };
    Decoded { message, is_rpc, length, rest: Bytes::new() }
}

/// No more than one element of a list is decoded at a time: the rest takes no more than its text.
fn decode_element(batch: &Bytes) -> Decoded {
    let mut elements = serde_json::Deserializer::from_slice(batch).into_iter::<&RawValue>();
    let (element, rest) = match elements.next() {
        Some(Ok(element)) => (element.get().as_bytes(), batch[elements.byte_offset()..].trim_ascii_start()),
        // Nothing is known to come after it.
        _ => (&batch[..], &[][..]),
    };
    let message = reading::message_or_error(element, None).map(|(message, _)| message);
    let rest = rest.strip_prefix(b",").map(|rest| batch.slice_ref(rest)).unwrap_or_default();
    Decoded { message, is_rpc: Outline::of(element).is_rpc, length: element.len(), rest }
}

impl<R, W> Transport<RoleClient> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let output = Arc::clone(&self.output);
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut output = output.lock().await;
            let Some(output) = &mut *output else { return Err(io::ErrorKind::NotConnected.into()) };
            output.write_all(&line).await?;
            output.flush().await
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            if self.decoding.is_none() {
                self.shared.discarded.wait().await;
                if self.batch.is_empty() && !matches!(self.read_line().await, Ok(true)) {
                    return None;
                }
            }
            let Decoded { message, is_rpc, length, rest } = self.decode().await;
            self.batch = rest;
            self.shared.meter(message.as_ref(), length);
            if let Some(message) = message {
                self.ready.extend(self.shared.attribute(message, is_rpc));
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().await.take();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::RequestId;
    use toolwire_providers::bounds::MAX_DATA;

    use super::*;
    use crate::upstream::unreadable::{MALFORMED, TOO_LARGE};

    /// The codes and identifiers of the errors that are received.
    async fn errors(lines: &str) -> Vec<(i32, Option<RequestId>)> {
        let shared = Shared::new();
        for id in 0..8 {
            shared.in_flight().add(&RequestId::Number(id));
        }
        let mut lines = Lines::new(lines.as_bytes(), tokio::io::sink(), shared);
        let mut errors = Vec::new();
        while let Some(message) = lines.receive().await {
            let ServerJsonRpcMessage::Error(error) = message else { panic!("{message:?}") };
            errors.push((error.error.code.0, error.id));
        }
        errors
    }

    #[tokio::test]
    async fn answers_that_cannot_be_read_are_errors_and_the_next_line_is_read() {
        let id = |number| Some(RequestId::Number(number));
        let long = "x".repeat(MAX_ANSWER);
        let deep = "[".repeat(100_000);
        let many = vec!["1"; MAX_DATA / 2 + 1].join(", ");
        let text = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":6,\"result\":{{\"structuredContent\":{{\"v\":[{many}]}}}}}}\n\
             starting {{\n{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"text\":\"{long}\"}}}}\n\
             {{\"result\":{{\"text\":\"{long}\"}},\"jsonrpc\":\"2.0\",\"id\":2}}\n\
             {{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{{\"a\":{deep}\n\
             {{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{{}},\"error\":{{\"code\":1,\"message\":\"a\"}}}}\n{long}x\n\
             {{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{{\"code\":1,\"message\":\"a\"}}}}\n"
        );
        let (large, malformed) = (TOO_LARGE.0, MALFORMED.0);
        let expected = [
            (large, id(6)),
            (large, id(1)),
            (large, id(2)),
            (malformed, id(3)),
            (malformed, id(4)),
            (1, id(5)),
        ];
        assert_eq!(errors(&text).await, expected);
    }

    #[tokio::test]
    async fn a_message_may_be_printed_over_several_lines() {
        let error = |id: u32| {
            format!(
                "{{\n  \"jsonrpc\": \"2.0\",\n  \"id\": {id},\n  \"error\": {{\n    \"code\": 1,\n    \"message\": \"a\"\n  }}\n}}\n"
            )
        };
        let line = "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":1,\"message\":\"a\"}}\n";
        let text = format!("{}{line}{{\r\n{line}{{\n  starting\n{}", error(5), error(6));
        let id = |number| Some(RequestId::Number(number));
        assert_eq!(errors(&text).await, [(1, id(5)), (1, id(7)), (1, id(7)), (1, id(6))]);
    }

    #[tokio::test]
    async fn a_line_without_an_end_ends_the_connection() {
        let text = format!("{}\n{{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{{}}}}", "x".repeat(MAX_LINE + 1));
        assert_eq!(errors(&text).await, []);
    }
}
