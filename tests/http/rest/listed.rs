//! Discovery: pages, tags that spare an answer, and declarations for providers of models.

use serde_json::Value;

use super::{get, server, value};
use crate::http::raw::Raw;

#[tokio::test]
async fn pages_follow_one_another_without_a_gap() {
    let server = server();
    let all = value(&get(&server, "/v1/tools", &[]).await);
    let names = |page: &serde_json::Value| -> Vec<String> {
        page["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = value(&get(&server, &format!("/v1/tools?limit=7&cursor={cursor}"), &[]).await);
        seen.extend(names(&page));
        match page["next_cursor"].as_str() {
            Some(next) => next.clone_into(&mut cursor),
            None => break,
        }
    }
    assert_eq!(seen, names(&all));
    assert!(seen.len() > 14);
    let reads = value(&get(&server, "/v1/tools?category=read&text=quotes", &[]).await);
    assert!(names(&reads).contains(&"get_quotes".to_owned()), "{reads}");
}

/// The text of each definition of a list.
fn definitions(list: &str) -> Vec<String> {
    let list: Value = serde_json::from_str(list).unwrap();
    list["tools"].as_array().unwrap().iter().map(Value::to_string).collect()
}

#[tokio::test]
async fn a_list_a_page_one_tool_and_a_watch_tell_the_same_of_a_definition() {
    let server = server();
    for view in ["BASIC", "FULL", "FULL_JSON"] {
        let list = get(&server, &format!("/v1/tools?view={view}"), &[]).await;
        assert_eq!(list.headers["content-length"], list.body.len().to_string());
        let all = definitions(&list.body);
        let expected = format!(r#"{{"tools":[{}],"next_cursor":null}}"#, all.join(","));
        assert!(all.len() > 14 && list.body == expected);
        let page = get(&server, &format!("/v1/tools?view={view}&limit=2"), &[]).await;
        assert_eq!(definitions(&page.body), all[..2]);
        let mut raw = Raw::connect(server.http.unwrap()).await;
        raw.ask("GET", &format!("/v1/tools:watch?view={view}"), &[], "").await;
        assert_eq!(raw.head().await.status, 200);
        let told = raw.until("event: synced\n").await;
        // Chunks end where they like: a length, the text, a length, the text.
        let told: String = told.split("\r\n").skip(1).step_by(2).collect();
        let added = told.lines().filter_map(|line| line.strip_prefix(r#"data: {"type":"ADDED","#));
        let around = |line: &str| {
            let (tool, rest) = line.rsplit_once(r#","data_digest":"","problems":[],"event_time":""#).unwrap();
            assert!(rest.ends_with("Z\"}"), "{rest}");
            tool.strip_prefix(r#""tool":"#).unwrap().to_owned()
        };
        assert_eq!(added.map(around).collect::<Vec<_>>(), all, "{view}");
    }
    let all = definitions(&get(&server, "/v1/tools", &[]).await.body);
    let one = get(&server, "/v1/tools/get_quotes", &[]).await.body;
    assert!(all.contains(&one), "{one}");
}

#[tokio::test]
async fn what_a_reader_has_is_not_sent_again() {
    let server = server();
    for path in [
        "/v1/tools",
        "/v1/tools/get_quotes",
        "/v1/exports/openai?strict=true",
        "/v1/guidance",
        "/v1/limits",
        "/openapi.json",
    ] {
        let first = get(&server, path, &[]).await;
        assert_eq!(first.status, 200, "{path} {first:?}");
        let tag = &first.headers["etag"];
        for known in [
            format!("if-none-match: {tag}"),
            format!("if-none-match: \"x\", W/{tag}"),
            "if-none-match: *".into(),
        ] {
            let again = get(&server, path, &[&known]).await;
            assert_eq!((again.status, again.headers.get("etag")), (304, Some(tag)), "{path} {known}");
        }
        assert_eq!(get(&server, path, &["if-none-match: \"x\""]).await.status, 200);
    }
}

#[tokio::test]
async fn a_definition_speaks_in_the_words_of_the_specifications() {
    let server = server();
    let tool = value(&get(&server, "/v1/tools/get_quotes", &[]).await);
    assert_eq!(tool["category"], "READ", "{tool}");
    assert!(tool["input_schema"]["properties"].is_object(), "{tool}");
    for (path, has) in [
        ("/v1/limits", "limits"),
        ("/v1/guidance", "tools"),
        ("/v1/calls", "calls"),
        ("/v1/confirmations", "confirmations"),
        ("/v1/tasks", "tasks"),
        ("/v1/exports/mcp", "export"),
    ] {
        let answer = get(&server, path, &[]).await;
        assert!(answer.status == 200 && !value(&answer)[has].is_null(), "{path} {answer:?}");
    }
}
