//! The server of `toy.v1.ToyService`, in the form that `tonic`'s generator gives it.
//!
//! By hand, because a test has no build script of its own.

use std::{
    convert::Infallible,
    sync::Arc,
    task::{Context, Poll},
};

use futures_util::future::{BoxFuture, FutureExt};
use tonic::{
    Request, Response, Status,
    body::Body,
    codec::CompressionEncoding,
    codegen::{Service, http},
    server::{Grpc, NamedService, UnaryService},
};
use tonic_prost::ProstCodec;

use crate::foreign_domain::proto::{
    ListToysRequest, ListToysResponse, StackBlocksRequest, StackBlocksResponse,
};

#[tonic::async_trait]
pub(crate) trait ToyService: Send + Sync + 'static {
    async fn stack_blocks(
        &self,
        request: Request<StackBlocksRequest>,
    ) -> Result<Response<StackBlocksResponse>, Status>;

    async fn list_toys(
        &self,
        request: Request<ListToysRequest>,
    ) -> Result<Response<ListToysResponse>, Status>;
}

pub(crate) struct ToyServiceServer<T> {
    inner: Arc<T>,
    accept: CompressionEncoding,
    send: CompressionEncoding,
    max_decoding_message_size: usize,
}

impl<T> ToyServiceServer<T> {
    pub(crate) fn new(inner: T) -> Self {
        let (accept, send) = (CompressionEncoding::Gzip, CompressionEncoding::Gzip);
        Self { inner: Arc::new(inner), accept, send, max_decoding_message_size: usize::MAX }
    }

    pub(crate) fn accept_compressed(self, accept: CompressionEncoding) -> Self {
        Self { accept, ..self }
    }

    pub(crate) fn send_compressed(self, send: CompressionEncoding) -> Self {
        Self { send, ..self }
    }

    pub(crate) fn max_decoding_message_size(self, max_decoding_message_size: usize) -> Self {
        Self { max_decoding_message_size, ..self }
    }
}

impl<T> Clone for ToyServiceServer<T> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner), ..*self }
    }
}

impl<T> NamedService for ToyServiceServer<T> {
    const NAME: &'static str = "toy.v1.ToyService";
}

impl<T: ToyService> Service<http::Request<Body>> for ToyServiceServer<T> {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let server = self.clone();
        async move {
            Ok(match request.uri().path() {
                "/toy.v1.ToyService/StackBlocks" => {
                    let method = StackBlocks(Arc::clone(&server.inner));
                    server.grpc().unary(method, request).await
                }
                "/toy.v1.ToyService/ListToys" => {
                    let method = ListToys(Arc::clone(&server.inner));
                    server.grpc().unary(method, request).await
                }
                _ => Status::unimplemented("").into_http(),
            })
        }
        .boxed()
    }
}

impl<T> ToyServiceServer<T> {
    fn grpc<E, D>(&self) -> Grpc<ProstCodec<E, D>>
    where
        E: prost::Message + Send + 'static,
        D: prost::Message + Default + Send + 'static,
    {
        Grpc::new(ProstCodec::default())
            .accept_compressed(self.accept)
            .send_compressed(self.send)
            .max_decoding_message_size(self.max_decoding_message_size)
    }
}

struct StackBlocks<T>(Arc<T>);

impl<T: ToyService> UnaryService<StackBlocksRequest> for StackBlocks<T> {
    type Response = StackBlocksResponse;
    type Future = BoxFuture<'static, Result<Response<StackBlocksResponse>, Status>>;

    fn call(&mut self, request: Request<StackBlocksRequest>) -> Self::Future {
        let inner = Arc::clone(&self.0);
        async move { inner.stack_blocks(request).await }.boxed()
    }
}

struct ListToys<T>(Arc<T>);

impl<T: ToyService> UnaryService<ListToysRequest> for ListToys<T> {
    type Response = ListToysResponse;
    type Future = BoxFuture<'static, Result<Response<ListToysResponse>, Status>>;

    fn call(&mut self, request: Request<ListToysRequest>) -> Self::Future {
        let inner = Arc::clone(&self.0);
        async move { inner.list_toys(request).await }.boxed()
    }
}
