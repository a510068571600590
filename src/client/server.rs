//! A connection to a server: an HTTP/2 channel, with TLS for `https://`, and who asks over it.

use std::{error::Error, path::Path, time::Duration};

use secrecy::{ExposeSecret, SecretString};
use tokio::time::timeout;
use tonic::{
    Request,
    metadata::{AsciiMetadataValue, MetadataMap},
    transport::{Channel, Endpoint},
};
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

use super::{
    probe::{self, Answer},
    server_url::ServerUrl,
    tls,
};
use crate::{console::Failure, context::UserId};

/// How long a connection may take to come about.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How often a silent server is asked whether it lives, and how long its answer may take.
const KEEPALIVE: (Duration, Duration) = (Duration::from_secs(20), Duration::from_secs(10));

/// A server that a command is connected to, by the flags `--server`, `--token`, `--ca` and `--user`.
#[derive(Clone, Debug)]
pub struct Server {
    channel: Channel,
    metadata: MetadataMap,
}

/// Who calls.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    /// The bearer token.
    pub token: Option<SecretString>,
    /// The user, where the server needs no credentials.
    pub user: Option<UserId>,
}

impl Server {
    /// Connects to a server, over TLS for `https://`: trusting the authorities in `ca`, or else those of the platform.
    pub async fn connect(
        url: &ServerUrl,
        credentials: &Credentials,
        ca: Option<&Path>,
    ) -> Result<Self, Failure> {
        let metadata = metadata(credentials)?;
        let mut endpoint = Endpoint::from_shared(url.0.clone()).map_err(|error| unreachable(url, &error))?;
        if url.is_https() {
            endpoint = tls::add(endpoint, ca)?;
        }
        let channel = endpoint
            .connect_timeout(CONNECT_TIMEOUT)
            .http2_keep_alive_interval(KEEPALIVE.0)
            .keep_alive_timeout(KEEPALIVE.1)
            .connect()
            .await
            .map_err(|error| unreachable(url, &error))?;
        greet(url, channel.clone()).await?;
        Ok(Self { channel, metadata })
    }

    /// The connection, for a generated client.
    pub fn channel(&self) -> Channel {
        self.channel.clone()
    }

    /// A request that says who makes it.
    pub fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        *request.metadata_mut() = self.metadata.clone();
        request
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
    Ok(metadata)
}

/// Makes sure that something at the other end speaks gRPC, whatever it says: a connection alone does not tell.
async fn greet(url: &ServerUrl, channel: Channel) -> Result<(), Failure> {
    let mut client = HealthClient::new(channel);
    let answered = timeout(CONNECT_TIMEOUT, client.check(HealthCheckRequest::default())).await;
    match answered {
        // A status with a cause was made on this side: nothing that speaks gRPC has answered.
        Ok(Err(status)) if status.source().is_some() => Err(not_grpc(url).await),
        Ok(_) => Ok(()),
        Err(_) => Err(not_grpc(url).await),
    }
}

async fn not_grpc(url: &ServerUrl) -> Failure {
    let found = probe::what_answers(&url.0).await;
    if found == Answer::Tls && !url.is_https() {
        return Failure::Failed(format!("the server speaks TLS: use {}", tls::encrypted(url)));
    }
    let advice = "Name the address that `toolwire serve` prints, with --server or TOOLWIRE_SERVER";
    Failure::Failed(format!("no toolwire server at {}: {found}. {advice}", url.0))
}

fn unreachable(url: &ServerUrl, error: &(dyn Error + 'static)) -> Failure {
    if let Some(why) = tls::why(url, error) {
        return Failure::Failed(format!("cannot talk to {}: {why}", url.0));
    }
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let advice = "Is it running? Start it with `toolwire serve`, or name another with --server";
    Failure::Failed(format!("cannot reach {}: {cause}. {advice}", url.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_sent_as_a_sensitive_header() {
        let credentials = Credentials { token: Some("t0ken".into()), user: None };
        let metadata = metadata(&credentials).unwrap();
        let value = metadata.get("authorization").unwrap();
        assert!(value.is_sensitive());
        assert_eq!(value.to_str().unwrap(), "Bearer t0ken");
    }
}
