//! `/api/chat` with its traces, and `/agent`: replies, events, pauses, repeats, and what is refused.

use serde_json::{Value, json};
use toolwire::tool::context::RequestId;

use super::steady;
use crate::http::{house::House, talk::Event};

const QUESTION: &str = "What is Apple trading at?";
const WRITE: &str = "Add Infosys to my watchlist";

fn names(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| event.name.as_str()).collect()
}

#[tokio::test]
async fn a_chat_answers_with_five_members_and_its_trace_can_be_asked_for() {
    let house = House::new();
    let talk = house.talk("demo");
    let answer = talk.post("/api/chat", &json!({"message": QUESTION})).await;
    insta::assert_json_snapshot!("chat", answer.ok());
    let turn_id = answer.headers["x-toolwire-turn-id"].to_str().unwrap();
    let trace = talk.get(&format!("/api/traces/{turn_id}")).await.ok();
    insta::assert_json_snapshot!("trace", steady(trace));
    let foreign = house.talk("sam").get(&format!("/api/traces/{turn_id}")).await;
    assert_eq!(foreign.problem(), (404, "UNKNOWN_TURN".to_owned()));
}

#[tokio::test]
async fn a_turn_is_replied_to_at_once_or_event_by_event() {
    let house = House::new();
    let talk = house.talk("demo");
    let reply = talk.post("/agent/chat", &json!({"message": QUESTION})).await.ok();
    insta::assert_json_snapshot!("reply", steady(reply));
    let body = json!({"message": QUESTION}).to_string();
    let events = talk.open("POST", "/agent/stream", &[], &body).await.all().await;
    let ids: Vec<_> = events.iter().map(|event| event.id.parse::<usize>().unwrap()).collect();
    assert_eq!(ids, (0..events.len()).collect::<Vec<_>>());
    let told = events.iter().map(|event| json!([event.name, steady(event.data.clone())]));
    insta::assert_json_snapshot!("events", told.collect::<Value>());
}

