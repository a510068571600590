//! A gRPC client without a timer of its own: what it reports is what the server said.

use std::net::SocketAddr;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use h2::client::{Builder, SendRequest};
use http::{HeaderMap, HeaderValue, Method, Request, Response};
use prost::Message;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};

/// One HTTP/2 connection. Cloning it makes another handle of the same.
#[derive(Clone)]
pub struct Raw {
    sender: SendRequest<Bytes>,
}

/// A call under way. Dropping it resets its stream.
pub struct RawCall {
    pub response: h2::client::ResponseFuture,
    /// Resets the stream when it is told to.
    pub request: h2::SendStream<Bytes>,
}

/// How a call ended.
#[derive(Debug, Default)]
pub struct RawEnd {
    pub http_status: u16,
    pub headers: HeaderMap,
    pub trailers: HeaderMap,
    pub messages: Vec<Bytes>,
}

impl Raw {
    pub async fn connect(address: SocketAddr) -> Self {
        Self::with(address, &Builder::new()).await
    }

    /// A client that never lets the server send a byte of a body.
    pub async fn with_shut_window(address: SocketAddr) -> Self {
        Self::with_window(address, 0).await
    }

    /// A client whose initial flow-control window for each response body has this many bytes.
    pub async fn with_window(address: SocketAddr, bytes: u32) -> Self {
        Self::with(address, Builder::new().initial_window_size(bytes)).await
    }

    async fn with(address: SocketAddr, builder: &Builder) -> Self {
        Self::over(TcpStream::connect(address).await.expect("connects"), builder).await
    }

    /// A client over a connection that is open, such as one under TLS.
    pub async fn over(
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        builder: &Builder,
    ) -> Self {
        let (sender, connection) = builder.handshake(stream).await.expect("speaks HTTP/2");
        tokio::spawn(connection);
        Self { sender: sender.ready().await.expect("ready") }
    }

    /// Starts a call with one request message.
    pub async fn start(&self, path: &str, headers: &[(&str, &str)], message: &impl Message) -> RawCall {
        self.start_bytes(path, headers, frame(message)).await
    }

    /// Starts a call with the given bytes as its whole body.
    pub async fn start_bytes(&self, path: &str, headers: &[(&str, &str)], body: Bytes) -> RawCall {
        let mut call = self.begin(path, headers).await;
        call.request.send_data(body, true).expect("sent");
        call
    }

    /// Starts a call whose body is still to come.
    pub async fn begin(&self, path: &str, headers: &[(&str, &str)]) -> RawCall {
        self.begin_as(Method::POST, path, headers).await
    }

    /// The same by a method of HTTP that need not be POST.
    pub async fn begin_as(&self, method: Method, path: &str, headers: &[(&str, &str)]) -> RawCall {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("http://test{path}"))
            .header("content-type", "application/grpc")
            .header("te", "trailers");
        for (name, value) in headers {
            // Any bytes: not every client keeps to ASCII.
            request = request.header(*name, HeaderValue::from_bytes(value.as_bytes()).expect("a value"));
        }
        let request = request.body(()).expect("a request");
        let mut sender = self.sender.clone().ready().await.expect("ready");
        let (response, request) = sender.send_request(request, false).expect("sent");
        RawCall { response, request }
    }

    /// The status and the text that answer a request without a body.
    pub async fn ask(&self, request: Request<()>) -> (u16, String) {
        let answer = self.exchange(request, Bytes::new()).await;
        (answer.status().as_u16(), answer.into_body())
    }

    /// The answer to a request with a body, read to its end.
    pub async fn exchange(&self, request: Request<()>, body: Bytes) -> Response<String> {
        let mut sender = self.sender.clone().ready().await.expect("ready");
        let (response, mut stream) = sender.send_request(request, body.is_empty()).expect("sent");
        if !body.is_empty() {
            stream.send_data(body, true).expect("sent");
        }
        let (head, mut body) = response.await.expect("a response").into_parts();
        let mut text = BytesMut::new();
        while let Some(chunk) = body.data().await {
            let chunk = chunk.expect("a chunk");
            let _ = body.flow_control().release_capacity(chunk.len());
            text.extend_from_slice(&chunk);
        }
        Response::from_parts(head, String::from_utf8(text.to_vec()).expect("a text"))
    }

    /// Carries a call out to its end.
    pub async fn call(&self, path: &str, headers: &[(&str, &str)], message: &impl Message) -> RawEnd {
        self.start(path, headers, message).await.end().await
    }
}

impl RawCall {
    /// Waits for the end.
    pub async fn end(self) -> RawEnd {
        self.end_or_reset().await.expect("an end")
    }

    /// Waits for the end, or for the server to reset the stream.
    pub async fn end_or_reset(self) -> Result<RawEnd, h2::Error> {
        let response = self.response.await?;
        let mut end = RawEnd {
            http_status: response.status().as_u16(),
            headers: response.headers().clone(),
            ..RawEnd::default()
        };
        let mut body = response.into_body();
        let mut bytes = BytesMut::new();
        while let Some(chunk) = body.data().await {
            let chunk = chunk?;
            let _ = body.flow_control().release_capacity(chunk.len());
            bytes.extend_from_slice(&chunk);
        }
        end.trailers = body.trailers().await?.unwrap_or_default();
        end.messages = unframe(bytes.freeze());
        Ok(end)
    }

    /// Waits until the server has sent its headers, and keeps the call open.
    pub async fn wait_headers(self) -> h2::RecvStream {
        self.response.await.expect("a response").into_body()
    }
}

impl RawEnd {
    /// The `grpc-status`, wherever it stands; -1 if nowhere.
    pub fn status(&self) -> i32 {
        let value = self.trailers.get("grpc-status").or_else(|| self.headers.get("grpc-status"));
        value.and_then(|value| value.to_str().ok()?.parse().ok()).unwrap_or(-1)
    }

    /// Whether the answer was a single block of headers, which a mesh may retry.
    pub fn is_trailers_only(&self) -> bool {
        self.headers.contains_key("grpc-status")
    }

    /// The messages, decoded.
    pub fn decode<M: Message + Default>(&self) -> Vec<M> {
        self.messages.iter().map(|bytes| M::decode(bytes.clone()).expect("decodes")).collect()
    }

    /// The status with its details.
    pub fn grpc_status(&self) -> tonic::Status {
        let headers = if self.is_trailers_only() { &self.headers } else { &self.trailers };
        tonic::Status::from_header_map(headers).expect("a status")
    }
}

pub fn frame(message: &impl Message) -> Bytes {
    let mut bytes = BytesMut::new();
    bytes.put_u8(0);
    bytes.put_u32(u32::try_from(message.encoded_len()).expect("small"));
    message.encode(&mut bytes).expect("fits");
    bytes.freeze()
}

fn unframe(mut bytes: Bytes) -> Vec<Bytes> {
    let mut messages = Vec::new();
    while bytes.len() >= 5 {
        bytes.advance(1);
        let length = bytes.get_u32() as usize;
        messages.push(bytes.split_to(length));
    }
    messages
}
