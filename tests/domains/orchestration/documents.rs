//! The tools on documents: what one writes, the others find, in the workspace of its task and in no other.

use serde_json::{Value, json};
use toolwire::{
    config::Config,
    contract::{ErrorCode, ToolError},
    tool::context::TaskId,
};

use super::support::Service;

const SALES: &str = "region,month,revenue\nEMEA,2024-01-31,0.1\nAPAC,2024-01-31,5\nEMEA,2024-02-29,0.2\n";

async fn service() -> (Service, TaskId) {
    let service = Service::of(Config::default());
    let root = service.root(false).await;
    (service, root)
}

async fn write(service: &Service, root: &TaskId, path: &str, content: &str) -> Value {
    let arguments =
        json!({"path": path, "content": content, "tags": ["sales"], "why_created": "for the charts"});
    service.within(root, "write_file", arguments).await.expect("written")
}

async fn refusal(service: &Service, root: &TaskId, tool: &str, arguments: Value) -> ToolError {
    service.within(root, tool, arguments).await.expect_err("refused")
}

#[tokio::test]
async fn what_is_written_is_listed_found_and_loaded() {
    let (service, root) = service().await;
    let written = write(&service, &root, "sales_raw.csv", SALES).await;
    assert_eq!((&written["version"], &written["size_bytes"]), (&json!(1), &json!(SALES.len())));
    assert_eq!(written["summary"], "3 rows, 3 columns: region, month, revenue.");
    write(&service, &root, "notes.md", "# Notes\n\nThe quarterly revenues rose.\n").await;

    let listed = service.within(&root, "list_documents", json!({})).await.unwrap();
    let paths: Vec<_> = listed["documents"].as_array().unwrap().iter().map(|it| it["path"].clone()).collect();
    assert_eq!(
        (paths, &listed["truncated"]),
        (vec![json!("notes.md"), json!("sales_raw.csv")], &json!(false))
    );
    let tables = service.within(&root, "list_documents", json!({"mime_type": "text/csv", "tags": ["sales"]}));
    assert_eq!(tables.await.unwrap()["documents"][0]["mime_type"], "text/csv");
    let one = service.within(&root, "list_documents", json!({"limit": 1})).await.unwrap();
    assert_eq!((one["documents"].as_array().unwrap().len(), &one["truncated"]), (1, &json!(true)));

    let found =
        service.within(&root, "search_documents", json!({"query": "quarterly revenue"})).await.unwrap();
    assert_eq!(found["documents"][0]["path"], "notes.md");
    assert!(found["documents"][0]["snippet"].as_str().unwrap().contains("revenues rose"), "{found}");

    let loaded = service.within(&root, "load_to_context", json!({"path": "sales_raw.csv"})).await.unwrap();
    assert_eq!((&loaded["content"], &loaded["truncated"]), (&json!(SALES), &json!(false)));
    let lines = json!({"path": "sales_raw.csv", "from_line": 2, "lines": 1});
    let line = service.within(&root, "load_to_context", lines).await.unwrap();
    assert_eq!((&line["content"], &line["next_line"]), (&json!("EMEA,2024-01-31,0.1\n"), &json!(3)));
}

#[tokio::test]
async fn a_table_is_asked_and_answers_exactly() {
    let (service, root) = service().await;
    write(&service, &root, "sales_raw.csv", SALES).await;
    let shape = json!({"path": "sales_raw.csv", "question": "Which region sold most?"});
    let shape = service.within(&root, "ask_data", shape).await.unwrap();
    let kinds: Vec<_> = shape["columns"].as_array().unwrap().iter().map(|it| it["type"].clone()).collect();
    assert_eq!(
        (kinds, &shape["rows_total"]),
        (vec![json!("text"), json!("date"), json!("decimal")], &json!(3))
    );
    assert!(shape["hint"].as_str().unwrap().contains("group_by"), "{shape}");
    let sums = json!({
        "path": "sales_raw.csv",
        "select": [{"column": "region"}, {"column": "revenue", "function": "sum"}],
        "group_by": ["region"],
        "order_by": [{"column": "revenue", "function": "sum", "descending": true}],
        "where": [{"column": "month", "op": "ge", "value": "2024-01-01"}],
    });
    let answer = service.within(&root, "ask_data", sums).await.unwrap();
    assert_eq!(answer["rows"], json!([["APAC", 5], ["EMEA", 0.3]]));
    assert_eq!((&answer["rows_scanned"], &answer["truncated"]), (&json!(3), &json!(false)));
    let wrong = json!({"path": "sales_raw.csv", "select": [{"column": "regoin"}]});
    let error = refusal(&service, &root, "ask_data", wrong).await;
    assert_eq!(error.code, ErrorCode::InvalidArgument);
    assert!(error.message.contains("Did you mean region?"), "{}", error.message);
    write(&service, &root, "notes.md", "no table").await;
    let error = refusal(&service, &root, "ask_data", json!({"path": "notes.md"})).await;
    assert!(error.message.contains("not a table"), "{}", error.message);
}

