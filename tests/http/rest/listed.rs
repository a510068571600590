//! Discovery: pages, tags that spare an answer, and declarations for providers of models.

use super::{get, server, value};

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
