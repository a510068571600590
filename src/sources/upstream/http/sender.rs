//! Connections to sources: what holds for every one of them, TLS included.
//!
//! Redirects are never followed here, and no cookie is kept: a connector that expects one asks again, so that each
//! request takes its own permit and each address is checked.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use axum::Router;
use http::HeaderValue;
use reqwest::ClientBuilder;
use url::Url;

use super::{Failure, FailureKind, in_process::InProcess, resolver::PublicOnly};
use toolwire_outgoing::{Egress, Trust};

/// How long a connection may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The bound on the headers of one answer, in bytes. HTTP/1 has hyper's bounds besides: 100 headers, 408 KiB while
/// they are read.
pub(super) const MAX_HEADERS: u32 = 64 * 1024;

/// Makes connections. Cheap to clone; clones share state.
#[derive(Clone, Debug)]
pub struct Sender {
    egress: Egress,
    plain: reqwest::Client,
    /// Made at the first use: it reads the system's certificates, which a machine without any need does not have.
    secure: Arc<OnceLock<Result<reqwest::Client, TlsError>>>,
    user_agent: Option<HeaderValue>,
    in_process: InProcess,
}

/// What answers for an address.
pub(super) enum Route<'a> {
    Network(&'a reqwest::Client),
    InProcess(Router),
}

/// The connections cannot be set up.
#[derive(Clone, Debug, thiserror::Error)]
#[error("upstream TLS: {0}; install the system's CA certificates")]
pub struct TlsError(String);

impl Sender {
    /// Connections that go out so, and verify certificates from the first https address on.
    pub fn new(egress: &Egress) -> Result<Self, TlsError> {
        let plain = build(builder(egress, Trust::Nothing))?;
        Ok(Self {
            egress: egress.clone(),
            plain,
            secure: Arc::default(),
            user_agent: None,
            in_process: InProcess::default(),
        })
    }

    /// The same connections, over which requests without a User-Agent of their own get this one.
    pub fn with_user_agent(self, user_agent: HeaderValue) -> Self {
        Self { user_agent: Some(user_agent), ..self }
    }

    /// The same connections, but for addresses of the base's origin: the given service answers those, within the
    /// process.
    pub fn with_in_process(self, base: &Url, service: Router) -> Self {
        Self { in_process: self.in_process.with(base, service), ..self }
    }

    /// What a request without a User-Agent of its own gets.
    pub(super) fn user_agent(&self) -> Option<&HeaderValue> {
        self.user_agent.as_ref()
    }

    /// What answers for an address.
    pub(super) fn route(&self, url: &Url) -> Result<Route<'_>, Failure> {
        match self.in_process.find(url) {
            Some(service) => Ok(Route::InProcess(service)),
            None => self.client(url).map(Route::Network),
        }
    }

    fn client(&self, url: &Url) -> Result<&reqwest::Client, Failure> {
        if url.scheme() != "https" {
            return Ok(&self.plain);
        }
        let secure = self.secure.get_or_init(|| build(builder(&self.egress, Trust::System)));
        secure.as_ref().map_err(|error| {
            Failure::new(FailureKind::NotConfigured, format!("{error}; install the system's CA certificates"))
        })
    }
}

fn builder(egress: &Egress, trust: Trust) -> ClientBuilder {
    egress
        .builder_resolving(trust, PublicOnly)
        .http2_max_header_list_size(MAX_HEADERS)
        .connect_timeout(CONNECT_TIMEOUT)
}

fn build(builder: ClientBuilder) -> Result<reqwest::Client, TlsError> {
    builder.build().map_err(|error| TlsError(toolwire_outgoing::causes_of(&error)))
}

#[cfg(test)]
mod tests {
    use std::{env, process::Command};

    use super::{
        super::{
            ExpectedBody, Outgoing,
            send::Send,
            testing::{PROFILE, context, request},
        },
        *,
    };

    /// Finds what a hijacked name would lead to.
    struct Private;

    impl reqwest::dns::Resolve for Private {
        fn resolve(&self, _name: reqwest::dns::Name) -> reqwest::dns::Resolving {
            Box::pin(async { Err(super::super::resolver::NotPublic.into()) })
        }
    }

    #[tokio::test]
    async fn a_name_that_leads_into_this_network_is_not_asked_nor_asked_again() {
        let direct = Egress::default();
        let plain = build(builder(&direct, Trust::Nothing).dns_resolver(Private)).unwrap();
        let sender = Sender { plain, ..Sender::new(&direct).unwrap() };
        let outgoing = Outgoing::get("http://example.com/".parse().unwrap(), ExpectedBody::Json);
        let call = context(Duration::from_mins(1));
        let failure = Send::new(sender, PROFILE).attempt(request(outgoing, &call)).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::NotConfigured);
        assert!(failure.message.unwrap().contains("private network"));
    }

    const NOWHERE: &str = "/nonexistent";

    /// Runs itself in a process without certificates, since those are the environment's.
    #[test]
    fn without_certificates_only_https_fails() {
        if env::var("SSL_CERT_FILE").as_deref() != Ok(NOWHERE) {
            let itself = env::current_exe().unwrap();
            let name = "upstream::http::sender::tests::without_certificates_only_https_fails";
            let mut child = Command::new(itself);
            child.args(["--exact", name]);
            let output = child.env("SSL_CERT_FILE", NOWHERE).env("SSL_CERT_DIR", NOWHERE).output().unwrap();
            let printed = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
            return;
        }
        let sender = Sender::new(&Egress::default()).unwrap();
        assert!(sender.client(&"http://127.0.0.1:9/".parse().unwrap()).is_ok());
        let failure = sender.client(&"https://example.com/".parse().unwrap()).unwrap_err();
        assert_eq!(failure.kind, FailureKind::NotConfigured);
        assert!(failure.detail.contains("CA certificates"), "{failure}");
    }
}
