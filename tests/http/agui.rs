//! AG-UI over the listener: the events of a run, interrupts, and what is refused. What a run says is tested by
//! itself, beside the code; its own clients are in tests/clients/web.

use serde_json::{Value, json};
use toolwire::tool::context::RequestId;

use crate::http::{
    house::House,
    talk::{Event, Talk},
};

const QUESTION: &str = "What is Apple trading at?";
const WRITE: &str = "Add Infosys to my watchlist";

fn says(thread: &str, text: &str) -> Value {
    let message = json!({"id": "m1", "role": "user", "content": text});
    json!({"threadId": thread, "runId": "r1", "messages": [message], "tools": [], "context": [], "state": {}})
}

fn answers(thread: &str, interrupt: &Value, payload: &Value) -> Value {
    let entry = json!({"interruptId": interrupt["id"], "status": "resolved", "payload": payload});
    json!({"threadId": thread, "runId": "r2", "messages": [], "resume": [entry]})
}

async fn run(talk: &Talk, input: &Value) -> Vec<Event> {
    talk.open("POST", "/copilotkit/stream", &[], &input.to_string()).await.all().await
}

fn types(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| event.data["type"].as_str().unwrap()).collect()
}

fn last(events: &[Event]) -> &Value {
    &events.last().unwrap().data
}

#[tokio::test]
async fn a_question_is_a_run_from_its_start_to_its_end() {
    let events = run(&House::new().talk("demo"), &says("t", QUESTION)).await;
    insta::assert_json_snapshot!(types(&events));
    assert_eq!((&last(&events)["threadId"], &last(&events)["runId"]), (&json!("t"), &json!("r1")));
    assert_eq!(last(&events)["result"]["response"]["citations"], json!(["tool:quotes:v1"]));
}

#[tokio::test]
async fn an_action_is_a_run_as_one_answer() {
    let house = House::new();
    let talk = house.talk("demo");
    let mut input = says("t", QUESTION);
    input["action"] = "chat".into();
    let answer = talk.post("/copilotkit/action", &input).await.ok();
    let keys: Vec<_> = answer.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["threadId", "runId", "newMessages", "state", "result", "outcome"]);
    let roles: Vec<_> =
        answer["newMessages"].as_array().unwrap().iter().map(|it| it["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["assistant", "tool", "assistant"]);
    assert_eq!(answer["outcome"], json!({"type": "success"}));
    input["action"] = "dance".into();
    let refused = talk.post("/copilotkit/action", &input).await;
    assert_eq!(refused.problem(), (400, "UNKNOWN_ACTION".to_owned()));
}

#[tokio::test]
async fn a_write_is_an_interrupt_that_its_caller_answers_where_that_counts() {
    let house = House::new();
    let talk = house.talk("demo");
    let events = run(&talk, &says("t", WRITE)).await;
    let end = last(&events).clone();
    assert_eq!(end["outcome"]["type"], "interrupt", "{end}");
    let interrupt = &end["outcome"]["interrupts"][0];
    assert_eq!(interrupt["metadata"]["tool"], "add_to_watchlist");
    let snapshot = &events[events.len() - 2].data;
    assert_eq!(snapshot["type"], "MESSAGES_SNAPSHOT");
    assert_eq!(snapshot["messages"][0]["content"], WRITE);
    let none = answers("t", &json!({"id": "conf_none"}), &json!({"approved": true}));
    let refused = talk.post("/copilotkit/stream", &none).await;
    assert_eq!(refused.problem(), (400, "INVALID_REQUEST".to_owned()));
    let done = run(&talk, &answers("t", interrupt, &json!({"approved": true}))).await;
    let result = done.iter().find(|event| event.data["type"] == "TOOL_CALL_RESULT").unwrap();
    assert_eq!(result.data["toolCallId"], interrupt["toolCallId"]);
    assert_eq!(last(&done)["outcome"]["type"], "success");
    assert!(!types(&done).contains(&"TOOL_CALL_START"));
}

#[tokio::test]
async fn where_callers_may_not_decide_their_word_does_not_count() {
    let house = House::with(|config| config.confirmations.own_calls = false);
    let talk = house.talk("demo");
    let events = run(&talk, &says("t", WRITE)).await;
    let interrupt = last(&events)["outcome"]["interrupts"][0].clone();
    let again = run(&talk, &answers("t", &interrupt, &json!({"approved": true}))).await;
    assert_eq!(last(&again)["outcome"]["interrupts"][0]["id"], interrupt["id"]);
    assert!(!types(&again).contains(&"TOOL_CALL_RESULT"));
}

#[tokio::test]
async fn the_same_run_again_is_the_same_turn() {
    let house = House::new();
    let talk = house.talk("demo");
    let mut input = says("t", QUESTION);
    input["runId"] = RequestId::generate().to_string().into();
    let (first, again) = (run(&talk, &input).await, run(&talk, &input).await);
    assert_eq!(last(&first)["result"], last(&again)["result"]);
}

#[tokio::test]
async fn a_thread_of_another_user_is_another_thread() {
    let house = House::new();
    let events = run(&house.talk("demo"), &says("t", WRITE)).await;
    let interrupt = last(&events)["outcome"]["interrupts"][0].clone();
    let foreign = answers("t", &interrupt, &json!({"approved": true}));
    let refused = house.talk("sam").post("/copilotkit/stream", &foreign).await;
    assert_eq!(refused.problem(), (400, "INVALID_REQUEST".to_owned()));
}
