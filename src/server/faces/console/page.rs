//! The page of the console: the files of `console/`, embedded with their encodings by `build.rs`, and a policy by which
//! a browser runs nothing else in it.

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use http::{
    HeaderMap, HeaderName, Uri,
    header::{
        ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
        REFERRER_POLICY, VARY,
    },
};

use crate::faces::http::{header_checks::unknown_route, route::Http};
use toolwire_base::digest::Digest;

const CROSS_ORIGIN_OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

pub(super) const INDEX: &str = "/";

/// Where the files are. Those of a folder share a route.
pub(super) const ROUTES: [&str; 8] = [
    INDEX,
    "/icon.svg",
    "/main.js",
    "/style.css",
    "/elements/{file}",
    "/lib/{file}",
    "/screens/{file}",
    "/vendor/{file}",
];

static FILES: &[File] = &include!(concat!(env!("OUT_DIR"), "/console.rs"));

/// A file of the page.
struct File {
    path: &'static str,
    media_type: &'static str,
    /// SHA-256 of its bytes, in hex.
    digest: &'static str,
    plain: &'static [u8],
    brotli: &'static [u8],
    gzip: &'static [u8],
}

impl File {
    /// The bytes in the smallest encoding that a request accepts, with its name.
    fn encoded(&self, headers: &HeaderMap) -> (&'static [u8], Option<&'static str>) {
        if accepts(headers, "br") {
            (self.brotli, Some("br"))
        } else if accepts(headers, "gzip") {
            (self.gzip, Some("gzip"))
        } else {
            (self.plain, None)
        }
    }
}

pub(super) async fn answer(State(http): State<Http>, uri: Uri, headers: HeaderMap) -> Response {
    let Some(file) = FILES.iter().find(|file| file.path == uri.path()) else {
        return unknown_route().into_response();
    };
    let (bytes, encoding) = file.encoded(&headers);
    let policy = policy(&http.console.sign_in_origins());
    // A browser keeps the policy with the file, so that another policy is another representation.
    let digest = Digest::of_parts([file.digest, encoding.unwrap_or_default(), &policy]);
    let headers = [
        (CONTENT_TYPE, file.media_type),
        // The names of the files stay when their content changes.
        (CACHE_CONTROL, "no-cache"),
        (CONTENT_SECURITY_POLICY, &policy),
        (ETAG, &format!("\"{digest}\"")),
        (REFERRER_POLICY, "no-referrer"),
        // A page that opened this one keeps no handle by which it could lead it to a card under a click.
        (CROSS_ORIGIN_OPENER_POLICY, "same-origin"),
        (CROSS_ORIGIN_RESOURCE_POLICY, "same-origin"),
        (VARY, "accept-encoding"),
    ];
    let encoding = encoding.map(|encoding| [(CONTENT_ENCODING, encoding)]);
    (headers, encoding, bytes).into_response()
}

/// What a browser may load and run in the page. `sign_in` are the origins that it asks to sign users in.
fn policy(sign_in: &[String]) -> String {
    let connect: String = sign_in.iter().flat_map(|origin| [" ", origin]).collect();
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'{connect}; \
         frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types \
         lit-html"
    )
}

/// Whether a request names a content coding that it accepts (RFC 9110 §12.5.3).
fn accepts(headers: &HeaderMap, coding: &str) -> bool {
    let lines = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|range| {
        let (name, weight) = range.split_once(';').unwrap_or((range, ""));
        let weight = weight.trim().trim_start_matches("q=").parse::<f32>();
        name.trim().eq_ignore_ascii_case(coding) && weight != Ok(0.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_has_a_route() {
        let mut router = matchit::Router::new();
        for route in ROUTES {
            router.insert(route, ()).unwrap();
        }
        for file in FILES {
            assert!(router.at(file.path).is_ok(), "{} is in none of ROUTES", file.path);
        }
    }

    #[test]
    fn an_encoding_is_used_where_the_request_accepts_it() {
        for (accepted, encoding) in [
            ("gzip, deflate, br", Some("br")),
            ("gzip;q=1.0, BR;q=0.1", Some("br")),
            ("br;q=0, gzip", Some("gzip")),
            ("gzip; q=0.000", None),
            ("x-br, *", None),
            ("", None),
        ] {
            let headers = HeaderMap::from_iter([(ACCEPT_ENCODING, accepted.parse().unwrap())]);
            assert_eq!(FILES[0].encoded(&headers).1, encoding, "{accepted}");
        }
        assert_eq!(FILES[0].encoded(&HeaderMap::new()), (FILES[0].plain, None));
    }
}
