//! Validates the origin of the page that makes a request.
//!
//! A browser names in `Origin` the page that makes a request. Pages of this server and of the configured origins may.
//! Programs send no `Origin`, and may too: identity is in credentials. Those that a browser sends by itself, which are
//! client certificates, are thus sent by no page of another origin.

use http::{HeaderMap, HeaderValue, Uri, header::ORIGIN, uri::Authority};

/// The origins of pages that may call, beside this server's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Origins(Vec<String>);

/// The origin of the page that makes a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::faces) enum Page {
    /// No page.
    None,
    /// One of this server's own, or of an allowed origin. CORS headers say so.
    Allowed(HeaderValue),
    Foreign,
}

impl Origins {
    /// These origins, such as `https://app.example`.
    pub(super) fn new<'a>(allowed: impl Iterator<Item = &'a str>) -> Self {
        Self(allowed.filter_map(canonical).collect())
    }

    /// The origin of the page that makes a request that names the server so.
    pub(super) fn page(&self, headers: &HeaderMap, is_encrypted: bool, named: &Authority) -> Page {
        let mut origins = headers.get_all(ORIGIN).iter();
        let (origin, another) = (origins.next(), origins.next());
        let Some(origin) = origin else { return Page::None };
        let own = canonical(&format!("{}://{named}", if is_encrypted { "https" } else { "http" }));
        let from = origin.to_str().ok().and_then(canonical);
        match from {
            Some(from) if another.is_none() && (Some(&from) == own.as_ref() || self.0.contains(&from)) => {
                Page::Allowed(origin.clone())
            }
            _ => Page::Foreign,
        }
    }
}

/// An origin in one form: scheme and host in lower case, with its port. None if the text is none, such as `null`.
fn canonical(origin: &str) -> Option<String> {
    let uri: Uri = origin.parse().ok()?;
    let (scheme, authority) = (uri.scheme_str()?.to_ascii_lowercase(), uri.authority()?);
    let usual = match scheme.as_str() {
        "http" => 80,
        "https" => 443,
        _ => return None,
    };
    let is_bare = uri.path().trim_start_matches('/').is_empty() && uri.query().is_none();
    let is_named = is_bare && !authority.as_str().contains('@') && !authority.host().is_empty();
    let port = authority.port_u16().unwrap_or(usual);
    is_named.then(|| format!("{scheme}://{}:{port}", authority.host().to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(origin: &str, is_encrypted: bool, named: &str) -> Page {
        let headers = HeaderMap::from_iter([(ORIGIN, origin.parse().unwrap())]);
        Origins::default().page(&headers, is_encrypted, &named.parse().unwrap())
    }

    #[test]
    fn pages_of_this_server_may_call() {
        for (origin, is_encrypted, named) in [
            ("http://localhost:50080", false, "localhost:50080"),
            ("http://LOCALHOST", false, "localhost:80"),
            ("https://tools.example", true, "tools.example"),
        ] {
            assert_eq!(page(origin, is_encrypted, named), Page::Allowed(origin.parse().unwrap()), "{origin}");
        }
    }

    #[test]
    fn pages_of_others_may_not() {
        for (origin, is_encrypted, named) in [
            ("null", false, "localhost:50080"),
            ("file://", false, "localhost"),
            ("http://localhost:3000", false, "localhost:50080"),
            ("http://localhost:50080", true, "localhost:50080"),
            ("http://localhost:50080@evil.example", false, "localhost:50080"),
            ("http://evil.example", false, "localhost:50080"),
            ("http://localhost:50080", false, "127.0.0.1:50080"),
            ("vscode-webview://x", false, "localhost"),
        ] {
            assert_eq!(page(origin, is_encrypted, named), Page::Foreign, "{origin}");
        }
    }
}
