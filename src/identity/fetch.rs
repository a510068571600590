//! Fetching the keys of a signer: from its JSON Web Key Set, wherever that is, or from a file.
//!
//! Not here: when to fetch, and for how long keys are used.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use reqwest::{StatusCode, header::ACCEPT};
use serde_json::Value;
use url::Url;

use crate::{
    KeySource, Signer, TokenSettings,
    address::{AddressError, Origin, check_address},
    jwk::{KeySet, KeySetError, KeyUse},
};
use toolwire_contract::json;
use toolwire_outgoing::{Authorities, Egress, PemError, Trust, causes_of, is_of_unknown_authority};

/// The longest answer, in bytes.
const MAX_ANSWER: usize = 256 * 1_024;
const OPENID: &str = ".well-known/openid-configuration";
const OAUTH: &str = "/.well-known/oauth-authorization-server";

/// Why keys were not fetched, for the operator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FetchError {
    #[error("no answer within 5 s")]
    TimedOut,
    #[error("{url}: {why}")]
    Address { url: Url, why: AddressError },
    #[error("{url} cannot be reached: {why}")]
    Network { url: Url, why: String },
    #[error("{url} answered {status}")]
    Status { url: Url, status: StatusCode },
    #[error("{url} answered {status}, and redirects are not followed")]
    Redirect { url: Url, status: StatusCode },
    #[error("{at} is longer than 256 KiB")]
    TooLong { at: String },
    #[error("{at} is no JSON: {why}")]
    NotJson { at: String, why: String },
    #[error("{url} is of the issuer {found:?} and not of {configured:?}")]
    OtherIssuer { url: Box<Url>, found: String, configured: String },
    #[error("{url} names no address `jwks_uri` of keys")]
    NoKeys { url: Url },
    #[error("{at}: {why}")]
    Keys { at: String, why: KeySetError },
    #[error("{} cannot be read: {why}", .path.display())]
    File { path: PathBuf, why: String },
    #[error("{} {why}", .path.display())]
    Authorities { path: PathBuf, why: PemError },
}

/// What was fetched of a signer.
#[derive(Debug)]
pub(crate) struct Fetched {
    pub(crate) keys: KeySet,
    /// The origin of the token endpoint that the metadata name.
    pub(crate) token_origin: Option<Origin>,
}

/// Fetches the keys once, without a bound on the time.
pub(crate) async fn keys(signer: &Signer, egress: &Egress) -> Result<Fetched, FetchError> {
    let tokens = signer.tokens();
    let (at, set, token_origin) = match &tokens.keys {
        KeySource::File(path) => (path.display().to_string(), read_json(path.clone()).await?, None),
        KeySource::Url(url) => {
            (url.to_string(), Client::of(tokens, egress, url).await?.get(url).await?, None)
        }
        KeySource::Discovery(base) => {
            let client = Client::of(tokens, egress, base).await?;
            let Metadata { keys: url, token_origin } =
                client.discover(signer.issuer().unwrap_or_default(), base).await?;
            (url.to_string(), client.get(&url).await?, token_origin)
        }
    };
    let keys = KeySet::read(&set, signer.key_use()).map_err(|why| FetchError::Keys { at, why })?;
    Ok(Fetched { keys, token_origin })
}

/// Reads the file of keys for this use, if they are in one, so that a mistake is reported before the server runs.
pub fn check_file(keys: &KeySource, key_use: KeyUse) -> Result<(), String> {
    let KeySource::File(path) = keys else { return Ok(()) };
    let at = path.display().to_string();
    let set = read(path).and_then(|bytes| parse(&bytes, &at)).map_err(|why| why.to_string())?;
    KeySet::read(&set, key_use).map(drop).map_err(|why| format!("{at}: {why}"))
}

/// Why there is no answer, and what to do where the certificate is of an authority that is not trusted.
fn why(error: &reqwest::Error) -> String {
    let causes = causes_of(error);
    if is_of_unknown_authority(error) {
        return format!("{causes}; name the authority's certificate by ca of the issuer, or ca of [network]");
    }
    causes
}

/// The metadata of an issuer, as far as they are used.
struct Metadata {
    keys: Url,
    /// Absent where no token endpoint is named, or one that browsers must not be sent to.
    token_origin: Option<Origin>,
}

/// A client for one fetch: certificates and tokens are read again, since they are replaced while the server runs.
struct Client {
    http: reqwest::Client,
    bearer: Option<String>,
    /// Where the configuration leads, which alone receives the bearer token.
    configured: Url,
}

