//! The embedded sources, asked as no connector asks: what a site refuses, its twin refuses.
//!
//! Not here: what they answer. Connectors read it, in `tests/domains/research/`.

mod completeness;

use axum::body::{Body, to_bytes};
use http::{Method, Request};
use tower::ServiceExt;

use super::{base, service};
use toolwire_base::files::Tree;

type Header = (&'static str, &'static str);
/// Prefix, path, headers and body; the status and a word of the answer.
type Refused = (&'static str, &'static str, &'static [Header], &'static str, u16, &'static str);

const BROWSER: Header = ("user-agent", "Mozilla/5.0 (X11; Linux x86_64)");
const FORM: Header = ("content-type", "application/x-www-form-urlencoded");
const APP: Header = ("authorization", "Basic aWQ6c2VjcmV0");
const OLD_TOKEN: Header = ("authorization", "Bearer old");
const OLD_SESSION: Header = ("cookie", "sessionid=old");

/// Requests without the browser's name, the cookie, the crumb, the token, the form or the session that a site wants.
const REFUSED: [Refused; 12] = [
    ("yahoo", "v8/finance/chart/TCS.NS", &[], "", 429, "Too Many Requests"),
    ("yahoo", "v1/test/getcrumb", &[BROWSER], "", 401, "Invalid Cookie"),
    (
        "yahoo",
        "v10/finance/quoteSummary/TCS.NS?modules=earnings&crumb=x",
        &[BROWSER],
        "",
        401,
        "Invalid Crumb",
    ),
    ("nse", "", &[], "", 403, "<"),
    ("nse", "api/fiidiiTradeReact", &[BROWSER], "", 401, "<"),
    ("reddit-token", "api/v1/access_token", &[BROWSER, FORM], "grant_type=client_credentials", 401, ""),
    ("reddit-token", "api/v1/access_token", &[BROWSER, FORM, APP], "grant_type=x", 200, "unsupported_grant"),
    ("reddit", "r/IndiaInvestments/hot", &[BROWSER, OLD_TOKEN], "", 401, ""),
    ("screener", "login/", &[BROWSER, FORM], "username=a&password=b", 403, "CSRF"),
    ("screener", "screens/101/default/", &[BROWSER, OLD_SESSION], "", 200, "Get free account"),
    ("yahoo", "v7/nothing", &[BROWSER], "", 404, ""),
    ("nowhere", "", &[BROWSER], "", 404, ""),
];

#[tokio::test]
async fn what_a_site_refuses_its_twin_refuses() {
    let sources = service(Tree::Embedded(crate::data::files())).unwrap();
    for (prefix, path, headers, body, status, words) in REFUSED {
        let method = if body.is_empty() { Method::GET } else { Method::POST };
        let request = Request::builder().method(method).uri(base(prefix).join(path).unwrap().as_str());
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let answer = sources.clone().oneshot(request.body(Body::from(body)).unwrap()).await.unwrap();
        let found = answer.status().as_u16();
        let text = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
        let text = String::from_utf8_lossy(&text);
        assert!(found == status && text.contains(words), "{prefix}/{path}: {found} {text}");
    }
}

#[tokio::test]
async fn a_tree_without_research_leaves_the_embedded_one_in_place_and_one_with_a_bad_one_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let tree = Tree::Disk(directory.path().to_owned());
    assert!(service(tree.clone()).is_ok());
    std::fs::create_dir(directory.path().join("research")).unwrap();
    let error = service(tree.clone()).unwrap_err();
    assert!(error.to_string().contains("universe.json"), "{error}");
    std::fs::write(directory.path().join("research/universe.json"), "{}").unwrap();
    assert!(service(tree).is_err());
}
