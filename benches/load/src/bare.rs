//! What every tonic service costs at least: tonic's own server, with a method that decodes nothing and answers with
//! bytes that it has already.

use std::{
    collections::HashMap,
    convert::Infallible,
    fs,
    future::{Ready, ready},
    io::Write,
    net::SocketAddr,
    path::Path,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::{Buf, BufMut, Bytes};
use http::{Request, Response};
use serde::{Deserialize, Serialize};
use tokio_stream as stream;
use tonic::{
    Status,
    body::Body,
    codec::{BufferSettings, Codec, DecodeBuf, Decoder, EncodeBuf, Encoder},
    codegen::BoxFuture,
    server::{Grpc, NamedService, ServerStreamingService, UnaryService},
    transport::server::TcpIncoming,
};
use tower::Service;

use crate::Result;

/// The answers to one row's request.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Answer {
    /// The method.
    pub path: String,
    /// The request without its frame.
    pub request: Vec<u8>,
    /// The messages without their frames.
    pub messages: Vec<Vec<u8>>,
}

/// Serves the answers in a file until the process is ended, and says where.
pub fn serve(answers: &Path) -> Result<()> {
    let answers: Vec<Answer> = serde_json::from_slice(&fs::read(answers)?)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        // As `Server::serve` has it: without, each answer waits for the client's delayed acknowledgement.
        let accepted = TcpIncoming::bind(SocketAddr::from(([127, 0, 0, 1], 0)))?.with_nodelay(Some(true));
        let mut out = std::io::stdout();
        writeln!(out, "toolwire listening on {}", accepted.local_addr()?)?;
        out.flush()?;
        tonic::transport::Server::builder()
            .add_service(Bare::new(answers))
            .serve_with_incoming(accepted)
            .await?;
        Ok(())
    })
}

/// Answers by request.
type Answers = HashMap<(String, Bytes), Arc<[Bytes]>>;

#[derive(Clone, Debug)]
struct Bare {
    answers: Arc<Answers>,
}

impl Bare {
    fn new(answers: Vec<Answer>) -> Self {
        let by_request = answers.into_iter().map(|Answer { path, request, messages }| {
            ((path, request.into()), messages.into_iter().map(Bytes::from).collect())
        });
        Self { answers: Arc::new(by_request.collect()) }
    }
}

impl NamedService for Bare {
    const NAME: &'static str = "toolwire.v1.ToolService";
}

impl Service<Request<Body>> for Bare {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Response<Body>, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<std::result::Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let path = request.uri().path().to_owned();
        let is_unary = ["/CallTool", "/DescribeForPlanner"].iter().any(|method| path.ends_with(method));
        let method = Method { answers: Arc::clone(&self.answers), path };
        Box::pin(async move {
            let mut grpc = Grpc::new(Raw);
            Ok(if is_unary {
                grpc.unary(method, request).await
            } else {
                grpc.server_streaming(method, request).await
            })
        })
    }
}

struct Method {
    answers: Arc<Answers>,
    path: String,
}

impl Method {
    fn find(&mut self, request: tonic::Request<Bytes>) -> std::result::Result<Arc<[Bytes]>, Status> {
        let key = (std::mem::take(&mut self.path), request.into_inner());
        self.answers.get(&key).cloned().ok_or_else(|| Status::not_found("no such answer"))
    }
}

impl UnaryService<Bytes> for Method {
    type Response = Bytes;
    type Future = Ready<std::result::Result<tonic::Response<Bytes>, Status>>;

    fn call(&mut self, request: tonic::Request<Bytes>) -> Self::Future {
        ready(self.find(request).map(|messages| tonic::Response::new(messages[0].clone())))
    }
}

impl ServerStreamingService<Bytes> for Method {
    type Response = Bytes;
    type ResponseStream = stream::Iter<std::vec::IntoIter<std::result::Result<Bytes, Status>>>;
    type Future = Ready<std::result::Result<tonic::Response<Self::ResponseStream>, Status>>;

    fn call(&mut self, request: tonic::Request<Bytes>) -> Self::Future {
        ready(self.find(request).map(|messages| {
            let messages: Vec<_> = messages.iter().cloned().map(Ok).collect();
            tonic::Response::new(stream::iter(messages))
        }))
    }
}

/// Messages as they are.
#[derive(Clone, Copy, Debug)]
struct Raw;

impl Codec for Raw {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, message: Bytes, buffer: &mut EncodeBuf<'_>) -> std::result::Result<(), Status> {
        buffer.put(message);
        Ok(())
    }

    fn buffer_settings(&self) -> BufferSettings {
        BufferSettings::default()
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> std::result::Result<Option<Bytes>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }
}
