//! Where the requests of a command go, and with which identity: to a server, over an HTTP/2 channel with TLS for
//! `https://`, or to the services of its own process.

use std::{
    path::Path,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures_util::{FutureExt, TryFutureExt, future::BoxFuture};
use http::{HeaderMap, HeaderValue, Request, Response, header::AUTHORIZATION};
use secrecy::{ExposeSecret, SecretString};
use tokio::time::timeout;
use tonic::{
    body::Body,
    metadata::{AsciiMetadataValue, MetadataMap},
    transport::{Channel, Endpoint},
};
use tower::{BoxError, ServiceExt};

use super::{
    reach::{CONNECT_TIMEOUT, Spoken, at_http_port, check_grpc, unanswered, unreachable},
    server_url::ServerUrl,
    sign_in, tls,
    token_source::TokenSource,
};
use crate::{
    console::Failure,
    faces::{grpc::Routes, incoming},
};
use toolwire_mcp::server::Via;
use toolwire_tool::context::{Origin, ToolsetName, User, UserId};
use toolwire_transport::toolset;

/// The interval of keep-alive pings to a silent server, and the time-out of each.
const KEEPALIVE: (Duration, Duration) = (Duration::from_secs(20), Duration::from_secs(10));

/// The transport of a command's requests, for generated clients. It adds the caller's identity to each. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Server(Transport);

#[derive(Clone, Debug)]
enum Transport {
    /// To a server, by the flags `--server`, `--token`, `--ca` and `--user`.
    Connected {
        channel: Channel,
        credentials: HeaderMap,
        tokens: Option<Arc<dyn TokenSource>>,
        /// The command by which a person signs in.
        login: Option<Arc<str>>,
    },
    /// To the services of this program, on behalf of this user. `cap` bounds every call and turn, and records name the
    /// face.
    Within { routes: Routes, user: User, cap: Duration, face: &'static str },
}

#[derive(Clone, Debug, Default)]
pub struct Credentials {
    pub token: Option<SecretString>,
    /// What has the token of each request, in place of one that stays.
    pub tokens: Option<Arc<dyn TokenSource>>,
    /// The command by which a person signs in, which refusals name.
    pub login: Option<String>,
    /// The user, where the server needs no credentials.
    pub user: Option<UserId>,
    /// The toolset to which every request is narrowed.
    pub toolset: Option<ToolsetName>,
}

impl Server {
    /// Connects to a server, over TLS for `https://`: trusting the authorities in `ca`, or else those of the platform.
    pub async fn connect(
        url: &ServerUrl,
        credentials: &Credentials,
        ca: Option<&Path>,
    ) -> Result<Self, Failure> {
        let metadata = metadata(credentials)?;
        let channel = Self::open(url, ca).await?;
        if let Spoken::At(port) = check_grpc(url, channel.clone()).await? {
            return Err(at_http_port(url, port));
        }
        let (tokens, login) = (credentials.tokens.clone(), credentials.login.as_deref().map(Arc::from));
        Ok(Self(Transport::Connected { channel, credentials: metadata.into_headers(), tokens, login }))
    }

    /// Where the server at this address speaks gRPC: there, or at the port that its HTTP port names.
    pub async fn grpc_address(url: &ServerUrl, ca: Option<&Path>) -> Result<Option<ServerUrl>, Failure> {
        match check_grpc(url, Self::open(url, ca).await?).await? {
            Spoken::Here => Ok(Some(url.clone())),
            Spoken::At(port) => {
                let Some(other) = port.and_then(|port| url.at(port)) else { return Ok(None) };
                let spoken = check_grpc(&other, Self::open(&other, ca).await?).await?;
                Ok(matches!(spoken, Spoken::Here).then_some(other))
            }
        }
    }

    async fn open(url: &ServerUrl, ca: Option<&Path>) -> Result<Channel, Failure> {
        let mut endpoint = Endpoint::from_shared(url.0.clone()).map_err(|error| unreachable(url, &error))?;
        if url.is_https() {
            endpoint = tls::add(endpoint, ca)?;
        }
        let endpoint = endpoint
            .connect_timeout(CONNECT_TIMEOUT)
            .http2_keep_alive_interval(KEEPALIVE.0)
            .keep_alive_timeout(KEEPALIVE.1);
        // The endpoint does not bound the TLS handshake.
        match timeout(CONNECT_TIMEOUT, endpoint.connect()).await {
            Ok(connected) => connected.map_err(|error| unreachable(url, &error)),
            Err(_) => Err(unanswered(url, None).await),
        }
    }

    /// A transport to the services of this program, on behalf of this user. `cap` bounds every call and turn.
    pub fn within(routes: Routes, user: User, cap: Duration) -> Self {
        Self(Transport::Within { routes, user, cap, face: Origin::PROCESS.face })
    }

    /// The same, by the name of another face in the records of this program's own services.
    #[must_use]
    pub fn by_face(mut self, name: &'static str) -> Self {
        if let Transport::Within { face, .. } = &mut self.0 {
            *face = name;
        }
        self
    }
}

impl tower::Service<Request<Body>> for Server {
    type Response = Response<Body>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Response<Body>, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        match &mut self.0 {
            Transport::Connected { channel, tokens: None, .. } => channel.poll_ready(cx).map_err(Into::into),
            Transport::Connected { .. } | Transport::Within { .. } => Poll::Ready(Ok(())),
        }
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        match &mut self.0 {
            Transport::Connected { channel, credentials, tokens, login } => {
                request.headers_mut().extend(credentials.clone());
                if let Some(Via(face)) = request.extensions().get::<Via>().copied() {
                    request.headers_mut().insert(incoming::VIA, HeaderValue::from_static(face));
                }
                let login = login.clone();
                let say = move |response: Response<Body>| sign_in::add_to(response, login.as_deref());
                match tokens {
                    None => channel.call(request).map_err(Into::into).map_ok(say).boxed(),
                    Some(tokens) => {
                        with_token(request, Arc::clone(tokens), channel.clone()).map_ok(say).boxed()
                    }
                }
            }
            Transport::Within { routes, user, cap, face } => {
                let face = request.extensions().get::<Via>().map_or(*face, |Via(face)| face);
                incoming::enter(&mut request, user.clone(), *cap, face);
                routes.call(request).map_err(|never| match never {}).boxed()
            }
        }
    }
}

/// Sends a request with the token of now. Without one it is answered here.
async fn with_token(
    mut request: Request<Body>,
    tokens: Arc<dyn TokenSource>,
    channel: Channel,
) -> Result<Response<Body>, BoxError> {
    match tokens.token().await {
        Ok(token) => {
            let mut value = HeaderValue::try_from(format!("Bearer {}", token.expose_secret()))?;
            value.set_sensitive(true);
            request.headers_mut().insert(AUTHORIZATION, value);
            Ok(channel.oneshot(request).await?)
        }
        Err(status) => Ok(status.into_http()),
    }
}

fn metadata(credentials: &Credentials) -> Result<MetadataMap, Failure> {
    let mut metadata = MetadataMap::new();
    if let Some(token) = &credentials.token {
        let bearer = format!("Bearer {}", token.expose_secret());
        let usage = |_| Failure::Usage("the token must be visible ASCII characters; check it".to_owned());
        let mut value: AsciiMetadataValue = bearer.parse().map_err(usage)?;
        value.set_sensitive(true);
        metadata.insert("authorization", value);
    }
    if let Some(user) = &credentials.user {
        let value = user.as_str().parse().expect("a user id is visible ASCII");
        metadata.insert("x-toolwire-user", value);
    }
    if let Some(toolset) = &credentials.toolset {
        let value = toolset.as_str().parse().expect("the name of a toolset is visible ASCII");
        metadata.insert(toolset::NAME, value);
    }
    Ok(metadata)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_sent_as_a_sensitive_header() {
        let credentials = Credentials { token: Some("t0ken".into()), ..Credentials::default() };
        let metadata = metadata(&credentials).unwrap();
        let value = metadata.get("authorization").unwrap();
        assert!(value.is_sensitive());
        assert_eq!(value.to_str().unwrap(), "Bearer t0ken");
    }
}
