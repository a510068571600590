//! Reads lines, and hands on the messages in them. A line that is no message is answered by an error and skipped: the
//! connection goes on.
//!
//! At most [`MAX_IN_FLIGHT`](super::open::MAX_IN_FLIGHT) requests are in flight. The next ones wait, and beyond
//! [`MAX_WAITING`] bytes of them nothing is read any more. Until then a cancellation finds its request.

use std::{borrow::Cow, collections::VecDeque, sync::Arc, time::Duration};

use rmcp::{
    ErrorData,
    model::{ClientJsonRpcMessage, ClientNotification, ClientRequest, RequestId},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWrite, BufReader},
    select,
    sync::{OwnedSemaphorePermit, mpsc},
    time::sleep,
};
use tokio_util::sync::CancellationToken;

use super::{
    super::{invalid_message, request::UnreadableArguments},
    open::OpenRequests,
    output::Output,
};
use toolwire_base::words::bytes_without_bom;

/// Maximum length of a line, in bytes.
const MAX_LINE: usize = 1024 * 1024;
/// Bytes of lines that wait.
const MAX_WAITING: usize = MAX_LINE;
/// After the end of input, how long what waits may see nothing in flight end.
const PATIENCE: Duration = Duration::from_secs(1);

pub(super) struct Reader<R, W> {
    input: BufReader<R>,
    output: Arc<Output<W>>,
    open: Arc<OpenRequests>,
    messages: mpsc::Sender<ClientJsonRpcMessage>,
    /// The part of a line that was read. It outlives a dropped [`read_line`](Self::read_line).
    line: Vec<u8>,
    /// Whether the rest of the line is skipped, since it is too long.
    is_skipping: bool,
    has_request: bool,
    waiting: VecDeque<Waiting>,
    waiting_bytes: usize,
}

/// What waits for others in flight to end.
struct Waiting {
    what: Line,
    bytes: usize,
}

enum Line {
    Request(RequestId, Box<ClientJsonRpcMessage>),
    /// The answer to what is no message.
    Bad(String),
}

/// What was read.
enum Read {
    Line,
    /// The start of a line that is too long.
    TooLong,
    End,
}

