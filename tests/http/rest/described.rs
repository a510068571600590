//! The document that describes the face, and the pages of errors.

use std::collections::BTreeSet;

use serde_json::Value;
use toolwire::{
    base::digest::Digest,
    config::{AuthUser, ToolPattern},
};

use super::{get, server, value};
use crate::support::server::{Server, config_with_http};

/// The document of the bundled tools, without diagnostics.
async fn document() -> Value {
    let mut config = config_with_http();
    config.server.diagnostics = false;
    value(&get(&Server::with(config), "/openapi.json", &[]).await)
}

/// So much of a digest tells one form from another.
fn short(value: &Value) -> String {
    Digest::of_bytes(value.to_string().as_bytes()).to_string()[..12].to_owned()
}

/// Every operation and every schema on one line, with what changes if anything of it does.
#[tokio::test]
async fn the_document_is_what_it_was() {
    let document = document().await;
    let mut lines = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let statuses: Vec<_> = operation["responses"].as_object().unwrap().keys().cloned().collect();
            let id = operation["operationId"].as_str().unwrap();
            let shown = statuses.join(" ");
            lines.push(format!("{method} {path} {id} {} {shown}", short(operation)));
        }
    }
    for (kind, all) in document["components"].as_object().unwrap() {
        lines
            .extend(all.as_object().unwrap().iter().map(|(name, it)| format!("{kind} {name} {}", short(it))));
    }
    lines.sort_unstable();
    insta::assert_snapshot!(lines.join("\n"));
}

#[tokio::test]
async fn a_tool_an_rpc_and_a_message_are_described_in_full() {
    let document = document().await;
    let paths = &document["paths"];
    insta::assert_json_snapshot!(serde_json::json!({
        "tool": paths["/v1/tools/get_quotes:call"],
        "write": paths["/v1/tools/add_to_watchlist:call"]["post"]["parameters"],
        "rpc": paths["/v1/tasks/{task_id}:end"],
        "queried": paths["/v1/confirmations"],
        "parameters": document["components"]["parameters"],
        "problem": document["components"]["schemas"]["Problem"],
    }));
}

#[tokio::test]
async fn the_document_and_its_tag_are_of_what_a_user_sees() {
    const RILEY: &str = "authorization: Bearer a-long-enough-t0ken";
    const ALEX: &str = "authorization: Bearer an0ther-long-enough-one";
    let mut config = config_with_http();
    let mut alex = AuthUser::new("alex".parse().unwrap(), "an0ther-long-enough-one".into());
    alex.tools = vec![ToolPattern::try_from("get_*".to_owned()).unwrap()];
    config.auth.users = vec![AuthUser::new("riley".parse().unwrap(), "a-long-enough-t0ken".into()), alex];
    let server = Server::with(config);
    let riley = get(&server, "/openapi.json", &[RILEY]).await;
    let alex = get(&server, "/openapi.json", &[ALEX]).await;
    let offers = |document: &Value, path: &str| document["paths"].get(path).is_some();
    let (hidden, seen) = ("/v1/tools/debug_write:call", "/v1/tools/get_quotes:call");
    assert!(offers(&value(&riley), hidden) && offers(&value(&riley), seen));
    assert!(!offers(&value(&alex), hidden) && offers(&value(&alex), seen));
    assert_ne!(riley.headers["etag"], alex.headers["etag"]);
    for (user, own, other) in [(RILEY, &riley, &alex), (ALEX, &alex, &riley)] {
        let known = |answer: &crate::http::raw::Answer| format!("if-none-match: {}", answer.headers["etag"]);
        assert_eq!(get(&server, "/openapi.json", &[user, &known(own)]).await.status, 304);
        assert_eq!(get(&server, "/openapi.json", &[user, &known(other)]).await.status, 200);
    }
}

#[tokio::test]
async fn every_route_is_described_and_every_reference_leads_somewhere() {
    let server = server();
    let answer = get(&server, "/openapi.json", &[]).await;
    let document = value(&answer);
    assert_eq!(document["openapi"], "3.1.0");
    let paths = document["paths"].as_object().unwrap();
    for path in ["/v1/tools/get_quotes:call", "/v1/tools/get_quotes:invoke", "/v1/tasks/{task_id}:end"] {
        assert!(paths[path]["post"]["operationId"].is_string(), "{path}");
    }
    let mut ids = BTreeSet::new();
    for operation in paths.values().flat_map(|path| path.as_object().unwrap().values()) {
        assert!(ids.insert(operation["operationId"].as_str().unwrap()), "{}", operation["operationId"]);
    }
    let mut references = BTreeSet::new();
    collect(&document, &mut references);
    for reference in references {
        let pointer = reference.strip_prefix('#').unwrap_or_else(|| panic!("{reference}"));
        assert!(document.pointer(pointer).is_some_and(|it| !it.is_null()), "{reference}");
    }
    assert_eq!(get(&server, "/v1/openapi.json", &[]).await.body, answer.body);
}

fn collect(value: &Value, references: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            references.extend(object.get("$ref").and_then(Value::as_str).map(str::to_owned));
            object.values().for_each(|it| collect(it, references));
        }
        Value::Array(items) => items.iter().for_each(|it| collect(it, references)),
        _ => {}
    }
}

#[tokio::test]
async fn a_code_has_its_page() {
    let server = server();
    let page = get(&server, "/errors/RATE_LIMITED", &[]).await;
    assert!(page.status == 200 && page.body.contains("HTTP: 429"), "{page:?}");
    assert_eq!(get(&server, "/errors/NO_SUCH_CODE", &[]).await.code(), "UNKNOWN_ROUTE");
}
