//! Validates the origin of the page that makes a request.
//!
//! A browser names in `Origin` the page that makes a request. Pages of this server and of the configured origins may.
//! Programs send no `Origin`, and may too: identity is in credentials. Browsers leave it out as well where a page
//! embeds or opens the answer to a `GET`, such as an image or a frame, and say in `Sec-Fetch-Site` whose page that is.
//! It counts where credentials come by themselves, so that no page of another origin uses them.

use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header::ORIGIN, request::Parts, uri::Authority};

/// How the origin of the page relates to this server (Fetch Metadata Request Headers, section 2.3).
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// What a browser does with the answer (sections 2.1 and 2.2): it opens it as a page, or embeds it in one.
const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

/// The origins of pages that may call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origins {
    allowed: Vec<String>,
    /// Whether a page of `http://`, with the host that the request names, is one of this server's own.
    owns_plain: bool,
    /// Whether a page of another origin is refused that the browser does not name.
    refuses_unnamed: bool,
}

/// The origin of the page that makes a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::faces) enum Page {
    /// No page, or one of this server's own that the browser does not name.
    None,
    /// One of this server's own, or of an allowed origin. CORS headers say so.
    Allowed(HeaderValue),
    Foreign,
}

impl Origins {
    /// These origins, such as `https://app.example`, and the server's own. Behind a proxy that may end TLS, a plain
    /// origin is not its own: anybody on the path to a browser can serve a plain page under the server's name.
    pub(super) fn new<'a>(allowed: impl Iterator<Item = &'a str>, is_behind_proxy: bool) -> Self {
        let allowed = allowed.filter_map(canonical).collect();
        Self { allowed, owns_plain: !is_behind_proxy, refuses_unnamed: false }
    }

    /// The same, where credentials come by themselves.
    pub(super) fn with_ambient_credentials(self) -> Self {
        Self { refuses_unnamed: true, ..self }
    }

    /// The origin of the page that makes a request that names the server so.
    pub(super) fn page(&self, headers: &HeaderMap, is_encrypted: bool, named: &Authority) -> Page {
        let mut origins = headers.get_all(ORIGIN).iter();
        let (origin, another) = (origins.next(), origins.next());
        let Some(origin) = origin else {
            return if self.refuses_unnamed && is_cross_origin(headers) { Page::Foreign } else { Page::None };
        };
        let from = origin.to_str().ok().and_then(canonical).filter(|_| another.is_none());
        let is_allowed = |from: String| {
            self.allowed.contains(&from) || self.own(is_encrypted, named).is_some_and(|own| own == from)
        };
        if from.is_some_and(is_allowed) { Page::Allowed(origin.clone()) } else { Page::Foreign }
    }

    /// The origin of the server's own pages, for a request that names the server so.
    fn own(&self, is_encrypted: bool, named: &Authority) -> Option<String> {
        let scheme = if is_encrypted { "https" } else { "http" };
        (is_encrypted || self.owns_plain).then(|| canonical(&format!("{scheme}://{named}"))).flatten()
    }
}

/// Whether a browser opens the answer as a page of its own, such as by a link in a mail, which no other page can read.
pub(super) fn is_navigation(request: &Parts) -> bool {
    let is = |name: HeaderName, value: &str| request.headers.get(name).is_some_and(|it| it == value);
    matches!(request.method, Method::GET | Method::HEAD)
        && !request.headers.contains_key(ORIGIN)
        && is(SEC_FETCH_MODE, "navigate")
        && is(SEC_FETCH_DEST, "document")
}

/// Whether the browser says that a page of another origin makes the request. `none` is an address that its user
/// entered.
fn is_cross_origin(headers: &HeaderMap) -> bool {
    headers.get_all(SEC_FETCH_SITE).iter().any(|site| site != "same-origin" && site != "none")
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
        Origins::new([].into_iter(), false).page(&headers, is_encrypted, &named.parse().unwrap())
    }

    #[test]
    fn behind_a_proxy_a_plain_page_is_none_of_the_server_unless_it_is_listed() {
        let page = |listed: &str, origin: &str, is_encrypted| {
            let headers = HeaderMap::from_iter([(ORIGIN, origin.parse().unwrap())]);
            let origins = Origins::new([listed].into_iter(), true);
            origins.page(&headers, is_encrypted, &"tools.example".parse().unwrap()) != Page::Foreign
        };
        assert!(page("https://tools.example", "https://tools.example", false));
        assert!(page("https://tools.example", "https://tools.example:443", false));
        assert!(page("http://tools.example", "http://tools.example", false), "without TLS, as configured");
        assert!(!page("https://tools.example", "http://tools.example", false));
        assert!(!page("https://other.example", "https://tools.example", false));
        // TLS that the proxy speaks to this server names it, too.
        assert!(page("https://other.example", "https://tools.example", true));
        assert!(!page("https://other.example", "http://tools.example", true));
    }

    #[test]
    fn where_credentials_come_by_themselves_a_page_of_another_origin_is_refused_without_its_name() {
        let named: Authority = "tools.example".parse().unwrap();
        let refused = |origins: &Origins, sites: &[&'static str]| {
            let headers = sites.iter().map(|site| (SEC_FETCH_SITE, HeaderValue::from_static(site)));
            origins.page(&headers.collect(), true, &named) == Page::Foreign
        };
        let usual = Origins::new([].into_iter(), false);
        assert!(!refused(&usual, &["cross-site"]));
        let careful = usual.with_ambient_credentials();
        for sites in [&["cross-site"][..], &["same-site"], &["another"], &[""]] {
            assert!(refused(&careful, sites), "{sites:?}");
        }
        for sites in [&[][..], &["same-origin"], &["none"]] {
            assert!(!refused(&careful, sites), "{sites:?}");
        }
        let allowed = Origins::new(["https://app.example"].into_iter(), false).with_ambient_credentials();
        let cross = HeaderValue::from_static("cross-site");
        let headers = [(SEC_FETCH_SITE, cross), (ORIGIN, HeaderValue::from_static("https://app.example"))];
        let page = allowed.page(&HeaderMap::from_iter(headers), true, &named);
        assert!(matches!(page, Page::Allowed(_)), "{page:?}");
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
