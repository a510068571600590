//! A gRPC client without a timer of its own: what it reports is what the server said.

use std::{net::SocketAddr, time::Duration};

use bytes::{Bytes, BytesMut};
use h2::{
    RecvStream,
    client::{Builder, ResponseFuture, SendRequest},
};
use http::{HeaderMap, Request, StatusCode};
use tokio::{net::TcpStream, task::JoinHandle};
use tonic::{Code, Status};
use tonic_types::StatusExt;

/// One HTTP/2 connection.
pub(crate) struct Client {
    sender: SendRequest<Bytes>,
    connection: JoinHandle<Result<(), h2::Error>>,
}

/// How a call ended.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) http_status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) trailers: Option<HeaderMap>,
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        Self::with(address, &Builder::new()).await
    }

    /// A client that was answered, unless the server closes the connection first.
    pub(crate) async fn try_connect(address: SocketAddr) -> Option<Self> {
        let (sender, connection) =
            Builder::new().handshake(TcpStream::connect(address).await.ok()?).await.ok()?;
        let client = Self { sender, connection: tokio::spawn(connection) };
        answer(client.try_start("/test.Service/Prompt").await?).await.ok()?;
        Some(client)
    }

    pub(crate) async fn over(stream: TcpStream) -> Self {
        Self::shake_hands(stream, &Builder::new()).await
    }

    pub(crate) async fn with(address: SocketAddr, builder: &Builder) -> Self {
        Self::shake_hands(tcp(address).await, builder).await
    }

    async fn shake_hands(stream: TcpStream, builder: &Builder) -> Self {
        let (sender, connection) = builder.handshake(stream).await.unwrap();
        Self { sender, connection: tokio::spawn(connection) }
    }

    /// Begins a call, unless the server has said GOAWAY.
    pub(crate) async fn try_start(&self, path: &str) -> Option<ResponseFuture> {
        let request =
            Request::post(format!("http://tools.example{path}")).header("content-type", "application/grpc");
        let mut sender = self.sender.clone().ready().await.ok()?;
        let (response, mut stream) = sender.send_request(request.body(()).unwrap(), false).ok()?;
        // Fails when GOAWAY came in between; the response then says so.
        let _ = stream.send_data(Bytes::from_static(&[0; 5]), true);
        Some(response)
    }

    /// Begins a call with one empty message. Dropping what it returns resets the stream.
    pub(crate) async fn start(&self, path: &str, headers: &[(&str, &str)]) -> ResponseFuture {
        let grpc = [("content-type", "application/grpc"), ("te", "trailers")];
        self.start_bytes(path, &[&grpc, headers].concat(), Bytes::from_static(&[0; 5])).await
    }

    /// Begins a call with these headers and this body, and no others.
    pub(crate) async fn start_bytes(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> ResponseFuture {
        let mut request = Request::post(format!("http://tools.example{path}"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut sender = self.sender.clone().ready().await.unwrap();
        let (response, mut stream) = sender.send_request(request.body(()).unwrap(), false).unwrap();
        stream.send_data(body, true).unwrap();
        response
    }

    /// Begins a call that is not complete: part of its message, and no end. Dropping the second resets the stream.
    pub(crate) async fn start_half(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: &'static [u8],
    ) -> (ResponseFuture, h2::SendStream<Bytes>) {
        let mut request =
            Request::post(format!("http://tools.example{path}")).header("content-type", "application/grpc");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut sender = self.sender.clone().ready().await.unwrap();
        let (response, mut stream) = sender.send_request(request.body(()).unwrap(), false).unwrap();
        stream.send_data(Bytes::from_static(body), false).unwrap();
        (response, stream)
    }

    pub(crate) async fn call(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        answer(self.start(path, headers).await).await.unwrap()
    }

    /// Waits until the *server* ends the connection; whether it said GOAWAY without a fault.
    pub(crate) async fn is_sent_away(&mut self) -> bool {
        (&mut self.connection).await.unwrap().is_ok()
    }
}

/// The end of a call, all its body read.
pub(crate) async fn answer(response: ResponseFuture) -> Result<Answer, h2::Error> {
    let (head, mut stream) = response.await?.into_parts();
    let body = read(&mut stream).await?;
    let trailers = stream.trailers().await?;
    Ok(Answer { http_status: head.status, headers: head.headers, body, trailers })
}

async fn read(stream: &mut RecvStream) -> Result<Bytes, h2::Error> {
    let mut body = BytesMut::new();
    while let Some(data) = stream.data().await {
        let data = data?;
        stream.flow_control().release_capacity(data.len())?;
        body.extend_from_slice(&data);
    }
    Ok(body.freeze())
}

impl Answer {
    /// The gRPC status, from the trailers or from a trailers-only response.
    #[track_caller]
    pub(crate) fn status(&self) -> Status {
        let headers = self.trailers.as_ref().unwrap_or(&self.headers);
        Status::from_header_map(headers).unwrap_or_else(|| panic!("no grpc-status in {self:?}"))
    }

    /// The code and the reason of the one `ErrorInfo`.
    #[track_caller]
    pub(crate) fn refusal(&self) -> (Code, String) {
        let status = self.status();
        let infos = status.get_error_details_vec().into_iter().filter_map(|detail| match detail {
            tonic_types::ErrorDetail::ErrorInfo(info) => Some(info),
            _ => None,
        });
        let [info] =
            <[_; 1]>::try_from(infos.collect::<Vec<_>>()).unwrap_or_else(|infos| panic!("{infos:?}"));
        assert_eq!(info.domain, "toolwire");
        (status.code(), info.reason)
    }

    pub(crate) fn is_trailers_only(&self) -> bool {
        self.trailers.is_none() && self.body.is_empty()
    }
}

pub(crate) async fn tcp(address: SocketAddr) -> TcpStream {
    TcpStream::connect(address).await.unwrap()
}

/// Waits for what must come, but not for ever.
pub(crate) async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), what).await.expect("it did not happen within 20 s")
}
