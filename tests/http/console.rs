//! The page of the console as browsers fetch it: its files and their headers, and nothing else without credentials.

use std::{collections::BTreeMap, fs, io::Read as _, path::Path};

use flate2::read::GzDecoder;
use http::HeaderMap;

use crate::{
    http::{
        house::House,
        issuers::{Issuer, RULES},
        talk::Talk,
    },
    support::server::{Server, config_with_http},
};

/// Where `console/` is in the repository.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/console");

/// What of a file the build embeds.
#[path = "../../src/server/page_text.rs"]
mod page_text;

/// The policy of a page that connects to these origins too.
fn policy(issuers: &str) -> String {
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'{issuers}; \
         frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; \
         trusted-types lit-html"
    )
}

/// The files of the page, by the paths at which they are served.
fn files() -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    collect(Path::new(PAGE), "", &mut found);
    found.remove("/vendor/SHA256").expect("it names the library");
    let index = found.remove("/index.html").expect("a page");
    found.insert("/".to_owned(), index);
    found
}

fn collect(folder: &Path, prefix: &str, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = format!("{prefix}/{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            collect(&entry.path(), &path, found);
        } else {
            let text = fs::read_to_string(entry.path()).unwrap();
            let served = page_text::served(&path, text);
            found.insert(path, served.into_bytes());
        }
    }
}

fn media_type(path: &str) -> &'static str {
    match Path::new(path).extension().map(|extension| extension.to_str().unwrap()) {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ if path == "/" => "text/html; charset=utf-8",
        _ => "text/plain; charset=utf-8",
    }
}

#[track_caller]
fn check_headers(path: &str, headers: &HeaderMap) {
    for (name, expected) in [
        ("content-type", media_type(path)),
        ("content-security-policy", &policy("")),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cache-control", "no-cache"),
    ] {
        assert_eq!(headers.get(name).map(|it| it.to_str().unwrap()), Some(expected), "{name} of {path}");
    }
    assert!(headers.get_all("vary").iter().any(|it| it == "accept-encoding"), "{path}: {headers:?}");
}

#[tokio::test]
async fn every_file_of_the_page_is_served_with_its_type_and_policy() {
    let house = House::new();
    let talk = house.talk("riley");
    let files = files();
    assert!(files.len() > 20 && files.contains_key("/vendor/lit.js"), "{:?}", files.keys());
    for (path, bytes) in &files {
        let answer = talk.get(path).await;
        assert_eq!((answer.status, answer.text.as_bytes()), (200, &**bytes), "{path}");
        check_headers(path, &answer.headers);
        assert!(!answer.headers.contains_key("content-encoding"), "{path}");
        let head = talk.send("HEAD", path, &[], "").await;
        assert_eq!((head.status, head.text.as_str()), (200, ""), "{path}");
        check_headers(path, &head.headers);
        assert_eq!(head.headers["content-length"], bytes.len().to_string(), "{path}");
        let etag = answer.headers["etag"].to_str().unwrap();
        assert_eq!(head.headers["etag"], etag, "{path}");
        let known = talk.send("GET", path, &[("if-none-match", etag)], "").await;
        assert_eq!((known.status, known.text.as_str()), (304, ""), "{path}");
    }
}

#[tokio::test]
async fn files_come_encoded_where_that_is_accepted() {
    let house = House::new();
    let talk = house.talk("riley");
    let mut sent = 0;
    for (path, bytes) in files() {
        let mut etags = Vec::new();
        for (accepted, encoding) in
            [("br, gzip", Some("br")), ("gzip, deflate", Some("gzip")), ("br;q=0, deflate", None)]
        {
            let (headers, body) = talk.bytes(&path, &[("accept-encoding", accepted)]).await;
            let named = headers.get("content-encoding").map(|it| it.to_str().unwrap());
            assert_eq!(named, encoding, "{path}");
            let mut decoded = Vec::new();
            match named {
                Some("br") => {
                    sent += body.len();
                    brotli::BrotliDecompress(&mut &*body, &mut decoded).unwrap();
                }
                Some(_) => {
                    GzDecoder::new(&*body).read_to_end(&mut decoded).unwrap();
                }
                None => decoded = body.to_vec(),
            }
            assert_eq!(decoded, bytes, "{path} as {accepted}");
            etags.push(headers["etag"].clone());
        }
        etags.sort();
        etags.dedup();
        assert_eq!(etags.len(), 3, "{path}: an encoding is a representation of its own");
    }
    assert!(sent < 70 * 1_024, "the page takes {sent} bytes");
}

