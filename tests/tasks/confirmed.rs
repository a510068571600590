//! Calls of a task that a person must approve: the task waits, and goes on by the decision.

use toolwire::contract::proto::v1::{
    Approve, DecideConfirmationRequest, Deny, decide_confirmation_request::Decision,
};

use super::*;
use crate::support::{data_directory, patch_json};

async fn decide(person: &Person, id: &str, decision: Decision) {
    let message = DecideConfirmationRequest {
        confirmation_id: id.to_owned(),
        decision: Some(decision),
        on_behalf_of: String::new(),
    };
    person.confirmations.clone().decide_confirmation(person.request(message)).await.unwrap();
}

#[tokio::test]
async fn an_approved_call_of_a_task_is_carried_out_once_with_both_entries() {
    let server = server();
    let person = person(&server, "riley").await;
    let root = person.create("Pay").await;
    let message = root.message("debug_confirm", &json!({"value": "x"}));
    let asked = root.send(message.clone()).await.unwrap();
    let required = blocked(&asked).confirmation_required.clone().expect("what to decide on");
    assert_eq!(blocked(&asked).status, format!("→ awaiting confirmation {}", required.confirmation_id));
    assert_eq!(root.state().await, TaskState::AwaitingConfirmation);
    // The same call again says the same, and makes no further entry.
    assert_eq!(root.send(message.clone()).await.unwrap().sequence, asked.sequence);

    let approve = Approve { tool: "debug_confirm".to_owned(), reason: String::new() };
    decide(&person, &required.confirmation_id, Decision::Approve(approve)).await;
    assert_eq!(root.state().await, TaskState::Running);
    let written = root.send(message.clone()).await.unwrap();
    assert_eq!(data(&written)["writes"], 1);
    assert_eq!(data(&root.send(message).await.unwrap())["writes"], 1, "a repeat is answered from its record");
    insta::assert_snapshot!(without_times(&golden(&person, &[&root.task]).await));
}

#[tokio::test]
async fn a_denied_call_of_a_task_is_told_and_the_task_goes_on() {
    let server = server();
    let person = person(&server, "riley").await;
    let root = person.create("Pay").await;
    let message = root.message("debug_confirm", &json!({"value": "x"}));
    let asked = root.send(message.clone()).await.unwrap();
    let id = blocked(&asked).confirmation_required.clone().unwrap().confirmation_id;
    decide(&person, &id, Decision::Deny(Deny { reason: "not today".to_owned() })).await;
    assert_eq!(root.state().await, TaskState::Running);
    let told = root.send(message).await.unwrap();
    assert_eq!(told.action, "continue");
    insta::assert_snapshot!(golden(&person, &[&root.task]).await);
}

/// Text from outside in the task: a write is asked for, what only reads or stays within the tree is not.
#[tokio::test]
async fn a_task_that_has_read_text_from_outside_asks_before_it_writes() {
    let data = data_directory();
    patch_json(&data.path().join("tools/get_quotes.json"), &json!({"untrusted": true}));
    let mut config = config();
    config.data.dir = Some(data.path().to_owned());
    config.confirmations.own_calls = true;
    let server = Server::with(config);
    let person = person(&server, "riley").await;
    let root = person.create("Read, then write").await;
    root.handle("debug_write", &json!({"value": "before"})).await.unwrap();
    let read = root.handle("get_quotes", &json!({"symbol": "AMD"})).await.unwrap();
    assert_eq!(read.action, "continue", "{read:?}");
    assert!(person.task(&root.task).await.unwrap().tainted, "{read:?}");
    let asked = root.handle("debug_write", &json!({"value": "after"})).await.unwrap();
    let required = blocked(&asked).confirmation_required.clone().expect("asked for");
    assert_eq!(required.cause(), toolwire::contract::proto::v1::ConfirmationCause::Tainted);
    decide(&person, &required.confirmation_id, Decision::Deny(Deny { reason: "no".to_owned() })).await;
    root.handle("stop_and_think", &json!({"thoughts": "x"})).await.unwrap();
    root.handle("save_to_short_term_memory", &json!({"note": "x"})).await.unwrap();
    assert_eq!(root.hands_off(&json!({"a": 1}), &[]).await.action, "return");
}

/// What a tool says of the time.
fn without_times(text: &str) -> String {
    let is_time = |word: &str| word.len() >= 20 && word.starts_with('2') && word.ends_with('Z');
    text.split('"')
        .map(|word| if is_time(word.trim_end_matches('\\')) { "TIME\\" } else { word })
        .collect::<Vec<_>>()
        .join("\"")
}
