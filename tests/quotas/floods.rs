//! A user who calls on although a quota is used up.

use std::time::Duration;

use serde_json::json;

use super::{call, house, quote};
use crate::http::{house::House, talk::Talk};

/// The seconds after which the refused call may be made again.
async fn wait_of_refused(talk: &Talk) -> u64 {
    let answer = call(talk, "get_quotes", &quote()).await;
    assert_eq!(answer.problem(), (429, "RATE_LIMITED".to_owned()));
    answer.headers["retry-after"].to_str().unwrap().parse().unwrap()
}

/// Frees every place, as another process of the state may do, without the server knowing.
async fn free_all(house: &House) {
    for number in 1..100 {
        house.server.app.state.cancel_reservation(number).await.unwrap();
    }
}

#[tokio::test]
async fn that_a_quota_is_used_up_is_known_for_a_second_without_asking_the_state() {
    let house = house("[[quota]]\ncalls = 1\nwindow = '1h'\n");
    let (talk, other, state) = (house.talk("riley"), house.talk("demo"), &house.server.app.state);
    let begin = state.now();
    let at = |millis| state.at_time(begin + Duration::from_millis(millis));
    at(0);
    let facts = json!({"topic": "etf"});
    for talk in [&talk, &other] {
        assert_eq!(call(talk, "get_facts", &facts).await.status, 200);
    }
    at(400);
    assert!((3_599..=3_600).contains(&wait_of_refused(&talk).await));
    free_all(&house).await;
    at(1_399);
    assert!((3_598..=3_599).contains(&wait_of_refused(&talk).await), "the wait counts from the refusal");
    assert_eq!(call(&other, "get_facts", &facts).await.status, 200, "nothing was known of others");
    at(1_400);
    assert_eq!(call(&talk, "get_quotes", &quote()).await.status, 200);
}

#[tokio::test]
async fn nothing_is_known_beyond_the_instant_at_which_a_place_becomes_free() {
    let house = house("[[quota]]\ncalls = 1\nwindow = '2s'\n");
    let (talk, state) = (house.talk("riley"), &house.server.app.state);
    let begin = state.now();
    let at = |millis| state.at_time(begin + Duration::from_millis(millis));
    at(0);
    assert_eq!(call(&talk, "get_quotes", &quote()).await.status, 200);
    at(1_500);
    assert_eq!(wait_of_refused(&talk).await, 1);
    at(2_001);
    assert_eq!(call(&talk, "get_quotes", &quote()).await.status, 200);
}

#[tokio::test]
async fn that_no_permit_is_free_is_known_until_one_of_this_process_is() {
    let house = house("[[quota]]\nconcurrent = 1\n");
    let (talk, state) = (house.talk("riley"), &house.server.app.state);
    let begin = state.now();
    let at = |millis| state.at_time(begin + Duration::from_millis(millis));
    at(0);
    let sleep = {
        let talk = talk.clone();
        tokio::spawn(async move { call(&talk, "debug_sleep", &json!({"duration": "60s"})).await })
    };
    house.until_running(1).await;
    assert_eq!(wait_of_refused(&talk).await, 1);
    free_all(&house).await;
    at(99);
    assert_eq!(wait_of_refused(&talk).await, 1);
    at(100);
    assert_eq!(call(&talk, "get_quotes", &quote()).await.status, 200);
    sleep.abort();
}