#[tokio::test]
async fn other_paths_and_methods_are_no_part_of_the_page() {
    let house = House::new();
    let talk = house.talk("riley");
    for path in [
        "/index.html",
        "/console",
        "/vendor",
        "/vendor/",
        "/vendor/SHA256",
        "/vendor/lit.js/",
        "/lib/app.js",
        "/lib/../main.js",
        "/lib/%2e%2e/main.js",
        "/lib/..%2fmain.js",
        "/LIB/api.js",
        "//main.js",
    ] {
        assert_eq!(talk.get(path).await.problem(), (404, "UNKNOWN_ROUTE".to_owned()), "{path}");
    }
    let posted = talk.send("POST", "/", &[], "{}").await;
    assert_eq!(posted.problem(), (405, "METHOD_NOT_ALLOWED".to_owned()));
    assert_eq!(posted.headers["allow"], "GET, HEAD");
    // An issuer redirects to the page with its answer in the query; no other file accepts a query.
    assert_eq!(talk.get("/?code=a&state=b&iss=c").await.status, 200);
    assert_eq!(talk.get("/main.js?v=1").await.problem(), (400, "INVALID_REQUEST".to_owned()));
}

#[tokio::test]
async fn the_page_needs_no_credentials_and_connects_to_the_issuers_that_sign_its_users_in() {
    let issuer = Issuer::start().await;
    let url = issuer.server.uri();
    let mut config = issuer.configured("");
    for (client_id, connect) in [(None, String::new()), (Some("console".to_owned()), format!(" {url}"))] {
        config.console.client_id = client_id;
        let server = Server::with(config.clone());
        let talk = Talk::to(server.http.unwrap(), "riley");
        let page = talk.get("/").await;
        assert_eq!(page.status, 200);
        assert_eq!(page.headers["content-security-policy"], policy(&connect));
        assert_eq!(
            talk.get("/v1/console").await.ok()["sign_in"],
            if connect.is_empty() { "token" } else { "issuer" }
        );
        assert_eq!(talk.get("/v1/tools").await.status, 401);
        server.shut_down().await;
    }
}

/// The policy that a page has once the server has read the metadata of its issuer, which a token that is accepted
/// proves.
async fn policy_after_sign_in(issuer: &Issuer, server: &Server) -> String {
    let talk = Talk::to(server.http.unwrap(), "riley");
    let token = issuer.token("8f2c", &["support"], &[]);
    let (name, token) = token.split_once(": ").unwrap();
    assert_eq!(talk.send("GET", "/v1/tools", &[(name, token)], "").await.status, 200);
    talk.get("/").await.headers["content-security-policy"].to_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_page_connects_to_the_token_endpoint_that_its_issuer_names_wherever_that_is() {
    let issuer = Issuer::start().await;
    let own = issuer.server.uri();
    let mut config = issuer.configured(RULES);
    config.console.client_id = Some("console".to_owned());
    for (token_endpoint, connect) in [
        ("https://oauth2.example/token", format!(" {own} https://oauth2.example")),
        ("http://127.0.0.1:9/token", format!(" {own} http://127.0.0.1:9")),
        (&*format!("{own}/token"), format!(" {own}")),
        (
            "https://oauth2.example:8443/a;script-src *?b='unsafe-inline'",
            format!(" {own} https://oauth2.example:8443"),
        ),
        // What leads to no safe origin adds nothing, and costs no keys.
        ("https://a.example;script-src/token", format!(" {own}")),
        ("https://a.example\r\nset-cookie: a=b", format!(" {own}")),
        ("", format!(" {own}")),
    ] {
        issuer.publish(token_endpoint).await;
        let server = Server::with(config.clone());
        assert_eq!(policy_after_sign_in(&issuer, &server).await, policy(&connect), "{token_endpoint}");
        server.shut_down().await;
    }
}

#[tokio::test]
async fn the_policy_follows_metadata_that_are_read_later() {
    let issuer = Issuer::start().await;
    let own = issuer.server.uri();
    let mut config = issuer.configured(RULES);
    config.console.client_id = Some("console".to_owned());
    issuer.server.reset().await;
    let server = Server::with(config);
    let talk = Talk::to(server.http.unwrap(), "riley");
    let page = talk.get("/").await;
    assert_eq!(page.headers["content-security-policy"], policy(&format!(" {own}")));
    let etag = page.headers["etag"].to_str().unwrap();
    issuer.publish("https://oauth2.example/token").await;
    // A token whose key is not known causes a fetch.
    let later = policy(&format!(" {own} https://oauth2.example"));
    assert_eq!(policy_after_sign_in(&issuer, &server).await, later);
    let known = talk.send("GET", "/", &[("if-none-match", etag)], "").await;
    assert_eq!(known.status, 200, "the page of another policy is another one");
    server.shut_down().await;
}

#[tokio::test]
async fn without_the_console_neither_page_nor_document_is_served() {
    let mut config = config_with_http();
    config.http.console = false;
    let server = Server::with(config);
    let talk = Talk::to(server.http.unwrap(), "riley");
    for path in files().keys().map(String::as_str).chain(["/v1/console"]) {
        assert_eq!(talk.get(path).await.problem(), (404, "UNKNOWN_ROUTE".to_owned()), "{path}");
    }
    assert_eq!(talk.get("/v1/tools").await.status, 200);
    server.shut_down().await;
}
