//! Answers over HTTP of every status, form and identifier: each ends its call.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use serde_json::{Value, json};
use toolwire_base::clock;
use toolwire_contract::ErrorCode;
use toolwire_providers::{Effect, bounds::MAX_RETRY_AFTER};
use wiremock::ResponseTemplate;

use super::fake::{Asked, Fake, raw, text};

/// One whose call number `n` is answered by the entry of that number.
async fn answering<T: Clone + Send + Sync + 'static>(
    cases: Vec<T>,
    answer: impl Fn(&Asked, &T) -> ResponseTemplate + Send + Sync + 'static,
) -> Fake {
    let calls = AtomicUsize::new(0);
    Fake::start(move |asked| {
        let case = asked.is("tools/call").then(|| calls.fetch_add(1, Ordering::Relaxed))?;
        Some(answer(asked, &cases[case]))
    })
    .await
}

#[tokio::test]
async fn a_refusal_ends_its_call_whatever_its_body() {
    let of_status = |status: u16| match status {
        403 => ErrorCode::PermissionDenied,
        500 => ErrorCode::Unknown,
        _ => ErrorCode::Unavailable,
    };
    let bodies = ["server-error", "null", "another", "none", "page", "nonsense"];
    let cases: Vec<_> =
        [400, 403, 404, 413, 500].into_iter().flat_map(|status| bodies.map(|body| (status, body))).collect();
    let fake = answering(cases.clone(), |_, (status, body)| {
        let error = json!({"code": -32000, "message": "Bad Request: No valid session ID provided"});
        let with = |id: Value| json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string();
        let json = |body: String| raw(*status, "application/json", body);
        match *body {
            "server-error" => json(with("server-error".into())),
            "null" => json(with(Value::Null)),
            "another" => json(with(7_000.into())),
            "none" => json(json!({"jsonrpc": "2.0", "error": error}).to_string()),
            "page" => raw(*status, "text/html", "<html>No.</html>"),
            _ => json("{".to_owned()),
        }
    })
    .await;
    let upstream = fake.upstream().await;
    for (status, body) in cases {
        let error = upstream.read("t", json!({})).await.expect_err("refused");
        assert_eq!(error.code, of_status(status), "{status}, {body}: {error:?}");
        assert!(error.message.contains(&format!("it answered {status}")), "{error:?}");
        let says_why = error.message.contains("No valid session ID");
        assert_eq!(says_why, !["page", "nonsense"].contains(&body), "{status}, {body}: {error:?}");
    }
}

#[tokio::test]
async fn what_succeeds_without_an_answer_ends_its_call() {
    let cases = vec![
        ("accepted", Err(ErrorCode::Unknown)),
        ("no content", Err(ErrorCode::Unknown)),
        ("empty", Err(ErrorCode::Unknown)),
        ("a page", Err(ErrorCode::ParseError)),
        ("another's", Err(ErrorCode::ParseError)),
        ("a notification", Err(ErrorCode::ParseError)),
        ("an error without an identifier", Err(ErrorCode::InvalidArgument)),
        ("an error with another", Err(ErrorCode::InvalidArgument)),
        ("a text for a number", Ok("ok")),
        ("json as a text", Ok("ok")),
        ("json of no type", Ok("ok")),
        ("a stream that says others first", Ok("ok")),
        ("a stream with an error without an identifier", Err(ErrorCode::InvalidArgument)),
    ];
    let fake = answering(cases.clone(), |asked, (case, _)| {
        let answer =
            |id: Value, key: &str, value: Value| json!({"jsonrpc": "2.0", "id": id, key: value}).to_string();
        let good = |id: Value| answer(id, "result", text("ok"));
        let bad = |id: Value| answer(id, "error", json!({"code": -32602, "message": "no"}));
        let json = |body: String| raw(200, "application/json", body);
        let stream = |events: &[String]| {
            let events: Vec<_> = events.iter().map(|it| format!("data: {it}\n\n")).collect();
            raw(200, "text/event-stream", events.concat())
        };
        match *case {
            "accepted" => ResponseTemplate::new(202),
            "no content" => ResponseTemplate::new(204),
            "empty" => json(String::new()),
            "a page" => raw(200, "text/html", "<html></html>"),
            "another's" => json(good(7_000.into())),
            "a notification" => {
                json(json!({"jsonrpc": "2.0", "method": "notifications/message"}).to_string())
            }
            "an error without an identifier" => json(bad(Value::Null)),
            "an error with another" => json(bad("server-error".into())),
            "a text for a number" => json(good(asked.id.to_string().into())),
            "json as a text" => raw(200, "text/plain", good(asked.id.clone())),
            "json of no type" => raw(200, "", good(asked.id.clone())),
            "a stream that says others first" => stream(&[
                answer(7_000.into(), "result", text("no")),
                "nonsense".to_owned(),
                good(asked.id.clone()),
            ]),
            _ => stream(&[bad(Value::Null)]),
        }
    })
    .await;
    let upstream = fake.upstream().await;
    for (case, expected) in cases {
        let answered = upstream.read("t", json!({})).await;
        let answered =
            answered.as_ref().map(|data| data["text"].as_str().expect("a text")).map_err(|it| it.code);
        assert_eq!(answered, expected, "{case}");
    }
}

