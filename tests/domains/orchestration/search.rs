//! `search_web`: what an engine lists, without what hides in it or gives orders.

use serde_json::{Value, json};
use toolwire::{config::Config, contract::ErrorCode};
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{method, path, query_param},
};

use super::support::{Service, live};

#[tokio::test]
async fn the_embedded_engine_finds_bundled_pages_and_says_that_they_are_invented() {
    let service = Service::of(Config::default());
    let (data, warnings) =
        service.data("search_web", json!({"query": "retail sales EMEA", "limit": 1})).await;
    let expected = json!([{
        "title": "Retail sales in EMEA, 2025",
        "url": "https://stats.example.net/emea-retail-2025",
        "snippet": "Retail sales in EMEA grew by 2.1 % in 2025; the third quarter was the strongest.",
        "published": "2026-01-09",
    }]);
    assert_eq!(data["results"], expected);
    assert!(warnings[0].contains("invented"), "{warnings:?}");
    let (data, _) = service.data("search_web", json!({"query": "xylophone"})).await;
    assert_eq!(data["results"], json!([]));
}

#[tokio::test]
async fn a_sentence_that_gives_orders_is_left_out_and_the_whole_is_framed() {
    let service = Service::of(Config::default());
    let result = service.call("search_web", json!({"query": "page wants something"})).await.unwrap();
    assert!(result.provenance.untrusted_nonce.is_some());
    assert_eq!(result.provenance.source_ids, ["tool:search:v1"]);
    let data = result.outcome.unwrap().json().clone();
    assert_eq!(data["results"][0]["snippet"], "Colours are nice.");
    assert!(result.provenance.warnings.iter().any(|it| it.contains("1 sentence was left out")));
}

async fn answering(response: ResponseTemplate) -> (MockServer, Service) {
    let server = MockServer::start().await;
    let asked = Mock::given(method("GET")).and(path("/search")).and(query_param("format", "json"));
    asked.and(query_param("q", "a b")).respond_with(response).mount(&server).await;
    let service = Service::of(live(Some(&server.uri())));
    (server, service)
}

#[tokio::test]
async fn an_engine_is_asked_as_searxng_is_and_its_text_is_made_safe() {
    let hostile = json!({"query": "a b", "number_of_results": 3, "results": [
        {"url": "https://a.example/x", "title": "A\u{202e} <b>title</b>", "content": "Some <i>text</i>\u{200b}.",
         "publishedDate": "2024-05-01T10:00:00", "engine": "any", "score": 1.5},
        {"url": "javascript:alert(1)", "title": "Bad", "content": "x"},
        {"url": "https://b.example/", "title": "No text", "content": null, "publishedDate": null},
    ]});
    let (_server, service) = answering(ResponseTemplate::new(200).set_body_json(hostile)).await;
    let (data, warnings) = service.data("search_web", json!({"query": "a b"})).await;
    assert_eq!(data["results"][0]["snippet"], "Some text.");
    assert_eq!(data["results"][0]["published"], "2024-05-01");
    assert!(!data["results"][0]["title"].as_str().unwrap().contains('\u{202e}'), "{data}");
    assert_eq!(data["results"][1]["url"], "https://b.example/");
    assert_eq!(data["results"].as_array().map(Vec::len), Some(2));
    assert_eq!(warnings, Vec::<String>::new());
}

#[tokio::test]
async fn a_page_that_cannot_be_read_is_left_out_with_a_warning_and_the_others_are_found() {
    let listed = |number: u32, title: &str| {
        format!(r#"{{"url": "https://{number}.example/", "title": {title}, "content": "c", "score": NaN}}"#)
    };
    let pages = [
        listed(1, r#""Fine""#),
        listed(2, r#""cut \ud83d""#),
        listed(3, "{}"),
        "7".to_owned(),
        r#"{"url": "https://5.example/", "title": "No text", "content": ["x"], "publishedDate": 20240501}"#
            .to_owned(),
    ];
    let body = format!(r#"{{"query": "a b", "results": [{}], "answers": null}}"#, pages.join(","));
    let (_server, service) =
        answering(ResponseTemplate::new(200).set_body_raw(body, "application/json")).await;
    let (data, warnings) = service.data("search_web", json!({"query": "a b"})).await;
    let titles: Vec<_> = data["results"].as_array().unwrap().iter().map(|page| &page["title"]).collect();
    assert_eq!(titles, ["Fine", "cut \u{fffd}", "No text"]);
    let expected = [
        "1 item and 6 values in the answer of The web search cannot be read and are left out.",
        "1 text in the answer of The web search can be read only in part.",
    ];
    assert_eq!(warnings, expected);
}

#[tokio::test]
async fn an_engine_that_refuses_or_says_nonsense_fails_the_call() {
    for (response, code) in [
        (ResponseTemplate::new(403), ErrorCode::Blocked),
        (ResponseTemplate::new(200).set_body_json(Value::from("nonsense")), ErrorCode::ParseError),
        (ResponseTemplate::new(200).set_body_string("<html>"), ErrorCode::ParseError),
    ] {
        let (_server, service) = answering(response).await;
        let result = service.call("search_web", json!({"query": "a b"})).await.unwrap();
        assert_eq!(result.outcome.unwrap_err().code, code);
    }
}
