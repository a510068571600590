//! Answers of a process that name no request, or that two readers understand differently: none leaves its call until
//! the deadline.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::{join, time::timeout};
use toolwire_contract::{ErrorCode, ToolError};
use toolwire_providers::Effect;

use super::pid;
use crate::upstream::testing::Upstream;

/// Far less than the time that a call has.
const AT_ONCE: Duration = Duration::from_secs(5);

const NULL: &str = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"lost count"}}"#;

async fn print(upstream: &Upstream, effect: Effect, arguments: Value) -> Result<Value, ToolError> {
    timeout(AT_ONCE, upstream.call("print", effect, arguments)).await.expect("at once")
}

/// How a read and a write end that are answered by these lines.
async fn ends(upstream: &Upstream, lines: &[String]) -> [(ErrorCode, String); 2] {
    let mut ends = Vec::new();
    for effect in [Effect::Read, Effect::Write] {
        let error = print(upstream, effect, json!({"lines": lines})).await.expect_err("an error");
        ends.push((error.code, error.message));
    }
    ends.try_into().expect("two")
}

#[tokio::test]
async fn an_answer_that_names_no_request_ends_the_only_one_in_flight() {
    use ErrorCode::{InvalidArgument, OutcomeUnknown, ParseError, Unknown};
    let cases = [
        (NULL, Unknown, OutcomeUnknown, "lost count"),
        (
            r#"{"jsonrpc":"2.0","error":{"code":-32603,"message":"lost count"}}"#,
            Unknown,
            OutcomeUnknown,
            "lost",
        ),
        (
            r#"{"jsonrpc":"2.0","id":"x","error":{"code":-32602,"message":"no text"}}"#,
            InvalidArgument,
            InvalidArgument,
            "no text",
        ),
        (
            r#"{"jsonrpc":"2.0","id":7000,"error":{"code":1,"message":"late"}}"#,
            Unknown,
            OutcomeUnknown,
            "late",
        ),
        (
            r#"{"jsonrpc":"2.0","id":7000,"result":{"content":[]}}"#,
            ParseError,
            OutcomeUnknown,
            "the identifier",
        ),
        (
            r#"{"jsonrpc":"2.0","id":"x","result":{"content":[]}}"#,
            ParseError,
            OutcomeUnknown,
            "the identifier",
        ),
        (r#"{"jsonrpc":"2.0","id":null,"result":{"content":[]}}"#, ParseError, OutcomeUnknown, "no answer"),
        (r#"{"jsonrpc":"2.0","id":[ID],"result":{"content":[]}}"#, ParseError, OutcomeUnknown, "no answer"),
        (
            r#"{"jsonrpc":"2.0","id":ID,"id":7000,"result":{"content":[]}}"#,
            ParseError,
            OutcomeUnknown,
            "\"id\"",
        ),
    ];
    let upstream = Upstream::start(&[]).await;
    let process = pid(&upstream).await;
    for (line, read, write, words) in cases {
        let ends = ends(&upstream, &[line.to_owned()]).await;
        assert_eq!(ends.each_ref().map(|(code, _)| *code), [read, write], "{line}: {ends:?}");
        assert!(ends.iter().all(|(_, message)| message.contains(words)), "{line}: {ends:?}");
    }
    assert_eq!(upstream.read("echo", json!({"text": "a"})).await, Ok(json!({"text": "a"})));
    assert_eq!(pid(&upstream).await, process, "the connection is the same");
}

#[tokio::test]
async fn an_answer_in_which_a_key_stands_twice_is_refused() {
    let upstream = Upstream::start(&[]).await;
    for (body, key) in [
        (r#""id":ID,"id":ID,"result":{"content":[]}"#, "id"),
        (r#""id":ID,"result":{"content":[]},"result":{"content":[]}"#, "result"),
        (r#""id":ID,"result":{"content":[],"isError":true,"isError":false}"#, "isError"),
        (r#""id":ID,"result":{"content":[],"structuredContent":{"a":[{"b":1,"\u0062":2}]}}"#, "b"),
        (r#""id":ID,"jsonrpc":"2.0","result":{"content":[]}"#, "jsonrpc"),
    ] {
        let [read, write] = ends(&upstream, &[format!(r#"{{"jsonrpc":"2.0",{body}}}"#)]).await;
        let words = format!("the key {key:?} stands twice in one object");
        assert_eq!((read.0, write.0), (ErrorCode::ParseError, ErrorCode::ParseError), "{body}");
        assert!(read.1.contains(&words), "{body}: {read:?}");
        assert!(write.1.starts_with("The write was done."), "{body}: {write:?}");
    }
    // Of an error nothing is known: not that the write was done either.
    let line = r#"{"jsonrpc":"2.0","id":ID,"error":{"code":1,"code":2,"message":"no"}}"#.to_owned();
    let [read, write] = ends(&upstream, &[line]).await;
    assert_eq!((read.0, write.0), (ErrorCode::ParseError, ErrorCode::OutcomeUnknown), "{write:?}");
    // A block costs itself.
    let line = r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"a","text":"b"}]}}"#;
    let data = print(&upstream, Effect::Read, json!({"lines": [line]})).await;
    assert_eq!(data, Ok(json!({"text": "[content of another kind]"})));
}

#[tokio::test]
async fn each_element_of_a_batch_is_a_message() {
    let upstream = Upstream::start(&[]).await;
    let answer = r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"a"}]}}"#;
    let other = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}"#;
    for line in [
        format!("[{answer}]"),
        format!(" [ {other} , 7, [], {{}} , {answer} , nonsense"),
        format!("\u{feff}[{answer},{other}]"),
    ] {
        assert_eq!(print(&upstream, Effect::Read, json!({"lines": [line]})).await, Ok(json!({"text": "a"})));
    }
    let [read, write] = ends(&upstream, &[format!("[{other},{NULL}]")]).await;
    assert_eq!((read.0, write.0), (ErrorCode::Unknown, ErrorCode::OutcomeUnknown));
}

#[tokio::test]
async fn what_is_no_answer_ends_nothing() {
    let upstream = Upstream::start(&[]).await;
    let answer = r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"a"}]}}"#;
    let lines = [
        "[INFO] started {\"error\":1}",
        r#"{"level":"error","error":"cannot open the cache","id":7000}"#,
        r#"{"id":"job-1","result":"ok"}"#,
        // Answered already.
        r#"{"jsonrpc":"2.0","id":0,"error":{"code":1,"message":"again"}}"#,
        answer,
    ];
    let arguments = json!({"lines": lines});
    assert_eq!(print(&upstream, Effect::Read, arguments).await, Ok(json!({"text": "a"})));
}

#[tokio::test]
async fn of_several_calls_those_end_of_which_each_has_an_answer_that_names_none() {
    let upstream = Upstream::start(&[]).await;
    // All of them.
    let calls = (0..3).map(|_| print(&upstream, Effect::Write, json!({"lines": [NULL], "calls": 3})));
    for end in join_all(calls).await {
        assert_eq!(end.expect_err("an error").code, ErrorCode::OutcomeUnknown);
    }
    // The one that is left.
    let slow = upstream.read("slow", json!({"seconds": 0.5}));
    let (slow, stray) = join!(slow, print(&upstream, Effect::Read, json!({"lines": [NULL]})));
    assert_eq!(slow, Ok(json!({"text": "done"})));
    let error = stray.expect_err("an error");
    assert!(matches!(error.code, ErrorCode::ParseError | ErrorCode::Unknown), "{error:?}");
    assert_eq!(upstream.read("echo", json!({"text": "a"})).await, Ok(json!({"text": "a"})));
}
