//! The credentials of a session over standard input and output: a token that is given or kept, or one that a
//! person signs in for.

use tonic::Code;
use url::Url;

use crate::{
    connection::Connection,
    sign_in::{self, Request},
};
use toolwire_config::{Client, Environment};
use toolwire_contract::proto::v1::{GetLimitsRequest, tool_service_client::ToolServiceClient};
use toolwire_server::{
    client::Server,
    console::{self, Failure},
};

/// Connects to the server. If it wants credentials and none are given or kept, a person signs in first; where that
/// fails the client is served without.
pub(super) async fn connect(
    connection: &Connection,
    login: Option<&Url>,
    client_id: Option<&str>,
) -> Result<Server, Failure> {
    let server = connection.server().await?;
    if connection.gives_identity() || !wants_credentials(&server).await {
        return Ok(server);
    }
    match ask_person(connection, login, client_id).await {
        Ok(()) => connection.server().await,
        Err(failure) => {
            console::say(&format!("warning: nobody is signed in: {failure}"));
            Ok(server)
        }
    }
}

async fn wants_credentials(server: &Server) -> bool {
    let answer = ToolServiceClient::new(server.clone()).get_limits(GetLimitsRequest::default()).await;
    answer.is_err_and(|status| status.code() == Code::Unauthenticated)
}

async fn ask_person(
    connection: &Connection,
    login: Option<&Url>,
    client_id: Option<&str>,
) -> Result<(), Failure> {
    let Some(server) = connection.url()? else { return Ok(()) };
    let client = Client::from_environment(&Environment::read());
    let url = match login.cloned().or(sign_in::url_for(&server)?) {
        Some(url) => url,
        None => server.to_string().parse().map_err(|_| Failure::Usage(format!("{server} is no URL")))?,
    };
    let request = Request {
        url: &url,
        server: &server,
        client_id: client_id.or(client.client_id.as_deref()),
        scope: None,
        issuer: None,
        ca: connection.ca().or(client.ca.as_deref()),
    };
    let signed_in = request.sign_in().await?;
    console::say(&format!("signed in at {}", signed_in.issuer));
    Ok(())
}
