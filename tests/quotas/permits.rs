//! Calls at once: each holds a permit while it runs.

use serde_json::{Value, json};
use tokio::time::timeout;
use toolwire::tool::context::RequestId;

use super::{call, call_as, house, quote};
use crate::{
    http::talk::Talk,
    mcp::{client::SOON, confirming::Approver},
};

const ONE: &str = "[[quota]]\nconcurrent = 1\n";

fn key() -> String {
    RequestId::generate().to_string()
}

async fn is_full(talk: &Talk) -> bool {
    let answer = call(talk, "get_facts", &json!({"topic": "etf"})).await;
    if answer.status == 200 {
        return false;
    }
    assert_eq!(answer.problem(), (429, "RATE_LIMITED".to_owned()));
    assert!(answer.text.contains("your quota of 1 call at once is used up"), "{answer:?}");
    assert_eq!(answer.headers["retry-after"], "1");
    true
}

#[tokio::test]
async fn one_call_after_the_other_finds_its_permit_free() {
    let house = house(ONE);
    let talk = house.talk("riley");
    for number in 0..20 {
        assert_eq!(call(&talk, "get_quotes", &quote()).await.status, 200, "{number}");
        let write = json!({"value": "x"});
        assert_eq!(call_as(&talk, "debug_write", &write, &key()).await.status, 200, "{number}");
    }
}

#[tokio::test]
async fn another_call_at_once_is_refused_until_the_first_has_ended() {
    let house = house(ONE);
    let (riley, demo) = (house.talk("riley"), house.talk("demo"));
    let sleep = json!({"duration": "60s"});
    let other = riley.clone();
    let running = tokio::spawn(async move { call(&other, "debug_sleep", &sleep).await });
    house.until_running(1).await;
    assert!(is_full(&riley).await);
    assert!(!is_full(&demo).await);
    // The connection goes, and the read ends with it.
    running.abort();
    let free = async { while is_full(&riley).await {} };
    timeout(SOON, free).await.unwrap();
}

#[tokio::test]
async fn a_write_holds_its_permit_when_its_caller_has_left() {
    let house = house(ONE);
    let talk = house.talk("riley");
    let (other, write) = (talk.clone(), json!({"value": "x", "duration": "8s"}));
    let running = tokio::spawn(async move { call_as(&other, "debug_write", &write, &key()).await });
    // The call and its work, of which the call ends with its connection.
    house.until_running(2).await;
    running.abort();
    house.until_running(1).await;
    assert!(is_full(&talk).await);
    let ended = house.server.app.tools.in_flight();
    timeout(SOON, ended.wait_until_empty()).await.unwrap();
    let free = async { while is_full(&talk).await {} };
    timeout(SOON, free).await.unwrap();
}

#[tokio::test]
async fn no_permit_is_held_while_a_person_is_waited_for_and_one_is_needed_after() {
    let house = house(ONE);
    let talk = house.talk("riley");
    let known = key();
    let waiter = (talk.clone(), known.clone());
    let waiting = tokio::spawn(async move {
        let headers = [("idempotency-key", &*waiter.1), ("x-toolwire-wait-for-confirmation", "1m")];
        waiter.0.send("POST", "/v1/tools/debug_confirm:call", &headers, r#"{"value": "x"}"#).await
    });
    let approver = Approver::of(&house, "riley").await;
    let pending = approver.pending().await;
    let free = async { while is_full(&talk).await {} };
    timeout(SOON, free).await.unwrap();

    // Another call takes the permit; the approved one is refused, and its approval is not used up.
    let (other, sleep) = (talk.clone(), json!({"duration": "60s"}));
    let running = tokio::spawn(async move { call(&other, "debug_sleep", &sleep).await });
    house.until_running(2).await;
    assert!(is_full(&talk).await);
    approver.approve(&pending[0].confirmation_id).await;
    assert_eq!(waiting.await.unwrap().status, 429);
    running.abort();
    let value: Value = json!({"value": "x"});
    let done = async {
        loop {
            let answer = call_as(&talk, "debug_confirm", &value, &known).await;
            if answer.status != 429 {
                return answer;
            }
        }
    };
    timeout(SOON, done).await.unwrap().ok();
}

#[tokio::test]
async fn a_repeat_of_a_call_that_runs_takes_no_permit() {
    let house = house(ONE);
    let talk = house.talk("riley");
    let (write, known) = (json!({"value": "x", "duration": "0.5s"}), key());
    let all = futures_util::future::join_all((0..5).map(|_| call_as(&talk, "debug_write", &write, &known)));
    assert!(all.await.iter().all(|answer| answer.status == 200));
    assert!(!is_full(&talk).await);
}
