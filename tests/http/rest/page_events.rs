//! The stream of a page: every topic under its name, and after a lost stream no gap.

use serde_json::{Value, json};
use toolwire::config::Config;

use crate::http::{
    house::House,
    talk::{Event, Events, Talk},
};

fn house() -> House {
    House::with(|config: &mut Config| config.server.diagnostics = true)
}

async fn open(talk: &Talk, query: &str, after: &str) -> Events {
    talk.open("GET", &format!("/v1/events{query}"), &[("last-event-id", after)], "").await
}

async fn next(events: &mut Events, name: &str) -> Event {
    loop {
        let event = events.next().await.expect("the stream has no end");
        if event.name == name {
            return event;
        }
    }
}

async fn quote(talk: &Talk) -> Value {
    talk.post("/v1/tools/get_quotes:call", &json!({"symbol": "AMD"})).await.ok()["call_id"].clone()
}

async fn asks(talk: &Talk, key: &str) -> Value {
    let body = json!({"value": "x"}).to_string();
    let asked = talk.send("POST", "/v1/tools/debug_confirm:call", &[("idempotency-key", key)], &body).await;
    assert_eq!(asked.status, 428, "{asked:?}");
    asked.json()["confirmation"]["confirmation_id"].clone()
}

#[tokio::test]
async fn each_topic_begins_with_what_there_is_and_goes_on_with_what_changes() {
    let house = house();
    let riley = house.talk("riley");
    let mut events = open(&riley, "", "").await;
    let mut missing = vec![
        "calls.synced",
        "confirmations.synced",
        "tools.added",
        "tools.synced",
        "providers.synced",
        "stats",
        "tasks.synced",
    ];
    while !missing.is_empty() {
        let event = events.next().await.unwrap();
        assert_ne!(event.name, "reset", "{event:?}");
        missing.retain(|name| *name != event.name);
    }
    let call = quote(&riley).await;
    assert_eq!(next(&mut events, "calls.ended").await.data["call"]["call_id"], call);
    let confirmation = asks(&riley, "6f1c2e0a-7b1d-4e9b-9c50-0d6a0f2b7a11").await;
    let requested = next(&mut events, "confirmations.requested").await;
    assert_eq!(requested.data["confirmation"]["confirmation_id"], confirmation);
    let task = json!({"request": "mine", "request_id": "6f1c2e0a-7b1d-4e9b-9c50-0d6a0f2b7a12"});
    let task = riley.post("/v1/tasks", &task).await.ok()["task"]["task_id"].clone();
    assert_eq!(next(&mut events, "tasks.changed").await.data["task"]["task_id"], task);
    house.patch("get_quotes", &json!({"title": "Other quotes"}));
    assert_eq!(next(&mut events, "tools.changed").await.data["tool"]["name"], "get_quotes");
    quote(&riley).await;
    let counted = next(&mut events, "stats").await;
    assert!(counted.data["buckets"].is_array(), "{counted:?}");
}

#[tokio::test]
async fn a_lost_stream_goes_on_after_its_last_event() {
    const TOPICS: &str = "?topics=calls,confirmations,tools";
    let house = house();
    let riley = house.talk("riley");
    let mut events = open(&riley, TOPICS, "").await;
    let mut missing = ["calls.synced", "confirmations.synced", "tools.synced"].to_vec();
    while !missing.is_empty() {
        let event = events.next().await.unwrap();
        missing.retain(|name| *name != event.name);
    }
    asks(&riley, "6f1c2e0a-7b1d-4e9b-9c50-0d6a0f2b7a11").await;
    let (mut known, mut missing) = (Vec::new(), ["confirmations.requested", "calls.ended"].to_vec());
    while !missing.is_empty() {
        known.push(events.next().await.unwrap());
        missing.retain(|name| known.iter().all(|event| event.name != *name));
    }
    drop(events);
    let (last, asked) =
        (&known[known.len() - 1].id, known.iter().find(|it| it.name == "calls.ended").unwrap());
    let confirmation = asks(&riley, "6f1c2e0a-7b1d-4e9b-9c50-0d6a0f2b7a12").await;
    let call = quote(&riley).await;
    let mut events = open(&riley, TOPICS, last).await;
    let (mut calls, mut confirmations) = (Vec::new(), Vec::new());
    while calls.last() != Some(&call) || confirmations.last() != Some(&confirmation) {
        let event = events.next().await.unwrap();
        match event.name.as_str() {
            "calls.started" => {}
            "calls.ended" => calls.push(event.data["call"]["call_id"].clone()),
            "confirmations.requested" => {
                confirmations.push(event.data["confirmation"]["confirmation_id"].clone());
            }
            // Neither a reset nor the state: only what the stream before did not have.
            _ => panic!("{event:?}"),
        }
    }
    assert!(!calls.contains(&asked.data["call"]["call_id"]), "the resumed stream repeats a call");
    assert_eq!(confirmations, [confirmation]);
    // An id of no event of this stream.
    let mut events = open(&riley, TOPICS, "x").await;
    let reset = events.next().await.unwrap();
    assert_eq!(reset.data, json!({"topics": ["calls", "confirmations", "tools"]}), "{reset:?}");
}

