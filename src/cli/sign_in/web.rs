//! Requests over HTTP to a server and to its authorization server. Not here: what they say.

use std::{path::Path, sync::OnceLock, time::Duration};

use reqwest::{
    Client, Method, StatusCode,
    header::{ACCEPT, CONTENT_TYPE, WWW_AUTHENTICATE},
};
use serde_json::Value;
use url::{Url, form_urlencoded};

use toolwire_base::words::one_line;
use toolwire_config::{Environment, egress_of_environment};
use toolwire_identity::check_address;
use toolwire_outgoing::{Authorities, Egress, Trust, causes_of, is_of_unknown_authority};
use toolwire_server::console::Failure;

/// Maximum time of a request.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum size of an answer, in bytes.
const MAX_ANSWER: usize = 256 * 1_024;
/// Maximum length of words that are shown, in characters.
const MAX_WORDS: usize = 200;
/// Advice on a certificate of an authority that is not trusted.
const NAME_AUTHORITY: &str = ". Its certificate is from an authority that is not trusted here. If it is yours, name the \
                              authority's certificate with --ca FILE or TOOLWIRE_CA";
const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";

/// Makes requests.
#[derive(Debug)]
pub(super) struct Web {
    egress: Egress,
    plain: OnceLock<Client>,
    secure: OnceLock<Client>,
}

#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    /// The value of `WWW-Authenticate`.
    pub(super) challenge: Option<String>,
    /// `Null` if it is no JSON.
    pub(super) body: Value,
    /// What is no JSON, on one line and as far as it is shown.
    pub(super) words: String,
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) struct NoAnswer {
    pub(super) what: String,
    /// Whether the same request may be answered later.
    pub(super) is_passing: bool,
}

impl Web {
    /// Goes out as the variables of `[network]` say, trusting the authorities in the file beside the platform's.
    pub(super) fn new(ca: Option<&Path>) -> Result<Self, Failure> {
        let egress = egress_of_environment(Environment::read());
        let egress = egress.map_err(|error| Failure::Start(error.to_string()))?;
        let egress = match ca {
            None => egress,
            Some(path) => egress.with_authorities(authorities(path)?),
        };
        Ok(Self { egress, plain: OnceLock::new(), secure: OnceLock::new() })
    }

    pub(super) async fn get(&self, url: &Url) -> Result<Answer, NoAnswer> {
        self.send(Method::GET, url, None).await
    }

    pub(super) async fn post_json(&self, url: &Url, body: &Value) -> Result<Answer, NoAnswer> {
        self.send(Method::POST, url, Some((JSON, body.to_string()))).await
    }

    pub(super) async fn post_form(&self, url: &Url, form: &[(&str, &str)]) -> Result<Answer, NoAnswer> {
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        self.send(Method::POST, url, Some((FORM, body))).await
    }

    async fn send(
        &self,
        method: Method,
        url: &Url,
        body: Option<(&'static str, String)>,
    ) -> Result<Answer, NoAnswer> {
        check_address(url).map_err(|why| NoAnswer { what: format!("{url}: {why}"), is_passing: false })?;
        let lost = |error: reqwest::Error| {
            let advice = if is_of_unknown_authority(&error) { NAME_AUTHORITY } else { "" };
            let what = format!("{url} cannot be reached: {}{advice}", causes_of(&error));
            NoAnswer { what, is_passing: true }
        };
        let mut request = self.client(url).map_err(lost)?.request(method, url.clone()).header(ACCEPT, JSON);
        if let Some((kind, text)) = body {
            request = request.header(CONTENT_TYPE, kind).body(text);
        }
        let mut response = request.send().await.map_err(lost)?;
        let (status, headers) = (response.status(), response.headers());
        let challenge = headers.get(WWW_AUTHENTICATE).and_then(|it| it.to_str().ok()).map(str::to_owned);
        let mut text = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(lost)? {
            text.extend_from_slice(&chunk);
            if text.len() > MAX_ANSWER {
                let what = format!("the answer of {url} is longer than 256 KiB");
                return Err(NoAnswer { what, is_passing: false });
            }
        }
        let body: Value = serde_json::from_slice(&text).unwrap_or_default();
        let words = if body == Value::Null { String::from_utf8_lossy(&text) } else { "".into() };
        let words = one_line(&words).chars().take(MAX_WORDS).collect();
        Ok(Answer { status, challenge, body, words })
    }

    fn client(&self, url: &Url) -> reqwest::Result<&Client> {
        let is_secure = url.scheme() == "https";
        let client = if is_secure { &self.secure } else { &self.plain };
        if let Some(client) = client.get() {
            return Ok(client);
        }
        let built = self.egress.builder(Trust::for_secure(is_secure)).timeout(TIMEOUT).build()?;
        Ok(client.get_or_init(|| built))
    }
}

impl From<NoAnswer> for Failure {
    fn from(no_answer: NoAnswer) -> Self {
        Self::Failed(no_answer.what)
    }
}

/// Whether what came from one address may lead to another: what came over TLS leads to no plain connection, such as one
/// within this machine.
pub(super) fn may_lead(from: &Url, to: &Url) -> bool {
    to.scheme() == "https" || from.scheme() == "http"
}

fn authorities(path: &Path) -> Result<Authorities, Failure> {
    Authorities::read(path).map_err(|what| Failure::Usage(format!("--ca {}: {what}", path.display())))
}
