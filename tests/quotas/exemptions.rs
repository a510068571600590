//! What is not counted: refused calls, repeats, the calls of a tool, and the call that a person has approved.

use serde_json::{Value, json};
use toolwire::{
    base::digest::Digest,
    state::idempotency::{About, Beginning, Begun, Effect, Idempotency, Key},
    tool::context::{CallId, RequestId},
};

use super::{call, call_as, house, quote};
use crate::http::talk::Talk;

const ONE: &str = "[[quota]]\ncalls = 1\nwindow = '1h'\n";

fn key() -> String {
    RequestId::generate().to_string()
}

#[tokio::test]
async fn a_repeat_under_a_known_request_id_is_answered_and_not_counted() {
    let house = house(ONE);
    let talk = house.talk("riley");
    let (write, known) = (json!({"value": "once"}), key());
    let first = call_as(&talk, "debug_write", &write, &known).await.ok();
    for _ in 0..3 {
        let again = call_as(&talk, "debug_write", &write, &known).await.ok();
        assert_eq!(again["data"], first["data"]);
    }
    assert_eq!(call_as(&talk, "debug_write", &write, &key()).await.status, 429);
    // Another user's or another tool's is another call.
    assert_eq!(call_as(&talk, "get_quotes", &quote(), &known).await.status, 429);
    let other = call_as(&talk, "debug_write", &json!({"value": "twice"}), &known).await;
    assert_eq!(other.problem().1, "REQUEST_ID_REUSED");
}

#[tokio::test]
async fn equal_calls_at_once_are_one_call() {
    let house = house(ONE);
    let talk = house.talk("riley");
    let (write, known) = (json!({"value": "once", "duration": "0.05s"}), key());
    let all =
        futures_util::future::join_all((0..20).map(|_| call_as(&talk, "debug_write", &write, &known))).await;
    let data: Vec<Value> = all.iter().map(|answer| answer.ok()["data"].take()).collect();
    assert!(data.iter().all(|it| *it == data[0]), "{data:?}");
    assert_eq!(call(&talk, "get_quotes", &quote()).await.status, 429);
}

#[tokio::test]
async fn a_repeat_of_a_read_without_an_outcome_is_counted_and_of_such_a_write_not() {
    // As a read leaves it that was cancelled a moment ago, or whose process ended.
    for (tool, arguments, effect, is_counted) in [
        ("get_quotes", quote(), Effect::Read, true),
        ("debug_write", json!({"value": "once"}), Effect::Write, false),
    ] {
        let house = house(ONE);
        let (talk, request_id, call_id) = (house.talk("riley"), RequestId::generate(), CallId::generate());
        let key = Key { user: "riley".parse().unwrap(), tool: tool.parse().unwrap(), request_id };
        let (digest, about) = (Digest::of_bytes(b"x"), About::of(call_id, Digest::of_bytes(b"definition")));
        let begun =
            house.server.app.state.begin(Beginning { key: &key, effect, digest, about: &about }).await;
        assert!(matches!(begun, Begun::New));
        // The record is of other arguments, so that it is not waited for.
        let repeat = call_as(&talk, tool, &arguments, &request_id.to_string()).await;
        assert_eq!(repeat.problem().1, "REQUEST_ID_REUSED", "{tool}");
        let next = call(&talk, "get_quotes", &quote()).await.status;
        assert_eq!(next, if is_counted { 429 } else { 200 }, "{tool}");
    }
}

#[tokio::test]
async fn what_a_tool_calls_is_its_own() {
    let house = house(ONE);
    let talk = house.talk("riley");
    assert_eq!(call(&talk, "get_symbol_performance", &quote()).await.status, 200);
    assert_eq!(call(&talk, "get_symbol_performance", &quote()).await.status, 429);
}

#[tokio::test]
async fn a_call_that_is_refused_before_is_not_counted() {
    let house = house(ONE);
    let talk = house.talk("riley");
    assert_eq!(call(&talk, "get_nothing", &json!({})).await.status, 404);
    assert_eq!(call(&talk, "get_quotes", &json!({"symbols": 7})).await.status, 422);
    assert_eq!(call(&talk, "get_quotes", &quote()).await.status, 200);
    // What is wrong is said first.
    assert_eq!(call(&talk, "get_quotes", &json!({"symbols": 7})).await.status, 422);
    assert_eq!(call(&talk, "get_quotes", &quote()).await.status, 429);
}

async fn approve(talk: &Talk, answer: &crate::http::talk::Answer) {
    assert_eq!(answer.status, 428, "{answer:?}");
    let location = answer.headers["location"].to_str().unwrap();
    let approve = json!({"approve": {"tool": "debug_confirm"}});
    assert_eq!(talk.post(&format!("{location}:decide"), &approve).await.status, 200);
}

#[tokio::test]
async fn the_call_after_an_approval_is_the_one_that_was_counted() {
    let house = house(ONE);
    let talk = house.talk("riley");
    let (confirmed, known) = (json!({"value": "x"}), key());
    let asked = call_as(&talk, "debug_confirm", &confirmed, &known).await;
    assert_eq!(call(&talk, "get_quotes", &quote()).await.status, 429);
    // It asks again, and no more.
    assert_eq!(call_as(&talk, "debug_confirm", &confirmed, &known).await.status, 428);
    approve(&talk, &asked).await;
    call_as(&talk, "debug_confirm", &confirmed, &known).await.ok();
    call_as(&talk, "debug_confirm", &confirmed, &known).await.ok();
}

#[tokio::test]
async fn a_caller_who_waits_for_a_person_is_counted_once() {
    let house = house(ONE);
    let talk = house.talk("riley");
    let known = key();
    let headers = [("idempotency-key", &*known), ("x-toolwire-wait-for-confirmation", "1m")];
    let waiting = talk.send("POST", "/v1/tools/debug_confirm:call", &headers, r#"{"value": "x"}"#);
    let deciding = async {
        let approver = crate::mcp::confirming::Approver::of(&house, "riley").await;
        let pending = approver.pending().await;
        approver.approve(&pending[0].confirmation_id).await;
    };
    let (done, ()) = tokio::join!(waiting, deciding);
    done.ok();
    assert_eq!(call(&talk, "get_quotes", &quote()).await.status, 429);
}
