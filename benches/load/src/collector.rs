//! An OTLP collector that takes everything and keeps nothing.

use std::net::SocketAddr;

use bytes::Bytes;
use h2::{RecvStream, server::SendResponse};
use http::{HeaderMap, HeaderValue, Request, Response};
use tokio::net::{TcpListener, TcpStream};

use crate::Result;

/// The part of traces that a deployment samples, and the variables that say so.
const SAMPLING: [(&str, &str); 2] =
    [("OTEL_TRACES_SAMPLER", "parentbased_traceidratio"), ("OTEL_TRACES_SAMPLER_ARG", "0.01")];

/// Starts one, and says which variables make a server export to it: 1 % of its traces, and its metrics.
pub async fn start() -> Result<Vec<(&'static str, String)>> {
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
    let endpoint = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream));
        }
    });
    let sampling = SAMPLING.map(|(name, value)| (name, value.to_owned()));
    let to = ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint);
    let protocol = ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc".to_owned());
    Ok([to, protocol].into_iter().chain(sampling).collect())
}

async fn serve(stream: TcpStream) {
    let Ok(mut connection) = h2::server::handshake(stream).await else { return };
    while let Some(Ok((request, answer))) = connection.accept().await {
        tokio::spawn(take(request, answer));
    }
}

/// Reads a request to its end and says that all is well.
async fn take(request: Request<RecvStream>, mut answer: SendResponse<Bytes>) -> Option<()> {
    let mut body = request.into_body();
    while let Some(part) = body.data().await {
        body.flow_control().release_capacity(part.ok()?.len()).ok()?;
    }
    let head = Response::builder().header("content-type", "application/grpc").body(()).ok()?;
    let mut stream = answer.send_response(head, false).ok()?;
    // An empty message in its frame.
    stream.send_data(Bytes::from_static(&[0; 5]), false).ok()?;
    let status = HeaderMap::from_iter([("grpc-status".parse().ok()?, HeaderValue::from_static("0"))]);
    stream.send_trailers(status).ok()
}
