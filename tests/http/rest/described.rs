//! The document that describes the face, and the pages of errors.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{get, server, value};

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