#[tokio::test]
async fn streams_of_one_user_share_each_event_and_those_of_others_do_not() {
    let house = house();
    let (riley, demo) = (house.talk("riley"), house.talk("demo"));
    let mut streams = Vec::new();
    // The order of topics makes no difference.
    for topics in ["?topics=calls,tools", "?topics=tools,calls"] {
        streams.push(open(&riley, topics, "").await);
    }
    let mut other = open(&demo, "?topics=calls,tools", "").await;
    for events in streams.iter_mut().chain([&mut other]) {
        next(events, "tools.synced").await;
    }
    let call = quote(&riley).await;
    let foreign = demo.post("/v1/tools/get_quotes:call", &json!({"symbol": "AAPL"})).await.ok();
    let mut ended = Vec::new();
    for events in &mut streams {
        ended.push(next(events, "calls.ended").await);
    }
    assert_eq!(ended[0].data["call"]["call_id"], call);
    // The id names the feed and the event in it.
    assert_eq!(ended[0], ended[1]);
    let event = next(&mut other, "calls.ended").await;
    assert_eq!(event.data["call"]["call_id"], foreign["call_id"]);
    assert_ne!(event.id.split('.').next(), ended[0].id.split('.').next());
    // An id of another user's stream resumes nothing.
    let mut events = open(&demo, "?topics=calls,tools", &ended[0].id).await;
    assert_eq!(events.next().await.unwrap().name, "reset");
}

#[tokio::test]
async fn a_stream_beyond_the_share_of_its_user_is_refused_and_others_have_theirs() {
    let house = House::with(|config: &mut Config| config.server.limits.max_watches_per_user = 2);
    let (riley, demo) = (house.talk("riley"), house.talk("demo"));
    let _open = [open(&riley, "", "").await, open(&riley, "", "").await];
    let refused = riley.get("/v1/events").await;
    assert_eq!(refused.problem(), (429, "SHARE_EXHAUSTED".to_owned()));
    assert!(refused.text.contains("at most 2 watches at once"), "{refused:?}");
    let mut events = open(&demo, "", "").await;
    next(&mut events, "tasks.synced").await;
}

#[tokio::test]
async fn a_topic_that_there_is_not_is_refused() {
    let house = house();
    let answer = house.talk("riley").get("/v1/events?topics=calls,weather").await;
    assert_eq!(answer.problem(), (400, "INVALID_REQUEST".to_owned()));
    assert!(answer.text.contains("confirmations"), "{answer:?}");
}

#[tokio::test]
async fn a_page_learns_how_to_sign_in_and_who_it_is() {
    let house = house();
    let riley = house.talk("riley");
    let console = riley.get("/v1/console").await.ok();
    assert_eq!((&console["sign_in"], &console["issuers"]), (&json!("none"), &json!([])), "{console}");
    let viewer = riley.get("/v1/viewer").await.ok();
    assert_eq!((&viewer["user_id"], &viewer["observes"]), (&json!("riley"), &json!(false)), "{viewer}");
    assert_eq!((&viewer["approves"], &viewer["approves_own"]), (&json!(false), &json!(true)), "{viewer}");
}