impl<R, W> Reader<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new(
        input: R,
        output: Arc<Output<W>>,
        open: Arc<OpenRequests>,
        messages: mpsc::Sender<ClientJsonRpcMessage>,
    ) -> Self {
        Self {
            input: BufReader::new(input),
            output,
            open,
            messages,
            line: Vec::new(),
            is_skipping: false,
            has_request: false,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
        }
    }

    /// Reads until the input ends, or `ended` is cancelled, which it is then.
    pub(super) async fn run(mut self, ended: CancellationToken) {
        let _ = ended.run_until_cancelled(self.read()).await;
        if !self.waiting.is_empty() {
            tracing::warn!(
                requests = self.waiting.len(),
                "the input has ended: the last requests are not carried out"
            );
        }
        for waiting in self.waiting {
            if let Line::Request(id, _) = waiting.what {
                self.open.remove(&id);
            }
        }
        ended.cancel();
    }

    /// Returns at the end of input, once all that it held has begun; `None` if nothing takes messages any more.
    async fn read(&mut self) -> Option<()> {
        let (open, mut has_input) = (Arc::clone(&self.open), true);
        while has_input || !self.waiting.is_empty() {
            let has_room = self.waiting_bytes < MAX_WAITING;
            select! {
                // In order: a request before what was read after it.
                biased;
                permit = open.permit(), if !self.waiting.is_empty() => self.begin(permit).await?,
                read = self.read_line(), if has_input && has_room => match read {
                    Read::Line => self.take_line().await?,
                    Read::TooLong => {
                        self.refuse(&Value::Null, format!("a message has at most {MAX_LINE} bytes"));
                    }
                    Read::End => has_input = false,
                },
                () = sleep(PATIENCE), if !has_input => return Some(()),
            }
        }
        Some(())
    }

    /// Reads on until a line is complete.
    async fn read_line(&mut self) -> Read {
        loop {
            let read = match self.input.fill_buf().await {
                Ok(read) if !read.is_empty() => read,
                _ => return Read::End,
            };
            let newline = read.iter().position(|byte| *byte == b'\n');
            let part = &read[..newline.unwrap_or(read.len())];
            let is_too_long = self.line.len() + part.len() > MAX_LINE;
            let was_skipping = self.is_skipping;
            if !was_skipping && !is_too_long {
                self.line.extend_from_slice(part);
            }
            let taken = newline.map_or(read.len(), |at| at + 1);
            self.input.consume(taken);
            self.is_skipping = (was_skipping || is_too_long) && newline.is_none();
            if is_too_long && !was_skipping {
                self.line.clear();
                return Read::TooLong;
            }
            if newline.is_some() && !was_skipping {
                return Read::Line;
            }
        }
    }

    /// Decodes the line that was read.
    async fn take_line(&mut self) -> Option<()> {
        let line = std::mem::take(&mut self.line);
        let text = bytes_without_bom(line.trim_ascii());
        if text.is_empty() {
            return Some(());
        }
        let Ok(mut message) = serde_json::from_slice::<ClientJsonRpcMessage>(text) else {
            self.answer_bad(&invalid_message::error_of(text));
            return Some(());
        };
        if let ClientJsonRpcMessage::Request(request) = &mut message
            && let ClientRequest::CallToolRequest(call) = &mut request.request
            && let Some(unreadable) = UnreadableArguments::of(text)
        {
            call.extensions.insert(unreadable);
        }
        if let Some(error) = invalid_message::bad_cursor(text) {
            self.answer_bad(&error);
            return Some(());
        }
        match &message {
            ClientJsonRpcMessage::Request(request) => {
                self.has_request = true;
                let id = request.id.clone();
                if self.open.insert(id.clone()) {
                    self.wait(Line::Request(id, Box::new(message)), line.len());
                } else {
                    self.refuse(&json!(id), "another request with this id has no answer yet");
                }
                return Some(());
            }
            ClientJsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(it) = &notification.notification
                    && let Some(id) = &it.params.request_id
                {
                    // It gets no response.
                    self.open.remove(id);
                    self.forget(id);
                }
            }
            _ => {}
        }
        // Before the first request there is nothing that it could be about.
        if self.has_request { self.messages.send(message).await.ok() } else { Some(()) }
    }

    fn refuse(&mut self, id: &Value, what: impl Into<Cow<'static, str>>) {
        self.answer_bad(&invalid_message::response(id, &ErrorData::invalid_request(what, None)));
    }

    fn answer_bad(&mut self, answer: &Value) {
        let answer = answer.to_string();
        let bytes = answer.len();
        self.wait(Line::Bad(answer), bytes);
    }

    fn wait(&mut self, what: Line, bytes: usize) {
        self.waiting_bytes += bytes;
        self.waiting.push_back(Waiting { what, bytes });
    }

    /// Drops a request that waits.
    fn forget(&mut self, cancelled: &RequestId) {
        let is_it = |it: &Waiting| matches!(&it.what, Line::Request(id, _) if id == cancelled);
        if let Some(at) = self.waiting.iter().position(is_it)
            && let Some(it) = self.waiting.remove(at)
        {
            self.waiting_bytes -= it.bytes;
        }
    }

    /// Begins with what has waited for the longest time.
    async fn begin(&mut self, permit: OwnedSemaphorePermit) -> Option<()> {
        let Waiting { what, bytes } = self.waiting.pop_front()?;
        self.waiting_bytes -= bytes;
        match what {
            Line::Request(id, message) => {
                self.open.begin(id, permit);
                self.messages.send(*message).await.ok()
            }
            Line::Bad(answer) => {
                let output = Arc::clone(&self.output);
                tokio::spawn(async move {
                    let _ = output.write(answer).await;
                    drop(permit);
                });
                Some(())
            }
        }
    }
}
