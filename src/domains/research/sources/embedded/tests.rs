//! The embedded sources, asked as a browser asks.

mod completeness;
mod forum;
mod news;
mod nse;
mod reddit;
mod screener;
mod yahoo;

use axum::{
    Router,
    body::{Body, to_bytes},
};
use http::{HeaderMap, Method, Request, StatusCode, header};
use serde_json::Value;
use tower::ServiceExt;
use url::Url;

use super::{base, service};
use toolwire_base::files::Tree;

/// A client of the embedded sources, which says that it is a browser, follows no redirects and keeps no cookies.
struct Browser(Router);

struct Got {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Browser {
    fn new() -> Self {
        Self(service(Tree::Embedded(crate::data::files())).unwrap())
    }

    async fn get(&self, prefix: &str, path: &str) -> Got {
        self.get_with(prefix, path, &[]).await
    }

    async fn get_with(&self, prefix: &str, path: &str, headers: &[(&str, &str)]) -> Got {
        let browser = ("user-agent", "Mozilla/5.0 (X11; Linux x86_64)");
        self.send(Method::GET, url(prefix, path), "", &[&[browser], headers].concat()).await
    }

    /// As one asks that does not say that it is a browser.
    async fn get_as_program(&self, prefix: &str, path: &str) -> Got {
        self.send(Method::GET, url(prefix, path), "", &[]).await
    }

    async fn post(&self, prefix: &str, path: &str, form: &str, headers: &[(&str, &str)]) -> Got {
        let form_of_browser = [
            ("user-agent", "Mozilla/5.0 (X11; Linux x86_64)"),
            ("content-type", "application/x-www-form-urlencoded"),
        ];
        self.send(Method::POST, url(prefix, path), form, &[&form_of_browser, headers].concat()).await
    }

    async fn send(&self, method: Method, url: Url, body: &str, headers: &[(&str, &str)]) -> Got {
        let request = Request::builder().method(method).uri(url.as_str());
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let request = request.body(Body::from(body.to_owned())).unwrap();
        let (head, body) = self.0.clone().oneshot(request).await.unwrap().into_parts();
        let body = to_bytes(body, usize::MAX).await.unwrap().to_vec();
        Got { status: head.status, headers: head.headers, body }
    }
}

fn url(prefix: &str, path: &str) -> Url {
    base(prefix).join(path).unwrap()
}

impl Got {
    #[track_caller]
    fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), "application/json; charset=utf-8");
        serde_json::from_slice(&self.body).unwrap()
    }

    fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The cookies that were set, as one would send them back.
    fn cookies(&self) -> String {
        let set = self.headers.get_all(header::SET_COOKIE).iter().map(|value| value.to_str().unwrap());
        set.filter_map(|cookie| cookie.split(';').next()).collect::<Vec<_>>().join("; ")
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

#[tokio::test]
async fn what_nobody_knows_is_not_found() {
    let browser = Browser::new();
    for (prefix, path) in [("yahoo", "v7/nothing"), ("nowhere", ""), ("screener", "company/TCS/")] {
        assert_eq!(browser.get(prefix, path).await.status, 404, "{prefix}/{path}");
    }
}
