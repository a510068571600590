//! The connections of gRPC clients, which tonic does not make by a proxy: directly, or through a tunnel.
//!
//! Not here: TLS, which tonic speaks over them.

use std::{
    error::Error,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use http::{Uri, uri::Authority};
use hyper_util::{
    client::{
        legacy::connect::{HttpConnector, proxy::Tunnel},
        proxy::matcher::Intercept,
    },
    rt::TokioIo,
};
use tokio::net::TcpStream;
use tower::{Service, ServiceExt};

use crate::{causes::in_words, proxy::Proxy, resolver::Lookup};

type BoxError = Box<dyn Error + Send + Sync>;
type Connecting = Pin<Box<dyn Future<Output = Result<TokioIo<TcpStream>, BoxError>> + Send>>;

/// Makes connections for a gRPC client. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Connector {
    tcp: HttpConnector<Lookup>,
    proxy: Option<Arc<Proxy>>,
}

/// The proxy opened no tunnel.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
struct NoTunnel {
    what: String,
    source: Option<BoxError>,
}

impl Connector {
    pub(crate) fn new(proxy: Option<Arc<Proxy>>) -> Self {
        let mut tcp = HttpConnector::new_with_resolver(Lookup);
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        Self { tcp, proxy }
    }
}

impl Service<Uri> for Connector {
    type Response = TokioIo<TcpStream>;
    type Error = BoxError;
    type Future = Connecting;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.tcp.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Connecting {
        let tcp = self.tcp.clone();
        match self.proxy.as_ref().and_then(|proxy| proxy.intercept(&uri)) {
            None => Box::pin(async move { Ok(tcp.oneshot(uri).await?) }),
            Some(proxy) => Box::pin(tunnel(tcp, proxy, uri)),
        }
    }
}

async fn tunnel(
    tcp: HttpConnector<Lookup>,
    proxy: Intercept,
    uri: Uri,
) -> Result<TokioIo<TcpStream>, BoxError> {
    let tunnel = Tunnel::new(proxy.uri().clone(), tcp);
    let tunnel = match proxy.basic_auth() {
        Some(credentials) => tunnel.with_auth(credentials.clone()),
        None => tunnel,
    };
    tunnel.oneshot(with_port(uri)?).await.map_err(|error| {
        let source = error.source().map(|cause| cause.to_string().into());
        NoTunnel { what: in_words(&error.to_string()), source }.into()
    })
}

/// The same address with its port, since a tunnel takes that of https where there is none.
fn with_port(uri: Uri) -> Result<Uri, http::Error> {
    let Some(host) = uri.host().filter(|_| uri.port().is_none() && uri.scheme_str() == Some("http")) else {
        return Ok(uri);
    };
    let authority: Authority = format!("{host}:80").parse()?;
    let mut parts = uri.into_parts();
    parts.authority = Some(authority);
    Ok(Uri::from_parts(parts)?)
}
