//! The proxy through which connections go out, and what goes past it.

use std::{fmt, str::FromStr};

use http::Uri;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use reqwest::NoProxy;
use url::Url;

use crate::{Bypass, bypass::NEVER_PROXIED};

/// Shown in place of credentials.
const HIDDEN: &str = "[hidden]";

/// The address of a proxy, with the credentials for it if it wants some. Shown without them.
#[derive(Clone, PartialEq, Eq)]
pub struct ProxyAddress(Url);

/// A text is no address of a proxy. Shown without the text, which may hold a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidProxy {
    #[error("expected the address of a proxy such as http://proxy.example:3128")]
    NoAddress,
    #[error(
        "must be http://…: the proxy is asked for tunnels over plain HTTP, and what goes through them is encrypted"
    )]
    OtherScheme,
    #[error("must be the proxy's address alone: without a path, ? and #")]
    More,
    #[error("stands in a printed configuration: write what was hidden")]
    Hidden,
}

/// A proxy, and which connections it is asked for.
pub(crate) struct Proxy {
    address: ProxyAddress,
    /// What is asked without it, with commas between, as reqwest and hyper-util read it.
    bypassed: String,
    matcher: Matcher,
}

impl ProxyAddress {
    /// The name or address of the proxy's host.
    pub(crate) fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }
}

impl FromStr for ProxyAddress {
    type Err = InvalidProxy;

    fn from_str(text: &str) -> Result<Self, InvalidProxy> {
        let text = text.trim();
        if text.contains(HIDDEN) {
            return Err(InvalidProxy::Hidden);
        }
        // Many write it without a scheme.
        let complete = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let url = Url::parse(&complete).map_err(|_| InvalidProxy::NoAddress)?;
        if url.scheme() != "http" {
            return Err(InvalidProxy::OtherScheme);
        }
        if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
            return Err(InvalidProxy::More);
        }
        Ok(Self(url))
    }
}

impl fmt::Display for ProxyAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has_credentials = !self.0.username().is_empty() || self.0.password().is_some();
        let credentials = if has_credentials { format!("{HIDDEN}@") } else { String::new() };
        write!(f, "http://{credentials}{}", self.host())?;
        self.0.port().map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

impl fmt::Debug for ProxyAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Proxy {
    pub(crate) fn new(address: ProxyAddress, bypassed: &[Bypass]) -> Self {
        let bypassed = bypassed.iter().map(Bypass::as_str).chain(NEVER_PROXIED).collect::<Vec<_>>().join(",");
        let matcher = Matcher::builder().all(address.0.as_str()).no(&bypassed).build();
        Self { address, bypassed, matcher }
    }

    pub(crate) fn host(&self) -> &str {
        self.address.host()
    }

    /// The proxy for a connection, unless it goes past it.
    pub(crate) fn intercept(&self, uri: &Uri) -> Option<Intercept> {
        self.matcher.intercept(uri)
    }

    pub(crate) fn to_reqwest(&self) -> reqwest::Proxy {
        let proxy = reqwest::Proxy::all(self.address.0.clone()).expect("it is a URL");
        proxy.no_proxy(NoProxy::from_string(&self.bypassed))
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, bypassed, .. } = self;
        f.debug_struct("Proxy").field("address", address).field("bypassed", bypassed).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_credentials() {
        for (text, shown) in [
            ("http://proxy.example:3128", "http://proxy.example:3128"),
            ("http://proxy.example", "http://proxy.example"),
            ("proxy.example:3128", "http://proxy.example:3128"),
            ("http://riley:s3cret@proxy.example:3128/", "http://[hidden]@proxy.example:3128"),
            ("riley:s3cret@10.0.0.7:3128", "http://[hidden]@10.0.0.7:3128"),
            ("http://s3cret@[fd00::7]:3128", "http://[hidden]@[fd00::7]:3128"),
        ] {
            let address: ProxyAddress = text.parse().unwrap();
            assert_eq!(address.to_string(), shown);
            assert!(!format!("{:?}", Proxy::new(address, &[])).contains("s3cret"));
        }
    }

    #[test]
    fn anything_else_is_refused_without_showing_it() {
        for (bad, why) in [
            ("", InvalidProxy::NoAddress),
            ("http://", InvalidProxy::NoAddress),
            ("http://s3cret@", InvalidProxy::NoAddress),
            ("no proxy s3cret", InvalidProxy::NoAddress),
            ("http://proxy.example:s3cret", InvalidProxy::NoAddress),
            ("https://u:s3cret@proxy.example", InvalidProxy::OtherScheme),
            ("socks5://u:s3cret@proxy.example", InvalidProxy::OtherScheme),
            ("http://proxy.example/s3cret", InvalidProxy::More),
            ("http://proxy.example?s3cret", InvalidProxy::More),
            ("http://[hidden]@proxy.example", InvalidProxy::Hidden),
        ] {
            let error = bad.parse::<ProxyAddress>().unwrap_err();
            assert_eq!(error, why, "{bad}");
            assert!(!error.to_string().contains("s3cret"));
        }
    }

    #[test]
    fn this_machine_and_what_is_named_are_asked_without_the_proxy() {
        let bypassed = ["*.corp.example", "10.0.0.0/8", "fd00::/8"].map(|text| text.parse().unwrap());
        let proxy = Proxy::new("http://proxy.example:3128".parse().unwrap(), &bypassed);
        let is_proxied = |host: &str| proxy.intercept(&format!("https://{host}/").parse().unwrap()).is_some();
        for direct in [
            "localhost",
            "tools.localhost",
            "127.0.0.1:8080",
            "[::1]:8080",
            "corp.example",
            "mail.corp.example",
            "10.1.2.3",
            "[fd00::7]",
            "metadata",
        ] {
            assert!(!is_proxied(direct), "{direct}");
        }
        for proxied in
            ["example.com", "notcorp.example", "11.0.0.1", "[fe00::1]", "localhost.example", "128.0.0.1"]
        {
            assert!(is_proxied(proxied), "{proxied}");
        }
        let nothing = Proxy::new("http://proxy.example:3128".parse().unwrap(), &["*".parse().unwrap()]);
        assert!(nothing.intercept(&"https://example.com/".parse().unwrap()).is_none());
    }
}
