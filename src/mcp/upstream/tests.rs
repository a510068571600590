//! Lists, calls and faults of an MCP server in Python, and of one over HTTP that answers as each test says.

mod answers;
mod fake;
mod floods;
mod lists;
mod probes;
mod sessions;
mod strays;

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::json;
use tokio::time::{sleep, timeout};

use super::{
    bounds::{MAX_ANSWER, MAX_CALLS, MAX_CALLS_OF_USER},
    list_once,
    testing::{HttpServer, Notes, Upstream, context, none, process, with_progress},
};
use toolwire_base::clock;
use toolwire_contract::ErrorCode;
use toolwire_providers::Effect;
use toolwire_tool::context::{StopCause, User};

async fn pid(upstream: &Upstream) -> Pid {
    let line = upstream.notes.wait_for("pid ").await;
    let number = line.rsplit(' ').next().and_then(|it| it.parse().ok()).expect("a number");
    Pid::from_raw(number).expect("a process")
}

#[tokio::test]
async fn tools_of_a_process_are_listed_and_called_in_either_revision() {
    for flags in [&[][..], &["--legacy"]] {
        let upstream = Upstream::start(flags).await;
        let listed = upstream.list_where(|it| it.len() == 14).await;
        assert!(listed.is_sorted_by_key(|it| it.name.clone()), "both pages");
        assert_eq!(upstream.read("echo", json!({"text": "hello"})).await, Ok(json!({"text": "hello"})));
        assert_eq!(upstream.read("search-docs", json!({"q": "a"})).await, Ok(json!({"found": 2})));
        let environment = upstream.read("environment", none()).await.expect("answers");
        let names = environment["text"].as_str().expect("a text");
        assert!(names.split(' ').all(|it| ["LC_CTYPE", "NOTES"].contains(&it)), "nothing else: {names}");
    }
}

#[tokio::test]
async fn tools_over_http_are_listed_and_called_in_either_revision() {
    for flags in [&[][..], &["--legacy"]] {
        let notes = Notes::new();
        let server = HttpServer::start(&notes, flags);
        let upstream = Upstream::of(server.target("/mcp"), notes).await;
        assert_eq!(upstream.read("echo", json!({"text": "hello"})).await, Ok(json!({"text": "hello"})));
        assert_eq!(upstream.read("search-docs", json!({})).await, Ok(json!({"found": 2})));
        assert_eq!(
            upstream.read("flood", json!({"count": 3})).await,
            Ok(json!({"text": "flooded"})),
            "over SSE"
        );
        // On the stream of a request its own answer counts.
        assert_eq!(upstream.read("others", none()).await, Ok(json!({"text": "mine"})));
        assert!(upstream.notes.count("authorization Bearer t0ken") > 3);
    }
}

#[tokio::test]
async fn what_a_server_lists_is_digested_whatever_the_order_and_changes_are_followed() {
    let upstream = Upstream::start(&["--legacy"]).await;
    let before = upstream.list_where(|it| !it.is_empty()).await;
    let once = list_once(&process(&upstream.notes, &[])).await.expect("lists");
    assert_eq!(before, once);
    upstream.read("change", none()).await.expect("answers");
    let digest =
        |listed: &[super::ListedTool]| listed.iter().find(|it| it.name == "echo").map(|it| it.digest);
    let after = upstream.list_where(|it| digest(it) != digest(&before)).await;
    let changed = after.iter().zip(&before).filter(|(now, then)| now.digest != then.digest).count();
    assert_eq!(changed, 1);
}

#[tokio::test]
async fn annotations_decide_nothing() {
    let upstream = Upstream::start(&[]).await;
    let listed = upstream.list_where(|it| !it.is_empty()).await;
    let echo = listed.iter().find(|it| it.name == "echo").expect("listed");
    assert!(echo.text.contains("readOnlyHint"));
    let category = |is_read| echo.offer("echo", is_read).category().as_str_name();
    assert_eq!((category(false), category(true)), ("TOOL_CATEGORY_SIDE_EFFECT", "TOOL_CATEGORY_READ"));
    let unread = super::ListedTool::offer_unread("echo", true, "docs");
    assert!(!unread.description.contains("Says it back") && unread.input_schema_json.is_empty());
}

