//! Signing in at the identity provider of a server: by the device grant, with a browser anywhere. The tokens are kept
//! in the user's folder of configuration, and presented to that server alone.
//!
//! Not here: the commands that sign in.

mod authorization_server;
mod current_token;
mod device_grant;
mod record;
mod resource;
mod token_answer;
mod token_store;
mod web;

use std::{fmt::Display, path::Path, sync::Arc};

use url::Url;

use self::{
    authorization_server::{AuthorizationServer, OFFLINE_ACCESS},
    current_token::CurrentToken,
    device_grant::{DeviceCode, NotBegun, Requested},
    record::{SignIn, seconds},
    resource::Resource,
    token_answer::Tokens,
    token_store::TokenStore,
    web::Web,
};
use crate::settings::as_flags;
use toolwire_base::clock;
use toolwire_identity::check_address;
use toolwire_server::{
    client::{ServerUrl, TokenSource},
    console::Failure,
};

/// What a person signs in for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request<'a> {
    /// The URL of the server over HTTP, such as that of MCP, or its address of gRPC.
    pub(super) url: &'a Url,
    /// The address that the token is presented to.
    pub(super) server: &'a ServerUrl,
    /// The name by which the issuer knows this program; otherwise it registers.
    pub(super) client_id: Option<&'a str>,
    /// The scopes, separated by spaces; otherwise those that the server names.
    pub(super) scope: Option<&'a str>,
    /// One of the issuers that the server names; otherwise the first that offers the grant.
    pub(super) issuer: Option<&'a str>,
    pub(super) ca: Option<&'a Path>,
}

/// The sign-in that is kept now.
#[derive(Debug)]
pub(super) struct SignedIn {
    pub(super) issuer: String,
    pub(super) scope: String,
}

impl Request<'_> {
    /// Waits until a person has signed in, and keeps the tokens.
    pub(super) async fn sign_in(self) -> Result<SignedIn, Failure> {
        let store = store()?;
        let server = origin(self.server)?;
        let web = Web::new(self.ca)?;
        let resource = Resource::discover(&web, self.url).await?;
        let issuer = AuthorizationServer::choose(&web, &resource.issuers, self.issuer).await?;
        let kept = store.lock(&server, &issuer.issuer, &resource.name).await?.read()?;
        let known = self.client_id.map(str::to_owned).or(kept.map(|it| it.client_id));
        let scope = self.scope.map_or_else(|| resource.scope.clone(), str::to_owned);
        let scope = with_refresh(&scope, &issuer);
        let (client_id, tokens) = self.grant(&web, &issuer, &resource, &scope, known).await?;
        let (now, Tokens { access, .. }) = (clock::wall(), &tokens);
        let sign_in = SignIn {
            server,
            issuer: issuer.issuer,
            resource: resource.name,
            url: resource.url,
            token_endpoint: issuer.token,
            client_id,
            scope,
            access_token: access.clone(),
            refresh_token: None,
            signed_in_at: seconds(now),
            issued_at: seconds(now),
            expires_at: None,
        };
        let sign_in = sign_in.with(tokens, now);
        let SignIn { server, issuer, resource, .. } = &sign_in;
        store.lock(server, issuer, resource).await?.keep(&sign_in)?;
        Ok(SignedIn { issuer: sign_in.issuer, scope: sign_in.scope })
    }

    /// The tokens that a person's sign-in gives, and the client that they are for. A client that registered itself
    /// earlier and is known no more registers again.
    async fn grant(
        &self,
        web: &Web,
        issuer: &AuthorizationServer,
        resource: &Resource,
        scope: &str,
        known: Option<String>,
    ) -> Result<(String, Tokens), Failure> {
        let mut is_new = known.is_none();
        let mut client_id = match known {
            Some(id) => id,
            None => issuer.register(web).await?,
        };
        loop {
            let requested = Requested { client_id: &client_id, resource: &resource.name, scope };
            match DeviceCode::request(web, issuer, requested).await {
                Ok(code) => {
                    code.show(&issuer.issuer);
                    let tokens = code.wait(web, issuer, requested).await?;
                    return Ok((client_id, tokens));
                }
                Err(NotBegun::Refused(error))
                    if error.code == "invalid_client" && !is_new && self.client_id.is_none() =>
                {
                    (client_id, is_new) = (issuer.register(web).await?, true);
                }
                Err(NotBegun::Refused(error)) => {
                    let what = format!("{} does not let anybody sign in from here: {error}", issuer.issuer);
                    return Err(Failure::Failed(what));
                }
                Err(NotBegun::NoAnswer(no_answer)) => return Err(no_answer.into()),
            }
        }
    }
}

