//! The flags that select the tools: those of a server, or those of the program itself.

use std::{convert::Infallible, path::PathBuf};

use clap::Args;
use secrecy::SecretString;

use super::{
    backend::Backend,
    settings::{self, Settings},
    wiring,
};
use toolwire_config::{Client, Environment};
use toolwire_server::{
    client::{Credentials, Server, ServerUrl},
    console::Failure,
    domain::Domain,
};
use toolwire_tool::context::{User, UserId};

/// Selects the tools.
#[derive(Clone, Debug, Args)]
pub(super) struct Connection {
    /// Asks the server at URL, http:// or https://HOST:PORT; without it this program answers itself [env:
    /// TOOLWIRE_SERVER]
    #[arg(long, value_name = "URL", conflicts_with = "settings")]
    server: Option<ServerUrl>,
    /// Calls as this user, where the server needs no credentials
    #[arg(long, value_name = "NAME")]
    user: Option<UserId>,
    /// Presents this bearer token to the server [env: TOOLWIRE_TOKEN]
    #[arg(long, value_name = "TOKEN", value_parser = secret)]
    token: Option<SecretString>,
    /// Trusts the authorities in this PEM file for https:// [default: the platform's] [env: TOOLWIRE_CA]
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
}

impl Connection {
    /// The selected tools.
    pub(super) async fn open(&self, domains: &[Domain]) -> Result<Backend, Failure> {
        match self.url()? {
            Some(url) => Ok(Backend::of_server(self.connect(&url).await?)),
            None => self.own(domains),
        }
    }

    /// The same, with the state at hand where this program answers by itself.
    pub(super) async fn open_with_state(&self, domains: &[Domain]) -> Result<Backend, Failure> {
        let backend = self.open(domains).await?;
        backend.open_state().await?;
        Ok(backend)
    }

    /// The flags by which another command finds the same, each after a space. Never a token.
    pub(super) fn to_flags(&self) -> String {
        let server = settings::flag("server", self.server.as_ref().map(ToString::to_string));
        let ca = settings::flag("ca", self.ca.as_ref().map(|path| path.display().to_string()));
        let user = settings::flag("user", self.user.as_ref().map(ToString::to_string));
        [server, ca, self.settings.to_flags(), user].concat()
    }

    /// The tools of the selected server, for commands that need one.
    pub(super) async fn remote(&self) -> Result<Backend, Failure> {
        self.server().await.map(Backend::of_server)
    }

    /// The selected server.
    pub(super) async fn server(&self) -> Result<Server, Failure> {
        match self.url()? {
            Some(url) => self.connect(&url).await,
            None => Err(usage("name the server: --server http://HOST:PORT, or TOOLWIRE_SERVER")),
        }
    }

    /// The address of the server, if one is given. Flags for this program's own tools take precedence over the
    /// environment.
    fn url(&self) -> Result<Option<ServerUrl>, Failure> {
        if self.server.is_some() {
            return Ok(self.server.clone());
        }
        let configured = Client::from_environment(&Environment::read()).server;
        match configured.filter(|_| !self.settings.is_given()) {
            Some(text) => text
                .parse::<ServerUrl>()
                .map(Some)
                .map_err(|error| usage(&format!("TOOLWIRE_SERVER: {error}"))),
            None if self.token.is_some() || self.ca.is_some() => {
                Err(usage("a token or a CA is for a server: name it with --server or TOOLWIRE_SERVER"))
            }
            None => Ok(None),
        }
    }

    fn own(&self, domains: &[Domain]) -> Result<Backend, Failure> {
        let config = self.settings.load(domains)?.config;
        let app = wiring::open(&config, domains)?;
        let user = self.user.clone().unwrap_or(config.data.default_user);
        Ok(Backend::of_program(app, User::new(user), config.server.deadline_cap))
    }

    async fn connect(&self, url: &ServerUrl) -> Result<Server, Failure> {
        if self.ca.is_some() && !url.is_https() {
            return Err(usage("--ca is for a server that speaks TLS: --server https://HOST:PORT"));
        }
        let Client { token, ca, .. } = Client::from_environment(&Environment::read());
        let credentials = Credentials { token: self.token.clone().or(token), user: self.user.clone() };
        Server::connect(url, &credentials, self.ca.as_deref().or(ca.as_deref())).await
    }
}

#[allow(clippy::unnecessary_wraps, reason = "the form clap asks for")]
fn secret(text: &str) -> Result<SecretString, Infallible> {
    Ok(SecretString::from(text))
}

fn usage(text: &str) -> Failure {
    Failure::Usage(text.to_owned())
}