#[tokio::test]
async fn bytes_come_as_base64_and_a_stale_etag_changes_nothing() {
    let (service, root) = service().await;
    let png = json!({"path": "a.png", "content": "iVBORw0K\nGgo=", "encoding": "base64", "etag": "*"});
    let written = service.within(&root, "write_file", png.clone()).await.unwrap();
    assert_eq!(written["size_bytes"], 8);
    let loaded = service.within(&root, "load_to_context", json!({"path": "a.png"})).await.unwrap();
    assert_eq!((&loaded["mime_type"], &loaded["content"]), (&json!("image/png"), &json!("")));
    assert_eq!(refusal(&service, &root, "write_file", png).await.code, ErrorCode::Conflict);
    let stale = json!({"path": "a.png", "content": "x", "etag": "of-another-time"});
    assert_eq!(refusal(&service, &root, "write_file", stale).await.code, ErrorCode::Conflict);
    for (arguments, says) in [
        (json!({"path": "a.png", "content": "%%", "encoding": "base64"}), "not base64"),
        (json!({"path": "../a", "content": "x"}), "`..`"),
        (
            json!({"path": "a.txt", "content": "UEsDBBQAAAAIAA==", "encoding": "base64", "mime_type": "text/plain"}),
            "application/zip",
        ),
    ] {
        let error = refusal(&service, &root, "write_file", arguments).await;
        assert_eq!(error.code, ErrorCode::InvalidArgument, "{error}");
        assert!(error.message.contains(says), "{error}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_told_with_what_is_near() {
    let (service, root) = service().await;
    write(&service, &root, "sales_raw.csv", SALES).await;
    for tool in ["load_to_context", "ask_data"] {
        let error = refusal(&service, &root, tool, json!({"path": "sales_row.csv"})).await;
        assert_eq!(error.code, ErrorCode::NotFound);
        assert!(error.message.contains("sales_raw.csv"), "{}", error.message);
    }
    let other = service.root(false).await;
    let error = refusal(&service, &other, "load_to_context", json!({"path": "sales_raw.csv"})).await;
    assert_eq!(error.code, ErrorCode::NotFound);
    assert!(!error.message.contains("Did you mean"), "{}", error.message);
}

#[tokio::test]
async fn a_tainted_task_writes_untrusted_documents_which_say_so() {
    let (service, _) = service().await;
    let root = service.root(true).await;
    write(&service, &root, "page.md", "Text of a page.").await;
    let loaded = service.call_in(Some(&root), "load_to_context", json!({"path": "page.md"})).await.unwrap();
    assert!(
        loaded.provenance.warnings.iter().any(|it| it.contains("from outside")),
        "{:?}",
        loaded.provenance
    );
}

#[tokio::test]
async fn without_a_task_there_is_no_workspace() {
    let service = Service::of(Config::default());
    for (tool, arguments) in [
        ("write_file", json!({"path": "a.md", "content": "x"})),
        ("load_to_context", json!({"path": "a.md"})),
        ("list_documents", json!({})),
        ("search_documents", json!({"query": "x"})),
        ("ask_data", json!({"path": "a.csv"})),
    ] {
        let error = service.call(tool, arguments).await.unwrap().outcome.unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidArgument, "{tool}");
        assert!(error.message.contains("task_id"), "{tool}: {}", error.message);
    }
}