impl Client {
    async fn of(tokens: &TokenSettings, egress: &Egress, configured: &Url) -> Result<Self, FetchError> {
        let (ca, bearer, egress) = (tokens.ca.clone(), tokens.bearer_file.clone(), egress.clone());
        let is_secure = configured.scheme() == "https";
        // The authorities of the system are many files.
        let opened = tokio::task::spawn_blocking(move || -> Result<_, FetchError> {
            let trust = match ca {
                Some(path) => Authorities::read(&path)
                    .map(Trust::Only)
                    .map_err(|why| FetchError::Authorities { path, why })?,
                None => Trust::for_secure(is_secure),
            };
            let bearer = bearer.map(|path| read_text(&path)).transpose()?;
            Ok((egress.builder(trust).build(), bearer))
        });
        let (http, bearer) = opened.await.expect("reading files does not panic")?;
        let network =
            |error: &reqwest::Error| FetchError::Network { url: configured.clone(), why: why(error) };
        let http = http.map_err(|error| network(&error))?;
        Ok(Self { http, bearer: bearer.map(|it| it.trim().to_owned()), configured: configured.clone() })
    }

    /// The metadata of the issuer. A token endpoint that is lacking or refused costs no keys.
    async fn discover(&self, issuer: &str, base: &Url) -> Result<Metadata, FetchError> {
        let mut found = Err(FetchError::NoKeys { url: base.clone() });
        for url in metadata_of(base) {
            found = self.get(&url).await.map(|metadata| (url, metadata));
            if !matches!(found, Err(FetchError::Status { status: StatusCode::NOT_FOUND, .. })) {
                break;
            }
        }
        let (url, metadata) = found?;
        let text = |name: &str| metadata.get(name).and_then(Value::as_str);
        let claimed = text("issuer").unwrap_or_default();
        if claimed != issuer {
            let found = claimed.chars().take(MAX_SHOWN).collect();
            let (url, configured) = (Box::new(url), issuer.to_owned());
            return Err(FetchError::OtherIssuer { url, found, configured });
        }
        let keys = text("jwks_uri").and_then(|it| it.parse::<Url>().ok());
        let keys = keys.ok_or(FetchError::NoKeys { url })?;
        // Metadata that came over TLS lead to no other process of this machine.
        let is_downgrade = |to: &Url| self.configured.scheme() == "https" && to.scheme() != "https";
        if is_downgrade(&keys) {
            return Err(FetchError::Address { url: keys, why: AddressError::NotSecure });
        }
        let tokens = text("token_endpoint").and_then(|it| it.parse::<Url>().ok());
        let token_origin = tokens.filter(|it| !is_downgrade(it)).and_then(|it| Origin::of(&it));
        Ok(Metadata { keys, token_origin })
    }

    /// The JSON at an address.
    async fn get(&self, url: &Url) -> Result<Value, FetchError> {
        check_address(url).map_err(|why| FetchError::Address { url: url.clone(), why })?;
        let network = |error: reqwest::Error| FetchError::Network { url: url.clone(), why: why(&error) };
        let mut request = self.http.get(url.clone()).header(ACCEPT, "application/json");
        if let Some(bearer) = self.bearer.as_ref().filter(|_| url.origin() == self.configured.origin()) {
            request = request.bearer_auth(bearer);
        }
        let mut answer = request.send().await.map_err(network)?;
        match answer.status() {
            StatusCode::OK => {}
            status if status.is_redirection() => {
                return Err(FetchError::Redirect { url: url.clone(), status });
            }
            status => return Err(FetchError::Status { url: url.clone(), status }),
        }
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(network)? {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_ANSWER {
                return Err(FetchError::TooLong { at: url.to_string() });
            }
        }
        parse(&body, url.as_str())
    }
}

/// How much of another issuer's name is shown, in characters.
const MAX_SHOWN: usize = 256;

/// Where the metadata may be: below the issuer, and, as RFC 8414 has it, between its host and its path.
fn metadata_of(issuer: &Url) -> [Url; 2] {
    let path = issuer.path().trim_end_matches('/');
    [format!("{path}/{OPENID}"), format!("{OAUTH}{path}")].map(|path| {
        let mut url = issuer.clone();
        url.set_path(&path);
        url.set_query(None);
        url
    })
}

async fn read_json(path: PathBuf) -> Result<Value, FetchError> {
    let read = tokio::task::spawn_blocking(move || parse(&read(&path)?, &path.display().to_string()));
    read.await.expect("reading a file does not panic")
}

fn read(path: &Path) -> Result<Vec<u8>, FetchError> {
    let mut bytes = Vec::new();
    let most = MAX_ANSWER as u64 + 1;
    let read = File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes));
    read.map_err(|error| FetchError::File { path: path.to_owned(), why: error.to_string() })?;
    if bytes.len() > MAX_ANSWER {
        Err(FetchError::TooLong { at: path.display().to_string() })
    } else {
        Ok(bytes)
    }
}

fn read_text(path: &Path) -> Result<String, FetchError> {
    String::from_utf8(read(path)?)
        .map_err(|_| FetchError::File { path: path.to_owned(), why: "it is no text".to_owned() })
}

fn parse(bytes: &[u8], at: &str) -> Result<Value, FetchError> {
    let not_json = |why: String| FetchError::NotJson { at: at.to_owned(), why };
    let text = std::str::from_utf8(bytes).map_err(|error| not_json(error.to_string()))?;
    json::parse(text).map_err(|error| not_json(error.to_string()))
}
