//! `toolwire login`: signs a person in for a server, so that other commands present the token.

use std::path::PathBuf;

use clap::Args;
use url::Url;

use super::sign_in::{self, Request};
use toolwire_config::{Client, Environment};
use toolwire_server::{
    client::{Server, ServerUrl},
    console::{self, Failure},
};

/// Signs you in at the identity provider of a server, with a browser anywhere, and keeps the token for that server
#[derive(Debug, Args)]
pub(super) struct Login {
    /// The server's URL for MCP, https://HOST/mcp, or its address for --server
    #[arg(value_name = "URL")]
    url: Url,
    /// The address that other commands name by --server [default: TOOLWIRE_SERVER if it has the same host, or else what
    /// the server at URL says]
    #[arg(long, value_name = "URL")]
    server: Option<ServerUrl>,
    /// The name by which the identity provider knows this program [default: one that it registers] [env:
    /// TOOLWIRE_CLIENT_ID]
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,
    /// Requests these scopes, separated by spaces [default: those that the server names]
    #[arg(long, value_name = "SCOPES")]
    scope: Option<String>,
    /// Signs in at this one of the identity providers that the server names [default: the first that offers it]
    #[arg(long, value_name = "URL")]
    issuer: Option<String>,
    /// Trusts the authorities in this PEM file beside the platform's [env: TOOLWIRE_CA]
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Removes what is kept for the server, and of sign-ins at URL, instead
    #[arg(long, conflicts_with_all = ["client_id", "scope", "issuer", "ca"])]
    forget: bool,
}

impl Login {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let client = Client::from_environment(&Environment::read());
        let ca = self.ca.as_deref().or(client.ca.as_deref());
        let mut server = self.server(client.server.as_deref())?;
        if self.forget {
            let count = sign_in::forget(&server, &self.url).await?;
            return console::print(&format!("{count} removed for {} and {server}", self.url));
        }
        // A server says which port speaks gRPC; one that does not say it is known by its URL.
        if self.server.is_none()
            && let Ok(Some(grpc)) = Server::grpc_address(&server, ca).await
        {
            server = grpc;
        }
        let signed_in = Request {
            url: &self.url,
            server: &server,
            client_id: self.client_id.as_deref().or(client.client_id.as_deref()),
            scope: self.scope.as_deref(),
            issuer: self.issuer.as_deref(),
            ca,
        };
        let signed_in = signed_in.sign_in().await?;
        let scope =
            if signed_in.scope.is_empty() { String::new() } else { format!(", for {}", signed_in.scope) };
        console::print(&format!(
            "signed in at {}{scope}; commands with --server {server} are yours",
            signed_in.issuer
        ))
    }

    /// The address that the token is for. That of the environment may be of another server, which must not get it.
    fn server(&self, of_environment: Option<&str>) -> Result<ServerUrl, Failure> {
        if let Some(server) = &self.server {
            return Ok(server.clone());
        }
        let host = |text: &str| text.parse::<Url>().ok().and_then(|url| url.host_str().map(str::to_owned));
        let known = of_environment.and_then(|text| text.parse::<ServerUrl>().ok());
        let same = known.filter(|it| host(&it.to_string()) == host(self.url.as_str()));
        let own = || self.url.origin().ascii_serialization().parse();
        same.map_or_else(own, Ok).map_err(|error| Failure::Usage(format!("URL: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        login: Login,
    }

    #[test]
    fn the_token_is_for_the_server_of_the_url_whatever_the_environment_names() {
        let of = |line: &str, environment: Option<&str>| {
            let login = Line::try_parse_from(line.split(' ')).unwrap().login;
            login.server(environment).map(|server| server.to_string()).unwrap()
        };
        let url = "login https://tools.example/mcp";
        assert_eq!(of(url, None), "https://tools.example");
        assert_eq!(of(url, Some("https://tools.example:50051")), "https://tools.example:50051");
        assert_eq!(of(url, Some("http://127.0.0.1:50051")), "https://tools.example");
        let named = format!("{url} --server https://grpc.example");
        assert_eq!(of(&named, Some("https://tools.example:50051")), "https://grpc.example");
    }
}
