//! The origin, asked by a real client.

mod completeness;
mod forum;
mod news;
mod nse;
mod reddit;
mod screener;
mod yahoo;

use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
};

use http::{HeaderMap, StatusCode, header};
use serde_json::Value;
use url::Url;

use super::Origin;
use crate::files::Tree;

/// A client of one origin, which says that it is a browser, follows no redirects and keeps no cookies.
struct Browser {
    origin: Origin,
    client: reqwest::Client,
}

/// What was answered.
struct Got {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Browser {
    fn new() -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
        Self { origin: Origin::start(Tree::Embedded).unwrap(), client: builder.build().unwrap() }
    }

    fn url(&self, prefix: &str, path: &str) -> Url {
        self.origin.base(prefix).join(path).unwrap()
    }

    async fn get(&self, prefix: &str, path: &str) -> Got {
        self.get_with(prefix, path, &[]).await
    }

    async fn get_with(&self, prefix: &str, path: &str, headers: &[(&str, &str)]) -> Got {
        self.send(self.client.get(self.url(prefix, path)), headers).await
    }

    async fn post(&self, prefix: &str, path: &str, form: &str, headers: &[(&str, &str)]) -> Got {
        let request = self.client.post(self.url(prefix, path)).body(form.to_owned());
        let request = request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        self.send(request, headers).await
    }

    async fn send(&self, request: reqwest::RequestBuilder, headers: &[(&str, &str)]) -> Got {
        let request = request.header(header::USER_AGENT, "Mozilla/5.0 (X11; Linux x86_64)");
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        Got { status, headers, body: response.bytes().await.unwrap().to_vec() }
    }
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

#[test]
fn an_origin_ends_its_connections_when_it_is_dropped() {
    let origin = Origin::start(Tree::Embedded).unwrap();
    let mut stream = TcpStream::connect(origin.address).unwrap();
    stream.write_all(b"GET /nowhere HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    // It is being served, and kept alive.
    assert_ne!(stream.read(&mut [0; 64]).unwrap(), 0);
    drop(origin);
    // The end, or a reset.
    let rest = stream.read_to_end(&mut Vec::new());
    assert!(rest.is_ok() || rest.is_err_and(|error| error.kind() == ErrorKind::ConnectionReset));
}

#[test]
fn an_origin_serves_callers_without_any_runtime() {
    let origin = Origin::start(Tree::Embedded).unwrap();
    let base = origin.base("nse");
    assert_eq!(base.as_str(), format!("http://{}/nse/", origin.address));
    assert!(TcpStream::connect(origin.address).is_ok());
}

#[tokio::test]
async fn a_tree_without_research_leaves_the_embedded_one_in_place_and_one_with_a_bad_one_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let tree = Tree::Disk(directory.path().to_owned());
    assert!(Origin::start(tree.clone()).is_ok());
    std::fs::create_dir(directory.path().join("research")).unwrap();
    let error = Origin::start(tree.clone()).unwrap_err();
    assert!(error.to_string().contains("universe.json"), "{error}");
    std::fs::write(directory.path().join("research/universe.json"), "{}").unwrap();
    assert!(Origin::start(tree).is_err());
}

#[tokio::test]
async fn what_nobody_knows_is_not_found() {
    let browser = Browser::new();
    for (prefix, path) in [("yahoo", "v7/nothing"), ("nowhere", ""), ("screener", "company/TCS/")] {
        assert_eq!(browser.get(prefix, path).await.status, 404, "{prefix}/{path}");
    }
}
