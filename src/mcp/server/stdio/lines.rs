//! A transport of lines, for rmcp.

use std::{future, io, sync::Arc};

use rmcp::{
    RoleServer,
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::Transport,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::mpsc,
};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{
    open::{MAX_IN_FLIGHT, OpenRequests},
    output::Output,
    reader::Reader,
};

pub(super) struct Lines<W> {
    messages: mpsc::Receiver<ClientJsonRpcMessage>,
    output: Arc<Output<W>>,
    open: Arc<OpenRequests>,
    /// Ends the reader with the transport.
    _ended: DropGuard,
}

impl<W: AsyncWrite + Send + Unpin + 'static> Lines<W> {
    /// `ended` is cancelled when the input ends; cancelling it counts as that end.
    pub(super) fn new<R>(input: R, output: W, ended: CancellationToken) -> Self
    where
        R: AsyncRead + Send + Unpin + 'static,
    {
        let output = Arc::new(Output::new(output, ended.clone()));
        let open = Arc::new(OpenRequests::new());
        let (sender, messages) = mpsc::channel(MAX_IN_FLIGHT);
        let reader = Reader::new(input, Arc::clone(&output), Arc::clone(&open), sender);
        tokio::spawn(reader.run(ended.clone()));
        Self { messages, output, open, _ended: ended.drop_guard() }
    }
}

impl<W> Transport<RoleServer> for Lines<W>
where
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let answered = match &item {
            ServerJsonRpcMessage::Response(response) => Some(&response.id),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        let permit = answered.and_then(|id| self.open.remove(id));
        let output = Arc::clone(&self.output);
        async move {
            let line = serde_json::to_string(&item)?;
            // It waits as its text alone.
            drop(item);
            let written = output.write(line).await;
            drop(permit);
            written
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let message = self.messages.recv().await;
        // After the last message rmcp waits for answers for a few seconds only, and would drop that of a longer write.
        // It asks again after each answer that it sends.
        if message.is_none() && !self.open.is_empty() {
            future::pending::<()>().await;
        }
        message
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.output.close().await
    }
}
