//! The flags that say which tools are meant: those of a server, or those of this very program.

use std::{convert::Infallible, str::FromStr};

use clap::Args;
use secrecy::SecretString;

use super::{
    backend::{Backend, Credentials, Local, Remote},
    failure::Failure,
    settings::Settings,
    wiring,
};
use crate::{
    config::{Client, Environment},
    context::{User, UserId},
    domain::Domain,
};

/// Which tools are meant.
#[derive(Clone, Debug, Args)]
pub(super) struct Connection {
    /// Asks the server at URL, such as http://127.0.0.1:50051; without it this program answers itself [env: TOOLWIRE_SERVER]
    #[arg(long, value_name = "URL", conflicts_with = "settings")]
    server: Option<ServerUrl>,
    /// Calls as this user, where the server needs no credentials
    #[arg(long, value_name = "NAME")]
    user: Option<UserId>,
    /// Presents this bearer token to the server [env: TOOLWIRE_TOKEN]
    #[arg(long, value_name = "TOKEN", value_parser = secret)]
    token: Option<SecretString>,
    #[command(flatten)]
    settings: Settings,
}

/// The address of a server, `http://host:port`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServerUrl(pub(super) String);

/// A text is no such address.
#[derive(Debug, thiserror::Error)]
#[error("expected http://HOST:PORT such as http://127.0.0.1:50051{}", .0)]
pub(super) struct InvalidUrl(&'static str);

impl Connection {
    /// The tools that are meant.
    pub(super) async fn open(&self, domains: &[Domain]) -> Result<Backend, Failure> {
        match self.server()? {
            Some(url) => Ok(Backend::Remote(Remote::connect(&url, &self.credentials()).await?)),
            None => Ok(Backend::Local(self.local(domains)?)),
        }
    }

    /// The server that is meant, for what a program cannot do by itself.
    pub(super) async fn remote(&self) -> Result<Remote, Failure> {
        match self.server()? {
            Some(url) => Remote::connect(&url, &self.credentials()).await,
            None => Err(usage("name the server: --server http://HOST:PORT, or TOOLWIRE_SERVER")),
        }
    }

    /// The server that is meant, if any. Whoever says where this program finds its own tools means those.
    fn server(&self) -> Result<Option<ServerUrl>, Failure> {
        if self.server.is_some() {
            return Ok(self.server.clone());
        }
        let configured = Client::from_environment(&Environment::read()).server;
        match configured.filter(|_| !self.settings.is_given()) {
            Some(text) => text
                .parse::<ServerUrl>()
                .map(Some)
                .map_err(|error| usage(&format!("TOOLWIRE_SERVER: {error}"))),
            None if self.token.is_some() => {
                Err(usage("a token is for a server: name it with --server or TOOLWIRE_SERVER"))
            }
            None => Ok(None),
        }
    }

    fn local(&self, domains: &[Domain]) -> Result<Local, Failure> {
        let config = self.settings.load(domains)?.config;
        let app = wiring::open(&config, domains)?;
        let user = self.user.clone().unwrap_or(config.data.default_user);
        Ok(Local { app, user: User::new(user), cap: config.server.deadline_cap })
    }

    fn credentials(&self) -> Credentials {
        let of_environment = || Client::from_environment(&Environment::read()).token;
        Credentials { token: self.token.clone().or_else(of_environment), user: self.user.clone() }
    }
}

fn usage(text: &str) -> Failure {
    Failure::Usage(text.to_owned())
}

impl FromStr for ServerUrl {
    type Err = InvalidUrl;

    fn from_str(text: &str) -> Result<Self, InvalidUrl> {
        if text.starts_with("https://") {
            return Err(InvalidUrl("; TLS is not spoken here yet, use a proxy that adds it"));
        }
        let url = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let uri: http::Uri = url.parse().map_err(|_| InvalidUrl(""))?;
        match (uri.scheme_str(), uri.host()) {
            (Some("http"), Some(host)) if !host.is_empty() => Ok(Self(url)),
            _ => Err(InvalidUrl("")),
        }
    }
}

#[allow(clippy::unnecessary_wraps, reason = "the form clap asks for")]
fn secret(text: &str) -> Result<SecretString, Infallible> {
    Ok(SecretString::from(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheme_may_be_left_out() {
        let url = |text: &str| text.parse::<ServerUrl>().map(|url| url.0).ok();
        assert_eq!(url("127.0.0.1:50051").as_deref(), Some("http://127.0.0.1:50051"));
        assert_eq!(url("http://tools:1").as_deref(), Some("http://tools:1"));
        for bad in ["", "ftp://x", "https://x", "http://", "a b"] {
            assert_eq!(url(bad), None, "{bad:?}");
        }
    }
}