#[tokio::test]
async fn a_stream_that_ends_without_an_answer_is_a_lost_call() {
    let fake = answering(vec![(); 3], |_, ()| raw(200, "text/event-stream", ": hello\n\n")).await;
    let upstream = fake.upstream().await;
    let error = upstream.read("t", json!({})).await.expect_err("lost");
    assert_eq!((error.code, fake.count("tools/call")), (ErrorCode::Unavailable, 2), "it is repeated once");
    let error = upstream.call("t", Effect::Write, json!({})).await.expect_err("lost");
    assert_eq!((error.code, fake.count("tools/call")), (ErrorCode::OutcomeUnknown, 3));
}

#[tokio::test]
async fn a_wait_that_is_asked_for_is_told_whatever_its_form_and_status() {
    const NONE: Option<Duration> = None;
    let date = |seconds| httpdate::fmt_http_date(clock::wall() + Duration::from_secs(seconds));
    let some = |seconds: f64| Some(Duration::from_secs_f64(seconds));
    let limited = ErrorCode::RateLimited;
    let cases = vec![
        (429, "30".to_owned(), limited, some(30.0)),
        (429, "30.5".to_owned(), limited, some(30.5)),
        (429, date(40), limited, some(40.0)),
        (429, "Sun, 06 Nov 1994 08:49:37 GMT".to_owned(), limited, some(0.0)),
        (429, "soon".to_owned(), limited, some(1.0)),
        (429, "-5".to_owned(), limited, some(1.0)),
        (429, "99999999999999999999999".to_owned(), limited, Some(MAX_RETRY_AFTER)),
        (503, "30".to_owned(), ErrorCode::Unavailable, some(30.0)),
        (503, date(40), ErrorCode::Unavailable, some(40.0)),
        (503, "soon".to_owned(), ErrorCode::Unavailable, some(1.0)),
        (502, String::new(), ErrorCode::Unavailable, some(1.0)),
        (504, "10 s".to_owned(), ErrorCode::Unavailable, some(1.0)),
        (503, "-5".to_owned(), ErrorCode::Unavailable, some(1.0)),
        (413, "2.5".to_owned(), ErrorCode::Unavailable, some(2.5)),
        (413, "soon".to_owned(), ErrorCode::Unavailable, NONE),
        (500, "7".to_owned(), ErrorCode::Unknown, some(7.0)),
        (500, "soon".to_owned(), ErrorCode::Unknown, NONE),
    ];
    let count = cases.len();
    let fake = answering(cases.clone(), |_, (status, value, ..)| {
        ResponseTemplate::new(*status).insert_header("retry-after", value.as_str())
    })
    .await;
    let upstream = fake.upstream().await;
    for (status, value, code, expected) in cases {
        let error = upstream.read("t", json!({})).await.expect_err("refused");
        assert_eq!(error.code, code, "{status}, {value}");
        // A date has whole seconds.
        let is_near =
            |wait: Duration| expected.is_some_and(|it| wait <= it && wait + Duration::from_secs(2) >= it);
        assert!(error.retry_after.map_or(expected == NONE, is_near), "{status}, {value}: {error:?}");
    }
    assert_eq!(fake.count("tools/call"), count, "none is sent once more");
}

#[tokio::test]
async fn an_odd_block_costs_itself() {
    let content = |blocks: Value| json!({"content": blocks});
    let deep = format!("{}1{}", r#"{"a":"#.repeat(200), "}".repeat(200));
    let cases = vec![
        (
            content(json!([{"type": "hologram", "x": 1}, {"type": "text", "text": "a"}])).to_string(),
            "[content of another kind]\na",
        ),
        (
            content(json!([{"type": "text", "text": 7}, {"type": "text", "text": "a"}])).to_string(),
            "[content of another kind]\na",
        ),
        (
            content(json!([null, 7, "b", {"type": "text", "text": "a"}])).to_string(),
            "[content of another kind]\n[content of another kind]\nb\na",
        ),
        (content(json!({"type": "text", "text": "a"})).to_string(), "a"),
        (content(json!("a")).to_string(), "a"),
        (format!(r#"{{"content":[{deep},{{"type":"text","text":"a"}}]}}"#), "[content of another kind]\na"),
        (r#"{"content":[{"type":"text","text":"a\ud83d"}]}"#.to_owned(), "a\u{fffd}"),
    ];
    let fake = answering(cases.clone(), |asked, (result, _)| {
        raw(200, "application/json", format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, asked.id))
    })
    .await;
    let upstream = fake.upstream().await;
    for (result, expected) in cases {
        let data = upstream.read("t", json!({})).await;
        assert_eq!(data, Ok(json!({"text": expected})), "{}", &result[..result.len().min(80)]);
    }
}

#[tokio::test]
async fn a_result_that_may_be_an_error_is_none_of_success() {
    let fake = answering(vec!["\"yes\"", "1", "[]", "{}"], |asked, is_error| {
        let result = format!(r#"{{"content":[],"isError":{is_error}}}"#);
        raw(200, "application/json", format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, asked.id))
    })
    .await;
    let upstream = fake.upstream().await;
    for _ in 0..4 {
        assert_eq!(
            upstream.read("t", json!({})).await.map_err(|error| error.code),
            Err(ErrorCode::ParseError)
        );
    }
}
