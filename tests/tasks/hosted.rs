//! Calls of tasks that a host executes: conditions of its offer, bound arguments, and an outcome that comes late.

use toolwire::contract::proto::{
    host::v1::{Offer, work_response::Message},
    tasks::v1::{BlockReason, timeline_entry::Entry},
    v1::{
        Approve, ConfirmationCause, DecideConfirmationRequest, ToolCategory,
        decide_confirmation_request::Decision,
    },
};

use super::*;
use crate::hosts::host::{Host, offer};

fn refund() -> Offer {
    Offer { category: ToolCategory::Write.into(), ..offer("refund") }
}

async fn attached(server: &Server, offer: Offer) -> Host {
    let mut host = Host::dial(server, None).await.expect("welcome");
    let welcome = host.greet(vec![offer]).await.expect("welcome");
    assert_eq!((welcome.accepted, welcome.verdicts.len()), (1, 0), "{welcome:?}");
    host
}

#[tokio::test]
async fn an_outcome_that_comes_late_resolves_the_call_in_its_record_and_in_its_task() {
    let server = server();
    let timeout = Some(prost_types::Duration { seconds: 1, nanos: 0 });
    let host = attached(&server, Offer { timeout, ..refund() }).await;
    let agent = person(&server, "riley").await.create("Refund").await;
    let message = agent.message("refund", &json!({"order_id": "A-1"}));
    let mut lost = host;
    let serving = async {
        let start = lost.start().await;
        drop(lost);
        start
    };
    let (answer, start) = tokio::join!(agent.send(message.clone()), serving);
    let text = format!("{:?}", answer.unwrap());
    assert!(text.contains("OutcomeUnknown") || text.contains("UnknownOutcome"), "{text}");
    // The answer may come before the record, which waits for the host until the deadline.
    entry_of(&agent.person, &agent.task, |it| matches!(it, Entry::ToolCall(_))).await;
    let task = agent.person.task(&agent.task).await.unwrap();
    assert_eq!((task.block_reason(), task.unknown_call_ids.len()), (BlockReason::UnknownOutcome, 1));

    let mut host = Host::dial(&server, None).await.expect("welcome");
    host.greet(vec![refund()]).await.expect("welcome");
    host.late(&start, &json!({"state": "paid"})).await;
    assert!(matches!(host.next().await, Ok(Some(Message::LateTaken(_)))));
    let answer = entry_of(&agent.person, &agent.task, |it| matches!(it, Entry::Answer(_))).await;
    let Some(Entry::Answer(answer)) = answer.entry else { panic!("{answer:?}") };
    assert_eq!(agent.state().await, TaskState::Running);
    assert_eq!(answer.status, "← resolved by its own outcome");
    let repeated = agent.send(message).await.unwrap();
    assert_eq!(data(&repeated), json!({"state": "paid"}), "and the host has no second call");
}

#[tokio::test]
async fn a_call_that_breaks_a_condition_of_the_offer_reaches_the_host_after_a_yes_only() {
    let server = server();
    let offer = Offer {
        approve_unless: r#"{"order_id": {"pattern": "^A"}}"#.into(),
        bind: [("account".to_owned(), "user.id".to_owned())].into(),
        ..refund()
    };
    let mut host = attached(&server, offer).await;
    let agent = person(&server, "riley").await.create("Refund").await;
    let within = agent.message("refund", &json!({"order_id": "A-1"}));
    let outside = agent.message("refund", &json!({"order_id": "B-1"}));
    let refused = agent.message("refund", &json!({"order_id": "A-1", "account": "sam"}));
    let serve = async |host: &mut Host| {
        let start = host.start().await;
        host.outcome(&start, &json!({"state": "paid"})).await;
        serde_json::from_str::<Value>(&start.arguments_json).expect("JSON")
    };
    let (answer, arguments) = tokio::join!(agent.send(within), serve(&mut host));
    assert_eq!(data(&answer.unwrap()), json!({"state": "paid"}));
    assert_eq!(arguments, json!({"order_id": "A-1", "account": "riley"}));
    let text = format!("{:?}", agent.send(refused).await);
    assert!(text.contains("account"), "{text}");

    let asked = agent.send(outside.clone()).await.unwrap();
    let required = blocked(&asked).confirmation_required.clone().expect("what to decide on");
    assert_eq!(required.cause(), ConfirmationCause::Condition);
    let approve = Approve { tool: "refund".to_owned(), reason: String::new() };
    let message = DecideConfirmationRequest {
        confirmation_id: required.confirmation_id,
        decision: Some(Decision::Approve(approve)),
        on_behalf_of: String::new(),
    };
    let person = &agent.person;
    person.confirmations.clone().decide_confirmation(person.request(message)).await.unwrap();
    // The first start of it: nothing reached the host before.
    let (answer, arguments) = tokio::join!(agent.send(outside), serve(&mut host));
    assert_eq!(data(&answer.unwrap()), json!({"state": "paid"}));
    assert_eq!(arguments["order_id"], "B-1");
}
