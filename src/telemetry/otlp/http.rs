//! The HTTP client of `http/protobuf`: reqwest on the runtime of the calls.
//!
//! The exporters run on threads of their own, without a runtime; this client sends
//! their requests on the runtime of the calls.

use bytes::Bytes;
use http::{Request, Response};
use opentelemetry_http::{HttpClient, HttpError};
use tokio::runtime::Handle;

/// Sends requests to the collector.
#[derive(Debug)]
pub(super) struct Client {
    client: reqwest::Client,
    runtime: Handle,
}

impl Client {
    /// Sends by this client. Within a Tokio runtime.
    pub(super) fn new(client: reqwest::Client) -> Self {
        Self { client, runtime: Handle::current() }
    }
}

#[tonic::async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let sent = self.runtime.spawn(send(self.client.clone(), request));
        // Without the URL, whose user or query may hold a secret.
        Ok(sent.await?.map_err(reqwest::Error::without_url)?)
    }
}

async fn send(client: reqwest::Client, request: Request<Bytes>) -> reqwest::Result<Response<Bytes>> {
    let mut received = client.execute(request.try_into()?).await?;
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = received.status();
    *response.headers_mut() = std::mem::take(received.headers_mut());
    // The first chunk alone: it holds a report of partial success, and the rest may be of any size.
    *response.body_mut() = received.chunk().await?.unwrap_or_default();
    Ok(response)
}