/// The source of the token for a server, if a person has signed in for it.
pub(super) fn token_for(
    server: &ServerUrl,
    ca: Option<&Path>,
) -> Result<Option<Arc<dyn TokenSource>>, Failure> {
    let Some((store, sign_in)) = find(server)? else { return Ok(None) };
    Ok(Some(Arc::new(CurrentToken::new(store, Web::new(ca)?, sign_in))))
}

/// Where the person signed in for a server.
pub(super) fn url_for(server: &ServerUrl) -> Result<Option<Url>, Failure> {
    Ok(find(server)?.map(|(_, sign_in)| sign_in.url))
}

/// Whether a person has signed in for a server.
pub(super) fn is_kept_for(server: &ServerUrl) -> bool {
    matches!(url_for(server), Ok(Some(_)))
}

/// The command by which a person signs in for a server, as they did before or at the address of the server itself.
pub(super) fn command_for(server: &ServerUrl) -> String {
    match url_for(server) {
        Ok(Some(url)) => command(&url, server),
        _ => format!("toolwire login{}", as_flags(&[server.to_string()])),
    }
}

/// The command by which a person signs in at a URL, for commands with `--server`.
fn command(url: &Url, server: impl Display) -> String {
    format!("toolwire login{}", as_flags(&[url.to_string(), "--server".to_owned(), server.to_string()]))
}

/// Removes the tokens for a server, and those of sign-ins at the URL, and returns of how many sign-ins.
pub(super) async fn forget(server: &ServerUrl, url: &Url) -> Result<usize, Failure> {
    store()?.forget(&origin(server)?, url).await
}

fn find(server: &ServerUrl) -> Result<Option<(TokenStore, SignIn)>, Failure> {
    let Some(store) = TokenStore::of_user() else { return Ok(None) };
    // To an address that is none of these, no token is presented.
    let Ok(origin) = origin(server) else { return Ok(None) };
    Ok(store.find(&origin)?.map(|sign_in| (store, sign_in)))
}

fn store() -> Result<TokenStore, Failure> {
    let what = "there is no home directory to keep tokens in; set HOME or XDG_CONFIG_HOME";
    TokenStore::of_user().ok_or_else(|| Failure::Failed(what.to_owned()))
}

/// The scopes, and the one by which an issuer gives a refresh token.
fn with_refresh(scope: &str, issuer: &AuthorizationServer) -> String {
    if issuer.has_offline_access && !scope.split(' ').any(|it| it == OFFLINE_ACCESS) {
        return format!("{scope} {OFFLINE_ACCESS}").trim_start().to_owned();
    }
    scope.to_owned()
}

/// The origin of a server, which must be one that tokens may go to.
fn origin(server: &ServerUrl) -> Result<String, Failure> {
    let wrong = |why: String| Failure::Usage(format!("{server} {why}"));
    let url: Url = server.to_string().parse().map_err(|_| wrong("is no URL".to_owned()))?;
    check_address(&url).map_err(|why| wrong(why.to_string()))?;
    Ok(url.origin().ascii_serialization())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_go_to_origins_over_tls_or_on_this_machine() {
        let of = |server: &str| origin(&server.parse().unwrap()).map_err(|failure| failure.to_string());
        assert_eq!(of("https://Tools.example/mcp").unwrap(), "https://tools.example");
        assert_eq!(of("https://tools.example:443").unwrap(), "https://tools.example");
        assert_eq!(of("127.0.0.1:50051").unwrap(), "http://127.0.0.1:50051");
        assert!(of("http://tools.example").unwrap_err().contains("must be https://"));
        assert!(of("https://169.254.169.254").unwrap_err().contains("link-local"));
    }
}