#[tokio::test]
async fn a_malformed_tool_leaves_the_others() {
    let upstream = Upstream::start(&["--bad"]).await;
    let listed = upstream.list_where(|it| !it.is_empty()).await;
    assert_eq!(listed.len(), 21, "{:?}", listed.iter().map(|it| &it.name).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_failure_is_reported_in_words_that_move_nothing() {
    let upstream = Upstream::start(&[]).await;
    for effect in [Effect::Read, Effect::Write] {
        let error = upstream.call("fail", effect, none()).await.expect_err("fails");
        assert_eq!(error.code, ErrorCode::Unknown);
        assert_eq!(error.message, "no order A-1\\u{1b}[2J\\u{202e}");
    }
    let error = upstream.read("no-such", none()).await.expect_err("fails");
    assert!(matches!(error.code, ErrorCode::Unavailable | ErrorCode::ParseError), "{error:?}");
}

#[tokio::test]
async fn a_read_whose_process_is_lost_is_repeated_once_and_a_write_is_not() {
    let upstream = Upstream::start(&[]).await;
    assert_eq!(upstream.read("die_once", none()).await, Ok(json!({"text": "alive"})));
    assert_eq!(upstream.notes.count("call die_once"), 2);
    let upstream = Upstream::start(&[]).await;
    let error = upstream.call("die_once", Effect::Write, none()).await.expect_err("lost");
    assert_eq!(error.code, ErrorCode::OutcomeUnknown);
    // It is there again, and nothing was sent twice.
    assert_eq!(upstream.read("echo", json!({"text": "a"})).await, Ok(json!({"text": "a"})));
    assert_eq!(upstream.notes.count("call die_once"), 1);
}

#[tokio::test]
async fn what_was_never_sent_is_unavailable() {
    let notes = Notes::new();
    let server = HttpServer::start(&notes, &[]);
    let upstream = Upstream::of(server.target("/mcp"), notes).await;
    drop(server);
    upstream.notes.wait_for("authorization").await;
    // Its process ends with its input.
    sleep(Duration::from_millis(200)).await;
    let error = upstream.call("write_note", Effect::Write, json!({"text": "a"})).await.expect_err("gone");
    assert_eq!(error.code, ErrorCode::Unavailable, "{error:?}");
    assert_eq!(upstream.notes.count("wrote a"), 0);
}

#[tokio::test]
async fn a_refusal_over_http_has_its_code() {
    for (status, code) in
        [(401, ErrorCode::AuthFailed), (403, ErrorCode::PermissionDenied), (429, ErrorCode::RateLimited)]
    {
        let notes = Notes::new();
        let server = HttpServer::start(&notes, &[]);
        let error = list_once(&server.target(&format!("/status/{status}"))).await.expect_err("refused");
        assert!(error.to_string().contains(&status.to_string()) || code == ErrorCode::AuthFailed, "{error}");
    }
}

#[tokio::test]
async fn a_call_that_nothing_waits_for_is_cancelled() {
    let upstream = Upstream::start(&[]).await;
    let calling = upstream.read("slow", json!({"seconds": 10}));
    assert!(timeout(Duration::from_millis(500), calling).await.is_err(), "dropped");
    upstream.notes.wait_for("cancelled").await;
    let context = context();
    let calling = upstream.call_in(&context, "slow", Effect::Write, json!({"seconds": 10}));
    let stopping = async {
        upstream.notes.wait_for_count("call slow", 2).await;
        context.cancellation.cancel(StopCause::Cancelled);
    };
    let (result, ()) = tokio::join!(calling, stopping);
    assert_eq!(result, Ok(json!({"text": "stopped"})), "a write is waited for");
    assert_eq!(upstream.notes.count("cancelled"), 2);
}

#[tokio::test]
async fn of_a_flood_of_progress_ten_a_second_reach_the_caller() {
    let upstream = Upstream::start(&[]).await;
    let mut context = context();
    let messages = with_progress(&mut context);
    let begun = clock::now();
    let result = upstream.call_in(&context, "flood", Effect::Read, json!({"count": 20_000})).await;
    assert_eq!(result, Ok(json!({"text": "flooded"})));
    let most = 2.0 + begun.elapsed().as_secs_f64() * 10.0;
    drop(context);
    let messages = messages.await.expect("gathered");
    assert!(!messages.is_empty() && messages.iter().all(|it| it == "going on"), "{messages:?}");
    #[allow(clippy::cast_precision_loss, reason = "a few")]
    let count = messages.len() as f64;
    assert!(count <= most, "{count} of {most}");
}

#[tokio::test]
async fn what_is_too_long_or_too_deep_fails_its_call_only() {
    let upstream = Upstream::start(&[]).await;
    let error = upstream.read("big", json!({"bytes": 4 * 1024 * 1024})).await.expect_err("too long");
    assert_eq!(error.code, ErrorCode::ResultTooLarge, "{error:?}");
    let error = upstream.call("deep", Effect::Write, json!({"levels": 60})).await.expect_err("too deep");
    assert_eq!(error.code, ErrorCode::ParseError, "{error:?}");
    assert!(error.message.starts_with("The write was done."), "{error:?}");
}

/// Calls that are answered by what cannot be read, and how they end.
const UNREADABLE: [(&str, &str, usize, ErrorCode); 3] = [
    ("big", "bytes", MAX_ANSWER, ErrorCode::ResultTooLarge),
    ("deep", "levels", 100_000, ErrorCode::ParseError),
    ("both", "unused", 0, ErrorCode::ParseError),
];

#[tokio::test]
async fn an_answer_that_cannot_be_read_ends_its_call_at_once_and_nothing_else() {
    let upstream = Upstream::start(&[]).await;
    let process = pid(&upstream).await;
    for (tool, argument, value, code) in UNREADABLE {
        for effect in [Effect::Read, Effect::Write] {
            let error = upstream.call(tool, effect, json!({argument: value})).await.expect_err(tool);
            assert_eq!((error.code, error.retryable), (code, false), "{tool}: {error:?}");
            assert_eq!(error.message.starts_with("The write was done."), effect == Effect::Write);
        }
        assert_eq!(upstream.notes.count(&format!("call {tool}")), 2, "not repeated");
    }
    assert_eq!(upstream.read("echo", json!({"text": "a"})).await, Ok(json!({"text": "a"})));
    assert_eq!(pid(&upstream).await, process, "the connection is the same");
}

#[tokio::test]
async fn an_answer_over_http_that_cannot_be_read_ends_its_call_at_once() {
    let notes = Notes::new();
    let server = HttpServer::start(&notes, &[]);
    let upstream = Upstream::of(server.target("/mcp"), notes).await;
    for (tool, argument, value, code) in UNREADABLE {
        for stream in [false, true] {
            let arguments = json!({argument: value, "stream": stream});
            let error = upstream.read(tool, arguments).await.expect_err(tool);
            assert_eq!((error.code, error.retryable), (code, false), "{tool}, {stream}: {error:?}");
        }
        assert_eq!(upstream.notes.count(&format!("call {tool}")), 2, "not repeated");
    }
    assert_eq!(upstream.read("echo", json!({"text": "a"})).await, Ok(json!({"text": "a"})));
}

#[tokio::test]
async fn a_number_of_a_result_that_would_be_rounded_is_refused_at_its_pointer() {
    let notes = Notes::new();
    let server = HttpServer::start(&notes, &[]);
    let over_http = Upstream::of(server.target("/mcp"), notes).await;
    let over_stdio = Upstream::start(&[]).await;
    for (upstream, stream) in [(&over_stdio, false), (&over_http, true), (&over_http, false)] {
        let call = |number: &str| {
            let arguments = json!({"levels": 2, "number": number, "stream": stream});
            upstream.call("deep", Effect::Write, arguments)
        };
        for exact in ["18446744073709551615", "-9223372036854775808", "0.30000000000000004", "5.0"] {
            let data = call(exact).await.expect(exact);
            assert_eq!(data["a"]["a"].to_string(), exact);
        }
        for rounded in ["18446744073709551616", "-9223372036854775809", "0.10000000000000001", "1.49e-400"] {
            let error = call(rounded).await.expect_err(rounded);
            assert_eq!(error.code, ErrorCode::ParseError, "{error:?}");
            assert!(error.message.starts_with("The write was done. The result must hold no"), "{error:?}");
            assert!(error.message.contains("at \"/a/a\""), "{error:?}");
        }
    }
}

#[tokio::test]
async fn a_user_whose_calls_hang_leaves_permits_to_others() {
    let upstream = Upstream::start(&[]).await;
    let hanging = async {
        let calls = (0..2 * MAX_CALLS).map(|_| upstream.read("slow", json!({"seconds": 15})));
        futures_util::future::join_all(calls).await
    };
    let mut other = context();
    other.user = User::new("robin".parse().expect("a user id"));
    let calling = async {
        upstream.notes.wait_for_count("call slow", MAX_CALLS_OF_USER).await;
        let calling = upstream.call_in(&other, "echo", Effect::Read, json!({"text": "a"}));
        let result = timeout(Duration::from_secs(5), calling).await.expect("in time");
        assert_eq!(upstream.notes.count("call slow"), MAX_CALLS_OF_USER);
        result
    };
    tokio::select! {
        _ = hanging => panic!("they hang"),
        result = calling => assert_eq!(result, Ok(json!({"text": "a"}))),
    }
}

#[tokio::test]
async fn outcomes_of_other_calls_and_requests_to_the_client_change_nothing() {
    let upstream = Upstream::start(&[]).await;
    let others = futures_util::future::join_all((0..8).map(|_| upstream.read("others", none())));
    for result in others.await {
        let text = result.expect("an outcome")["text"].clone();
        assert!(text == "mine" || text == "not yours", "of this server, whatever it says: {text}");
    }
    // Another process: an outcome of the one above may bear the id of its next call.
    let upstream = Upstream::start(&[]).await;
    assert_eq!(upstream.read("ask", none()).await, Ok(json!({"text": "asked"})));
    upstream.notes.wait_for("answer ask-sampling/createMessage error").await;
    upstream.notes.wait_for("answer ask-no/such error").await;
}

#[tokio::test]
async fn a_server_that_stands_still_costs_its_own_calls_only() {
    let (still, other) = (Upstream::start(&[]).await, Upstream::start(&[]).await);
    let process = pid(&still).await;
    kill_process(process, Signal::STOP).expect("stands");
    let waiting = timeout(Duration::from_millis(500), still.read("echo", json!({"text": "a"})));
    let calling = async {
        let begun = clock::now();
        assert_eq!(other.read("echo", json!({"text": "b"})).await, Ok(json!({"text": "b"})));
        begun.elapsed()
    };
    let (waited, took) = tokio::join!(waiting, calling);
    assert!(waited.is_err(), "it ends by its deadline");
    assert!(took < Duration::from_millis(400), "{took:?}");
    kill_process(process, Signal::CONT).expect("goes on");
    assert_eq!(still.read("echo", json!({"text": "c"})).await, Ok(json!({"text": "c"})));
}

#[tokio::test]
async fn a_process_ends_with_its_supervisor() {
    let mut upstream = Upstream::start(&[]).await;
    let process = pid(&upstream).await;
    assert!(test_kill_process(process).is_ok());
    upstream.stop.cancel();
    timeout(Duration::from_secs(5), &mut upstream.supervised).await.expect("ends").expect("no panic");
    assert!(test_kill_process(process).is_err());
}