#[tokio::test]
async fn performance_in_a_chat_comes_with_transfers() {
    let house = House::new();
    let talk = house.talk("demo");
    let answer = talk.post("/api/chat", &json!({"message": "What is my performance this year?"})).await;
    let response = answer.ok();
    let citations: Vec<_> =
        response["citations"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    assert!(
        citations.contains(&"tool:performance:v1") && citations.contains(&"tool:transfers:v1"),
        "{response}"
    );
    let turn_id = answer.headers["x-toolwire-turn-id"].to_str().unwrap();
    let trace = talk.get(&format!("/api/traces/{turn_id}")).await.ok();
    assert_eq!(trace["intent"], "performance");
    let tools: Vec<_> =
        trace["tools"].as_array().unwrap().iter().map(|it| it["component"].as_str().unwrap()).collect();
    assert!(tools.contains(&"performance") && tools.contains(&"transfers"), "{trace}");
}

#[tokio::test]
async fn messages_say_what_was_said_before() {
    let house = House::new();
    let talk = house.talk("demo");
    let messages = json!([
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": "193.12"},
        {"role": "user", "content": "How is VOO doing?"},
    ]);
    let reply = talk.post("/agent/chat", &json!({"messages": messages})).await.ok();
    assert!(reply["response"]["answer_markdown"].as_str().unwrap().contains("VOO"), "{reply}");
}

#[tokio::test]
async fn a_write_pauses_until_it_is_decided_and_is_done_once() {
    let house = House::new();
    let talk = house.talk("demo");
    let paused = talk.post("/agent/chat", &json!({"message": WRITE, "session_id": "s"})).await;
    assert_eq!(paused.status, 202, "{paused:?}");
    let paused = paused.json();
    assert_eq!(paused["pending"][0]["tool"], "add_to_watchlist");
    let past = talk.post("/agent/chat", &json!({"message": QUESTION, "session_id": "s"})).await;
    assert_eq!(past.problem().1, "TURN_PAUSED");
    let again = talk.post("/agent/chat", &json!({"resume": {"turn_id": paused["turn_id"]}})).await;
    assert_eq!(again.status, 202);
    // Decided as AG-UI does.
    let id = &paused["pending"][0]["confirmation_required"]["confirmation_id"];
    let resume = json!([{"interruptId": id, "status": "resolved", "payload": {"approved": true}}]);
    let resume = json!({"action": "chat", "threadId": "s", "resume": resume});
    let done = talk.post("/copilotkit/action", &resume).await.ok();
    assert_eq!(done["outcome"]["type"], "success");
    let over = talk.post("/agent/chat", &json!({"resume": {"turn_id": paused["turn_id"]}})).await;
    assert_eq!(over.problem().1, "TURN_NOT_PAUSED");
}

#[tokio::test]
async fn a_repeat_is_told_the_end_and_nothing_is_done_twice() {
    let house = House::new();
    let talk = house.talk("demo");
    let request_id = RequestId::generate().to_string();
    let body = json!({"message": QUESTION, "request_id": request_id}).to_string();
    let first = talk.open("POST", "/agent/stream", &[], &body).await.all().await;
    let again = talk.open("POST", "/agent/stream", &[("last-event-id", "2")], &body).await.all().await;
    assert_eq!(names(&again), ["final"]);
    let answer = |event: &Event| event.data["final"]["response"]["answer_markdown"].clone();
    assert_eq!(answer(first.last().unwrap()), answer(&again[0]));
    // Who follows it by name is told the same, and then to ask no more.
    let path = format!("/agent/stream/{request_id}");
    let followed = talk.open("GET", &path, &[], "").await.all().await;
    assert_eq!((names(&followed), followed[0].id.as_str()), (vec!["final"], "end"));
    assert_eq!(talk.send("GET", &path, &[("last-event-id", "end")], "").await.status, 204);
    assert_eq!(talk.send("POST", "/agent/stream", &[("last-event-id", "end")], &body).await.status, 204);
    // An empty one names none, and no event has one that is not a number.
    let nameless = talk.open("POST", "/agent/stream", &[("last-event-id", "")], &body).await.all().await;
    assert_eq!(names(&nameless), ["final"]);
    for malformed in ["ends", "-1", "1.5", "18446744073709551615"] {
        let refused = talk.send("GET", &path, &[("last-event-id", malformed)], "").await;
        assert_eq!(refused.problem(), (400, "INVALID_REQUEST".to_owned()), "{malformed}");
    }
    let twice = talk.send("GET", &path, &[("last-event-id", "1"), ("last-event-id", "2")], "").await;
    assert_eq!(twice.status, 400);
    let other = json!({"message": "Other words", "request_id": request_id});
    assert_eq!(talk.post("/agent/chat", &other).await.problem().1, "REQUEST_ID_REUSED");
}

#[tokio::test]
async fn what_no_turn_can_be_made_of_is_refused_before_anything_runs() {
    let house = House::new();
    let talk = house.talk("demo");
    for body in [
        json!({}),
        json!({"message": ""}),
        json!({"message": "a", "messages": [{"role": "user", "content": "b"}]}),
        json!({"message": "x".repeat(16_385)}),
        json!({"message": "a", "request_id": "no"}),
        json!({"message": "a", "user_id": "sam"}),
        json!({"message": "a", "session_id": "x".repeat(129)}),
        json!({"message": 5}),
        json!({"message": "a", "budget": {"max_time": "soon"}}),
        json!(["a"]),
    ] {
        let refused = talk.post("/agent/chat", &body).await;
        assert_eq!(refused.problem(), (400, "INVALID_REQUEST".to_owned()), "{body} {refused:?}");
    }
    let resume = json!({"resume": {"turn_id": RequestId::generate().to_string()}});
    let missing = talk.post("/agent/chat", &resume).await;
    assert_eq!(missing.problem(), (404, "UNKNOWN_TURN".to_owned()));
}
