//! An authorization server by its metadata (RFC 8414, or OpenID Connect Discovery), and this program as a client that
//! it registers (RFC 7591).

use std::fmt::Write;

use reqwest::StatusCode;
use serde_json::{Value, json};
use url::Url;

use super::web::{Web, may_lead};
use toolwire_server::console::Failure;

const OAUTH: &str = "/.well-known/oauth-authorization-server";
const OPENID: &str = "/.well-known/openid-configuration";
/// The grant that needs no browser on this machine (RFC 8628).
pub(super) const DEVICE_CODE: &str = "urn:ietf:params:oauth:grant-type:device_code";
pub(super) const REFRESH_TOKEN: &str = "refresh_token";
/// The scope by which a refresh token is requested.
pub(super) const OFFLINE_ACCESS: &str = "offline_access";

/// An authorization server that offers the device grant.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AuthorizationServer {
    pub(super) issuer: String,
    pub(super) device_authorization: Url,
    pub(super) token: Url,
    registration: Option<Url>,
    /// Whether refresh tokens are requested by a scope.
    pub(super) has_offline_access: bool,
}

impl AuthorizationServer {
    /// The first of the issuers that offers the device grant, or the one that is wanted.
    pub(super) async fn choose(web: &Web, issuers: &[String], wanted: Option<&str>) -> Result<Self, Failure> {
        let fitting: Vec<_> = issuers.iter().filter(|it| wanted.is_none_or(|wanted| wanted == *it)).collect();
        if fitting.is_empty() {
            let known = issuers.join(", ");
            return Err(Failure::Usage(format!("--issuer must be one that the server names: {known}")));
        }
        let mut why = "nobody can sign in from here".to_owned();
        for issuer in fitting {
            match Self::discover(web, issuer).await {
                Ok(server) => return Ok(server),
                Err(what) => {
                    let _ = write!(why, "\n  {issuer}: {what}");
                }
            }
        }
        Err(Failure::Failed(why))
    }

    async fn discover(web: &Web, issuer: &str) -> Result<Self, String> {
        let base: Url = issuer.parse().map_err(|_| "it is no URL".to_owned())?;
        let mut what = String::new();
        for url in metadata_of(&base) {
            let answer = web.get(&url).await.map_err(|no_answer| no_answer.what)?;
            if answer.status == StatusCode::OK {
                return Self::read(issuer, &base, &answer.body);
            }
            what = format!("{url} answers {}", answer.status);
            if !answer.status.is_client_error() {
                break;
            }
        }
        Err(what)
    }

    fn read(issuer: &str, base: &Url, metadata: &Value) -> Result<Self, String> {
        let found = metadata["issuer"].as_str().unwrap_or_default();
        if found != issuer {
            return Err(format!("its metadata are of the issuer {found:?}"));
        }
        let url = |name: &str| {
            let url: Option<Url> = metadata[name].as_str().and_then(|it| it.parse().ok());
            url.filter(|url| may_lead(base, url))
        };
        let (token, device_authorization) = (url("token_endpoint"), url("device_authorization_endpoint"));
        let mut scopes = metadata["scopes_supported"].as_array().into_iter().flatten();
        Ok(Self {
            issuer: issuer.to_owned(),
            device_authorization: device_authorization
                .ok_or("it does not offer the device grant (RFC 8628): present a token by --token-file")?,
            token: token.ok_or("its metadata name no token endpoint")?,
            registration: url("registration_endpoint"),
            has_offline_access: scopes.any(|it| it == OFFLINE_ACCESS),
        })
    }

    /// Registers this program, and returns its name as a client.
    pub(super) async fn register(&self, web: &Web) -> Result<String, Failure> {
        let Some(url) = &self.registration else {
            return Err(Failure::Usage(format!(
                "{} registers no clients by itself: give the name under which it knows this program by --client-id or \
                 TOOLWIRE_CLIENT_ID",
                self.issuer
            )));
        };
        let client = json!({
            "client_name": "toolwire",
            "application_type": "native",
            "grant_types": [DEVICE_CODE, REFRESH_TOKEN],
            "response_types": [],
            "redirect_uris": [],
            "token_endpoint_auth_method": "none",
        });
        let answer = web.post_json(url, &client).await?;
        if let Some(id) = answer.body["client_id"].as_str().filter(|_| answer.status.is_success()) {
            return Ok(id.to_owned());
        }
        let why = answer.body["error_description"].as_str().or(answer.body["error"].as_str());
        let why = why.unwrap_or_default();
        Err(Failure::Failed(format!(
            "{} does not register this program ({} {why}): have its operator do so, and give the name by \
             --client-id or TOOLWIRE_CLIENT_ID",
            self.issuer, answer.status
        )))
    }
}

/// Where the metadata may be, in the order in which clients of MCP look.
fn metadata_of(issuer: &Url) -> Vec<Url> {
    let path = issuer.path().trim_end_matches('/');
    let mut paths = vec![format!("{OAUTH}{path}"), format!("{OPENID}{path}"), format!("{path}{OPENID}")];
    paths.dedup();
    let at = |path: String| {
        let mut url = issuer.clone();
        url.set_path(&path);
        url.set_query(None);
        url
    };
    paths.into_iter().map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISSUER: &str = "https://login.example/realms/corp";

    #[test]
    fn metadata_are_looked_for_beside_the_path_and_below_it() {
        let of = |issuer: &str| {
            metadata_of(&issuer.parse().unwrap()).iter().map(Url::to_string).collect::<Vec<_>>()
        };
        assert_eq!(
            of(ISSUER),
            [
                "https://login.example/.well-known/oauth-authorization-server/realms/corp",
                "https://login.example/.well-known/openid-configuration/realms/corp",
                "https://login.example/realms/corp/.well-known/openid-configuration",
            ]
        );
        assert_eq!(of("https://login.example/").len(), 2);
    }

    #[test]
    fn metadata_of_another_issuer_or_without_the_device_grant_are_refused() {
        let metadata = |name: &str, value: Value| {
            let mut metadata = json!({"issuer": ISSUER, "token_endpoint": "https://login.example/token",
                                      "device_authorization_endpoint": "https://login.example/device",
                                      "scopes_supported": ["openid", "offline_access"]});
            metadata[name] = value;
            AuthorizationServer::read(ISSUER, &ISSUER.parse().unwrap(), &metadata)
        };
        assert!(metadata("a", Value::Null).unwrap().has_offline_access);
        for (name, value, words) in [
            ("issuer", json!("https://login.example"), "of the issuer"),
            ("device_authorization_endpoint", Value::Null, "does not offer the device grant"),
            ("device_authorization_endpoint", json!("http://login.example/device"), "does not offer"),
            ("token_endpoint", json!("http://localhost/token"), "no token endpoint"),
        ] {
            assert!(metadata(name, value).unwrap_err().contains(words), "{name}");
        }
    }
}
