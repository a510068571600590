//! After a crash: what was open is settled, and nothing twice.

use std::cell::Cell;

use toolwire::state::{
    idempotency::Idempotency,
    tasks::{Recovered, life::Reason},
};

use super::*;

/// Settles what a process left that was killed, once it is missed.
async fn recover(house: &House) -> Recovered {
    let recovered = Cell::new(Recovered::default());
    let settles = async || {
        recovered.set(house.tasks().recover_tasks().await.unwrap());
        recovered.get() != Recovered::default()
    };
    state::until(settles).await;
    recovered.get()
}

#[tokio::test]
async fn reads_wait_to_be_made_again_and_other_writes_block_their_task() {
    let house = House::new();
    let (reads, writes, delegates) = (house.root().await, house.root().await, house.root().await);
    let read = TaskCall { effect: Effect::Read, ..call(&reads, "list_documents", CallType::Function) };
    let write = call(&writes, "write_file", CallType::Function);
    let delegate = call(&delegates, "route_to_analyst", CallType::AgentAsTool);
    for begun in [&read, &write, &delegate] {
        assert_new(house.tasks().begin_task_call(begun, None).await);
    }
    // As long as the process is there, nobody takes anything from it.
    assert_eq!(house.other().recover_tasks().await.unwrap(), Recovered::default());
    let house = house.again();
    let recovered = recover(&house).await;
    assert_eq!(recovered, Recovered { reads: 1, settled: 1, unknown: 1 });
    assert_eq!(house.tasks().recover_tasks().await.unwrap(), Recovered::default(), "once");

    let leased = house.lease(&reads.id, "next", None, now()).await.unwrap();
    let [open] = leased.open_calls.as_slice() else { panic!("{leased:?}") };
    assert_eq!(
        (open.call_id, open.request_id, &open.input),
        (read.call_id(), read.key.request_id, &read.input)
    );
    let step_ref = StepRef { lease_token: 1, ..StepRef::default() };
    let again = TaskCall { about: about(), step_ref, ..read };
    let begun = house.tasks().begin_task_call(&again, None).await;
    assert!(matches!(begun, Ok(Admission::Begun(Begun::Unfinished { .. }))), "{begun:?}");
    let done = result(&again, Ok(json!({})));
    house.tasks().end_task_call(&again, ended(&done)).await.unwrap();
    assert_eq!(house.told(&reads.id).await, ["created", "next started", "list_documents"]);
    assert_eq!(house.lease(&reads.id, "next", Some(1), now()).await.unwrap().open_calls, []);

    let blocked = house.assert_folds(&writes.id).await;
    assert_eq!(blocked.state, State::Blocked(Reason::UnknownOutcome));
    assert_eq!(blocked.unknown_calls().collect::<Vec<_>>(), [write.call_id()]);
    assert_eq!(house.told(&writes.id).await, ["created", "write_file → outcome unknown"]);

    // It did nothing, and is done now.
    house.tasks().delegate_task(&delegate, &child()).await.unwrap();
    assert_eq!(house.assert_folds(&delegates.id).await.state, State::Blocked(Reason::Child));
}

#[tokio::test]
async fn an_open_write_whose_outcome_is_known_gets_it_as_its_entry() {
    let house = House::new();
    let root = house.root().await;
    let write = call(&root, "write_file", CallType::Function);
    assert_new(house.tasks().begin_task_call(&write, None).await);
    let done = result(&write, Ok(json!({"path": "a.md"})));
    house.store.end(&write.key, &done).await.unwrap();
    let house = house.again();
    let recovered = recover(&house).await;
    assert_eq!(recovered, Recovered { reads: 0, settled: 1, unknown: 0 });
    let Body::ToolCall(entry) = house.timeline(&root.id).await.remove(1).body else { panic!() };
    assert_eq!(entry.result.unwrap().inline(), Some(r#"{"path":"a.md"}"#));
    assert_eq!(house.assert_folds(&root.id).await.state, State::Running);
}
