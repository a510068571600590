//! A transport of lines. A line that is no message is answered by an error and skipped: the connection goes on.

use std::{collections::HashSet, future, io, sync::Arc};

use rmcp::{
    ErrorData, RoleServer,
    model::{ClientJsonRpcMessage, ClientNotification, RequestId, ServerJsonRpcMessage},
    transport::Transport,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader},
    sync::Mutex,
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use super::super::malformed;

/// Maximum length of a line, in bytes.
const MAX_LINE: usize = 1024 * 1024;

pub(super) struct Lines<R, W> {
    input: BufReader<R>,
    /// The part of a line that was read. It outlives a dropped [`receive`](Transport::receive).
    line: Vec<u8>,
    /// Whether the rest of the line is skipped, since it is too long.
    is_skipping: bool,
    output: Arc<Mutex<W>>,
    has_request: bool,
    /// The identifiers of the requests in flight: a response to two of the same would be ambiguous.
    open: HashSet<RequestId>,
    /// A reply that is being written.
    reply: Option<JoinHandle<io::Result<()>>>,
    ended: CancellationToken,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Send + Unpin + 'static> Lines<R, W> {
    /// `ended` is cancelled when the input ends.
    pub(super) fn new(input: R, output: W, ended: CancellationToken) -> Self {
        Self {
            input: BufReader::new(input),
            line: Vec::new(),
            is_skipping: false,
            output: Arc::new(Mutex::new(output)),
            has_request: false,
            open: HashSet::new(),
            reply: None,
            ended,
        }
    }

    /// Reads on until a line is complete. False at the end of the input.
    async fn read_line(&mut self) -> bool {
        loop {
            self.finish_reply().await;
            let read = match self.input.fill_buf().await {
                Ok(read) if !read.is_empty() => read,
                _ => return false,
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
            if is_too_long && !was_skipping {
                self.line.clear();
                let what = format!("a message has at most {MAX_LINE} bytes");
                self.reply(&malformed::response(&Value::Null, &ErrorData::invalid_request(what, None)));
            }
            self.is_skipping = (was_skipping || is_too_long) && newline.is_none();
            if newline.is_some() && !was_skipping && !is_too_long {
                return true;
            }
        }
    }

    /// Decodes the line that was read. `None` if it is no message to be served.
    fn take_message(&mut self) -> Option<ClientJsonRpcMessage> {
        let line = std::mem::take(&mut self.line);
        let text = line.trim_ascii();
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        if text.is_empty() {
            return None;
        }
        let Ok(message) = serde_json::from_slice::<ClientJsonRpcMessage>(text) else {
            self.reply(&malformed::error_of(text));
            return None;
        };
        if let Some(error) = malformed::bad_cursor(text) {
            self.reply(&error);
            return None;
        }
        match &message {
            ClientJsonRpcMessage::Request(request) if !self.open.insert(request.id.clone()) => {
                let error =
                    ErrorData::invalid_request("another request with this id has no answer yet", None);
                self.reply(&malformed::response(&json!(request.id), &error));
                return None;
            }
            ClientJsonRpcMessage::Notification(notification) => {
                // It gets no response.
                if let ClientNotification::CancelledNotification(it) = &notification.notification
                    && let Some(id) = &it.params.request_id
                {
                    self.open.remove(id);
                }
            }
            _ => {}
        }
        self.has_request |= matches!(message, ClientJsonRpcMessage::Request(_));
        // Before the first request there is nothing that it could be about.
        self.has_request.then_some(message)
    }

    /// Writes in a task of its own: reading may be dropped at any time, and a line must not be cut.
    fn reply(&mut self, message: &Value) {
        self.reply = Some(tokio::spawn(write(Arc::clone(&self.output), message.to_string())));
    }

    /// Waits for the last reply, so that a client that reads none sends no more.
    async fn finish_reply(&mut self) {
        if let Some(reply) = &mut self.reply {
            let _ = reply.await;
            self.reply = None;
        }
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        match &item {
            ServerJsonRpcMessage::Response(response) => {
                self.open.remove(&response.id);
            }
            ServerJsonRpcMessage::Error(error) => {
                error.id.as_ref().map(|id| self.open.remove(id));
            }
            _ => {}
        }
        let output = Arc::clone(&self.output);
        async move { write(output, serde_json::to_string(&item)?).await }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let ended = self.ended.clone();
        while let Some(is_line) = ended.run_until_cancelled(self.read_line()).await {
            if !is_line {
                ended.cancel();
            } else if let Some(message) = self.take_message() {
                return Some(message);
            }
        }
        // After the last message rmcp waits for answers for a few seconds only, and would drop that of a longer write.
        // It asks again after each answer that it sends.
        if !self.open.is_empty() {
            future::pending::<()>().await;
        }
        None
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.output.lock().await.flush().await
    }
}

async fn write<W: AsyncWrite + Unpin>(output: Arc<Mutex<W>>, mut line: String) -> io::Result<()> {
    line.push('\n');
    let mut output = output.lock().await;
    output.write_all(line.as_bytes()).await?;
    output.flush().await
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::{
        io::{AsyncReadExt, duplex},
        time::timeout,
    };

    use super::*;

    #[tokio::test]
    async fn bad_lines_are_answered_and_the_next_message_is_read() {
        let (mut client, server) = duplex(4 * MAX_LINE);
        let (input, output) = tokio::io::split(server);
        let ended = CancellationToken::new();
        let mut lines = Lines::new(input, output, ended.clone());
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let text = format!("nonsense\r\n\n[]\n{}\n{ping}\n", "x".repeat(MAX_LINE + 1));
        client.write_all(text.as_bytes()).await.unwrap();
        assert!(matches!(lines.receive().await, Some(ClientJsonRpcMessage::Request(_))));
        client.shutdown().await.unwrap();
        // Not before the request has its answer.
        assert!(timeout(Duration::from_millis(20), lines.receive()).await.is_err() && ended.is_cancelled());
        let error = ErrorData::internal_error("none", None);
        lines.send(ServerJsonRpcMessage::error(error, Some(RequestId::Number(1)))).await.unwrap();
        assert!(lines.receive().await.is_none());
        drop(lines);
        let mut answers = String::new();
        client.read_to_string(&mut answers).await.unwrap();
        let codes: Vec<Value> = answers
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["error"]["code"].clone())
            .collect();
        assert_eq!(codes, [-32700, -32600, -32600, -32603]);
    }
}
