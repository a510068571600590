//! Conditional requests (RFC 9110 §13), on reads, documents, calls and everything else that writes.

use serde_json::Value;
use uuid::Uuid;

use super::{JSON, get, post, server, value};
use crate::{
    http::raw::{Answer, ask},
    support::server::Server,
};

/// The documents of a task.
pub(super) struct Documents {
    pub(super) server: Server,
    pub(super) task: String,
}

impl Documents {
    pub(super) async fn begin() -> Self {
        let server = server();
        let key = key();
        let begun =
            value(&post(&server, "/v1/tasks", &[&key], r#"{"request": "x", "role": "analyst"}"#).await);
        let task = begun["task"]["task_id"].as_str().unwrap_or_else(|| panic!("{begun}")).to_owned();
        Self { server, task }
    }

    pub(super) async fn ask(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Answer {
        let path = format!("/v1/workspaces/{}/documents/{path}", self.task);
        ask(self.server.http.unwrap(), method, &path, headers, body).await
    }

    pub(super) async fn put(&self, path: &str, conditions: &[&str], text: &str) -> Answer {
        self.put_as(&key(), path, conditions, text).await
    }

    async fn put_as(&self, key: &str, path: &str, conditions: &[&str], text: &str) -> Answer {
        let headers = [&["content-type: text/plain", key], conditions].concat();
        self.ask("PUT", path, &headers, text).await
    }

    async fn patch(&self, path: &str, conditions: &[&str], description: &str) -> Answer {
        let body = serde_json::json!({"description": description}).to_string();
        self.ask("PATCH", path, &[&[JSON], conditions].concat(), &body).await
    }

    pub(super) async fn text(&self, path: &str) -> String {
        self.ask("GET", path, &[], "").await.body
    }

    /// The tag of a document, with its quotation marks.
    async fn etag(&self, path: &str) -> String {
        self.ask("HEAD", path, &[], "").await.headers["etag"].clone()
    }
}

fn key() -> String {
    format!("idempotency-key: {}", Uuid::new_v4())
}

#[track_caller]
fn assert_refused(answer: &Answer, code: &str) {
    assert_eq!((answer.status, answer.code().as_str()), (412, code), "{answer:?}");
}

#[tokio::test]
async fn a_document_that_must_be_new_is_never_overwritten() {
    let documents = Documents::begin().await;
    assert_eq!(documents.put("a", &["if-none-match: *"], "one").await.status, 200);
    for conditions in [&["if-none-match: *"][..], &["if-match: *", "if-none-match: *"]] {
        assert_refused(&documents.put("a", conditions, "two").await, "DOCUMENT_EXISTS");
        assert_refused(&documents.patch("a", conditions, "two").await, "DOCUMENT_EXISTS");
        assert_refused(&documents.ask("DELETE", "a", conditions, "").await, "DOCUMENT_EXISTS");
    }
    let large = "x".repeat(100_000);
    assert_refused(&documents.put("a", &["if-none-match: *"], &large).await, "DOCUMENT_EXISTS");
    assert_eq!(documents.text("a").await, "one");
    // A deleted one is not there.
    assert_eq!(documents.ask("DELETE", "a", &["if-match: *"], "").await.status, 200);
    assert_eq!(documents.put("a", &["if-none-match: *"], "three").await.status, 200);
}

#[tokio::test]
async fn a_document_that_must_be_there_is_never_created() {
    let documents = Documents::begin().await;
    for tags in ["*", "\"x\"", "\"x\", \"y\"", "W/\"x\""] {
        assert_refused(
            &documents.put("new", &[&format!("if-match: {tags}")], "one").await,
            "DOCUMENT_ABSENT",
        );
        // Without conditions these are 404 too, so that conditions say nothing.
        let deleted = documents.ask("DELETE", "new", &[&format!("if-match: {tags}")], "").await;
        assert_eq!((deleted.status, deleted.code().as_str()), (404, "UNKNOWN_DOCUMENT"));
        let read = documents.ask("GET", "new", &[&format!("if-match: {tags}")], "").await;
        assert_eq!(read.status, 404);
    }
    assert_eq!(documents.put("new", &["if-none-match: \"x\""], "one").await.status, 200);
    assert_eq!(documents.put("new", &["if-match: *"], "two").await.status, 200);
    let etag = documents.etag("new").await;
    assert_eq!(documents.ask("DELETE", "new", &[], "").await.status, 200);
    assert_refused(&documents.put("new", &[&format!("if-match: {etag}")], "three").await, "DOCUMENT_ABSENT");
}

#[tokio::test]
async fn tags_of_a_write_are_compared_strongly_one_by_one() {
    let documents = Documents::begin().await;
    documents.put("a", &[], "first").await;
    for (number, (tags, is_taken)) in [
        ("E", true),
        ("\"zzz\", E", true),
        ("E,\"zzz\"", true),
        (",, \"zzz\" ,E,", true),
        ("W/E", false),
        ("\"zzz\", W/E", false),
        ("\"zzz\"", false),
        ("", false),
    ]
    .into_iter()
    .enumerate()
    {
        for method in ["PUT", "PATCH"] {
            let etag = documents.etag("a").await;
            let condition = format!("if-match: {}", tags.replace('E', &etag));
            let text = format!("{method} {number}");
            let answer = match method {
                "PUT" => documents.put("a", &[&condition], &text).await,
                _ => documents.patch("a", &[&condition], &text).await,
            };
            if is_taken {
                assert_eq!(answer.status, 200, "{condition}: {answer:?}");
            } else {
                assert_refused(&answer, "ETAG_STALE");
                assert_eq!(format!("\"{}\"", value(&answer)["etag"].as_str().unwrap()), etag);
            }
            assert_eq!(documents.etag("a").await == etag, !is_taken, "{condition}");
        }
    }
    for tags in ["E", "W/E", "\"zzz\", W/E"] {
        let etag = documents.etag("a").await;
        let condition = format!("if-none-match: {}", tags.replace('E', &etag));
        assert_refused(&documents.put("a", &[&condition], "never").await, "DOCUMENT_EXISTS");
    }
    assert_eq!(documents.put("a", &["if-none-match: \"zzz\""], "another").await.status, 200);
    for (name, malformed) in [("if-match", "zzz"), ("if-match", "*, \"a\""), ("if-none-match", "\"a")] {
        let answer = documents.put("a", &[&format!("{name}: {malformed}")], "never").await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "INVALID_REQUEST"), "{malformed}");
    }
    assert_eq!(documents.text("a").await, "another");
}

#[tokio::test]
async fn a_change_must_state_what_it_is_made_to() {
    let documents = Documents::begin().await;
    documents.put("a", &[], "one").await;
    let answer = documents.patch("a", &[], "new").await;
    assert_eq!((answer.status, answer.code().as_str()), (428, "PRECONDITION_REQUIRED"), "{answer:?}");
    let problem = value(&answer);
    assert!(problem["detail"].as_str().unwrap().contains("If-Match"), "{problem}");
    assert_eq!(problem["field_violations"][0]["pointer"], "etag");
    let tag = documents.etag("a").await;
    let in_body = serde_json::json!({"description": "new", "etag": tag.trim_matches('"')}).to_string();
    assert_eq!(documents.ask("PATCH", "a", &[JSON], &in_body).await.status, 200);
    let in_header = format!("if-match: {}", documents.etag("a").await);
    assert_eq!(documents.patch("a", &[&in_header], "newer").await.status, 200);
}

#[tokio::test]
async fn every_answer_that_writes_names_the_tag_of_what_it_wrote() {
    let documents = Documents::begin().await;
    let put = documents.put("a", &[], "one").await;
    assert_eq!(put.headers["etag"], documents.etag("a").await);
    let patched = documents.patch("a", &[&format!("if-match: {}", put.headers["etag"])], "new").await;
    assert_eq!(patched.headers["etag"], documents.etag("a").await);
    assert_ne!(patched.headers["etag"], put.headers["etag"]);
    let deleted =
        documents.ask("DELETE", "a", &[&format!("if-match: {}", patched.headers["etag"])], "").await;
    assert_ne!(deleted.headers["etag"], patched.headers["etag"], "{deleted:?}");
}

#[tokio::test]
async fn a_repeat_has_the_answer_of_the_first_whatever_its_conditions_say_by_now() {
    let documents = Documents::begin().await;
    let key = key();
    let first = documents.put_as(&key, "a", &["if-none-match: *"], "one").await;
    let again = documents.put_as(&key, "a", &["if-none-match: *"], "one").await;
    assert_eq!((again.status, &again.headers["etag"]), (200, &first.headers["etag"]));
    let other = documents.put_as(&key, "a", &["if-match: *"], "one").await;
    assert_eq!((other.status, other.code().as_str()), (422, "REQUEST_ID_REUSED"));
    let condition = format!("if-match: \"zzz\", {}", first.headers["etag"]);
    let changed = documents.patch("a", &[&condition], "said").await;
    let again = documents.patch("a", &[&condition], "said").await;
    assert_eq!((again.status, &again.headers["etag"]), (200, &changed.headers["etag"]));
    assert_refused(&documents.patch("a", &[&condition], "something else").await, "ETAG_STALE");
}

#[tokio::test]
async fn dates_count_where_there_are_no_tags() {
    let documents = Documents::begin().await;
    documents.put("a", &[], "one").await;
    let read = documents.ask("GET", "a", &[], "").await;
    let (modified, etag) = (read.headers["last-modified"].clone(), read.headers["etag"].clone());
    let long_ago = "Thu, 01 Jan 1970 00:00:00 GMT";
    for (conditions, status) in [
        (vec![format!("if-modified-since: {modified}")], 304),
        (vec![format!("if-modified-since: {long_ago}")], 200),
        (vec!["if-modified-since: soon".to_owned()], 200),
        (vec![format!("if-modified-since: {modified}"), "if-none-match: \"zzz\"".to_owned()], 200),
        (vec![format!("if-unmodified-since: {long_ago}")], 412),
        (vec![format!("if-unmodified-since: {modified}")], 200),
        (vec![format!("if-unmodified-since: {long_ago}"), format!("if-match: {etag}")], 200),
    ] {
        let conditions: Vec<_> = conditions.iter().map(String::as_str).collect();
        for method in ["GET", "HEAD"] {
            let answer = documents.ask(method, "a", &conditions, "").await;
            assert_eq!(answer.status, status, "{method} {conditions:?}");
        }
    }
    let late = format!("if-unmodified-since: {long_ago}");
    assert_refused(&documents.put("a", &[&late], "two").await, "ETAG_STALE");
    assert_refused(&documents.patch("a", &[&late], "two").await, "ETAG_STALE");
    assert_refused(&documents.ask("DELETE", "a", &[&late], "").await, "ETAG_STALE");
    let both = [late.as_str(), &format!("if-match: {etag}")];
    assert_eq!(documents.put("a", &both, "two").await.status, 200);
    let now = documents.ask("GET", "a", &[], "").await.headers["last-modified"].clone();
    assert_eq!(documents.put("a", &[&format!("if-unmodified-since: {now}")], "three").await.status, 200);
}

#[tokio::test]
async fn every_read_is_held_to_its_conditions() {
    let server = server();
    for path in ["/v1/tools", "/v1/tools/get_quotes", "/v1/limits", "/openapi.json"] {
        let etag = &get(&server, path, &[]).await.headers["etag"];
        for (conditions, status) in [
            (vec![format!("if-match: {etag}")], 200),
            (vec![format!("if-match: \"zzz\", {etag}")], 200),
            (vec!["if-match: *".to_owned()], 200),
            (vec![format!("if-match: W/{etag}")], 412),
            (vec!["if-match: \"zzz\"".to_owned()], 412),
            (vec!["if-match: \"zzz\"".to_owned(), format!("if-none-match: {etag}")], 412),
            (vec![format!("if-match: {etag}"), format!("if-none-match: {etag}")], 304),
            (vec!["if-none-match: \"a,b\"".to_owned(), format!("if-none-match: {etag}")], 304),
            (vec!["if-match: \"a,b\"".to_owned()], 412),
            (vec!["if-none-match: zzz".to_owned()], 400),
        ] {
            let conditions: Vec<_> = conditions.iter().map(String::as_str).collect();
            let answer = get(&server, path, &conditions).await;
            assert_eq!(answer.status, status, "{path} {conditions:?}");
        }
    }
    // Without a tag none matches, and what is not there has no conditions.
    for (path, condition, status) in [
        ("/v1/tasks", "if-match: *", 200),
        ("/v1/tasks", "if-match: \"zzz\"", 412),
        ("/v1/tasks", "if-none-match: \"zzz\"", 200),
        ("/v1/tasks", "if-none-match: *", 304),
        ("/v1/tools/no_such_tool", "if-match: \"zzz\"", 404),
        ("/v1/nothing", "if-match: \"zzz\"", 404),
        ("/api/quotes?symbol=AAPL", "if-match: \"zzz\"", 412),
    ] {
        assert_eq!(get(&server, path, &[condition]).await.status, status, "{path} {condition}");
    }
}

#[tokio::test]
async fn a_write_of_what_has_no_tag_is_done_for_no_tag() {
    let documents = Documents::begin().await;
    let (server, task) = (&documents.server, format!("/v1/tasks/{}", documents.task));
    let address = server.http.unwrap();
    for condition in ["if-match: \"zzz\"", "if-none-match: *"] {
        let answer = ask(address, "DELETE", &task, &[condition], "").await;
        assert_refused(&answer, "PRECONDITION_FAILED");
    }
    let cancel = format!("{task}:cancel");
    assert_refused(&post(server, &cancel, &["if-match: \"zzz\""], "{}").await, "PRECONDITION_FAILED");
    assert_eq!(value(&get(server, &task, &[]).await)["task"]["state"], "PENDING");
    let chat = post(server, "/agent/chat", &["if-match: \"zzz\""], r#"{"message": "hi"}"#).await;
    assert_refused(&chat, "PRECONDITION_FAILED");
    assert_eq!(post(server, &cancel, &["if-none-match: \"zzz\""], "{}").await.status, 200);
    assert_eq!(ask(address, "DELETE", &task, &["if-match: *"], "").await.status, 200);
}

#[tokio::test]
async fn a_call_is_held_to_conditions_on_its_definition() {
    let server = server();
    let etag = get(&server, "/v1/tools/get_quotes", &[]).await.headers["etag"].clone();
    for (condition, code) in [
        (format!("if-match: \"zzz\", {etag}"), None),
        ("if-match: *".to_owned(), None),
        ("if-none-match: \"zzz\"".to_owned(), None),
        (format!("if-match: W/{etag}"), Some("DEFINITION_CHANGED")),
        ("if-match: \"zzz\"".to_owned(), Some("DEFINITION_CHANGED")),
        (format!("if-none-match: W/{etag}"), Some("PRECONDITION_FAILED")),
        ("if-none-match: *".to_owned(), Some("PRECONDITION_FAILED")),
    ] {
        for verb in ["call", "invoke"] {
            let path = format!("/v1/tools/get_quotes:{verb}");
            let answer = post(&server, &path, &[&condition], r#"{"symbol": "AAPL"}"#).await;
            match code {
                None => assert_eq!(answer.status, 200, "{condition}"),
                Some(code) => assert_refused(&answer, code),
            }
        }
    }
    let unknown = post(&server, "/v1/tools/no_such_tool:call", &["if-match: \"zzz\""], "{}").await;
    assert_eq!((unknown.status, unknown.code().as_str()), (404, "UNKNOWN_TOOL"));
    let body: Value = value(&post(&server, "/v1/tools/get_quotes:call", &["if-match: a"], "{}").await);
    assert_eq!(body["field_violations"][0]["pointer"], "If-Match", "{body}");
}

#[tokio::test]
async fn a_document_that_a_reader_has_is_not_sent_again() {
    let documents = Documents::begin().await;
    documents.put("a", &[], "one").await;
    let tag = documents.etag("a").await;
    for condition in [tag.clone(), format!("W/{tag}"), format!("\"x\", {tag}"), "*".to_owned()] {
        for method in ["GET", "HEAD"] {
            let answer = documents.ask(method, "a", &[&format!("if-none-match: {condition}")], "").await;
            assert_eq!((answer.status, answer.body.as_str()), (304, ""), "{method} {condition}");
        }
    }
    let other = documents.ask("GET", "a", &["if-none-match: \"x\""], "").await;
    assert_eq!((other.status, other.body.as_str()), (200, "one"));
}

#[tokio::test]
async fn a_deleted_document_stays_deleted() {
    let documents = Documents::begin().await;
    documents.put("a", &[], "one").await;
    for _ in 0..2 {
        assert_eq!(documents.ask("DELETE", "a", &[JSON, &key()], "").await.status, 200);
    }
    let gone = documents.ask("GET", "a", &[], "").await;
    assert_eq!((gone.status, gone.code().as_str()), (404, "DOCUMENT_DELETED"));
    // What is refused leaves nothing behind.
    let coded = documents.put("b", &["content-encoding: gzip"], "\u{1f}\u{8b}").await;
    assert_eq!((coded.status, documents.ask("GET", "b", &[], "").await.status), (415, 404));
}
