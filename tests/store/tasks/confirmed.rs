//! Calls of tasks that a person must approve: the task waits, and the decision's own change tells it.

use bytes::Bytes;
use toolwire::{
    contract::{ConfirmationCause, ConfirmationId, proto::v1::ConsequenceLevel},
    state::{
        confirmations::{CallRef, Confirmation, ConfirmationRequest, Decided, Decision, Verdict},
        idempotency::Beginning,
        tasks::ExpiringRequest,
    },
    tool::context::{Outermost, TaskLabel},
};

use super::*;

fn asked(call: &TaskCall) -> ConfirmationRequest {
    ConfirmationRequest {
        user_email: None,
        face: "grpc".to_owned(),
        client: String::new(),
        path: vec![call.key.tool.clone()],
        summary: "Write".to_owned(),
        arguments: Some(Map::new()),
        definition_digest: Digest::of_bytes(b"definition"),
        definition: Bytes::new(),
        category: ToolCategory::Write,
        consequence_level: ConsequenceLevel::Low,
        cause: ConfirmationCause::Manifest,
        task_id: Some(TaskLabel::from(call.task.clone())),
        session_id: None,
        outermost: Outermost {
            call_id: call.call_id(),
            request_id: call.key.request_id,
            is_repeatable: true,
        },
    }
}

pub(super) async fn begin(house: &House, call: &TaskCall, at: SystemTime) -> Result<Admission, TaskError> {
    let asked = asked(call);
    let asking = ExpiringRequest { asked: &asked, decide_within: 10 * MINUTE };
    house.tasks().at_time(at).begin_task_call(call, Some(asking)).await
}

async fn asks(house: &House, call: &TaskCall) -> Box<Confirmation> {
    match begin(house, call, now()).await {
        Ok(Admission::Asks(confirmation)) => confirmation,
        other => panic!("{other:?}"),
    }
}

pub(super) async fn decide(house: &House, id: &ConfirmationId, approves: bool) {
    let digest = Some(Digest::of_bytes(b"definition"));
    let verdict = if approves {
        Verdict::Approve { use_within: 10 * MINUTE, definition_digest: digest }
    } else {
        Verdict::Deny
    };
    let decided =
        Decided { at: now(), by: user("alex"), via: "grpc".to_owned(), on_behalf_of: String::new() };
    let reason = "because".to_owned();
    let decision =
        Decision { verdict, decided, reason, known_by: KnownBy::Token, peer: None, workload: None };
    house.tasks().decide_confirmation(id, &decision).await.unwrap().unwrap();
}

fn write(task: &Task) -> TaskCall {
    call(task, "write_file", CallType::Function)
}

#[tokio::test]
async fn what_nobody_decides_or_uses_in_time_is_told_once_each() {
    let house = House::new();
    let root = house.root().await;
    let (undecided, unused) = (
        TaskCall { step_ref: of_step(1), ..write(&root) },
        TaskCall { step_ref: of_step(1), ..write(&root) },
    );
    asks(&house, &undecided).await;
    let approved = asks(&house, &unused).await;
    decide(&house, &approved.id, true).await;
    let late = now() + 11 * MINUTE;
    assert_eq!(house.store.at_time(late).expire_confirmations().await.unwrap(), 2);
    assert_eq!(house.store.at_time(late).expire_confirmations().await.unwrap(), 0);
    let mut told = house.told(&root.id).await.split_off(3);
    assert_eq!(told.remove(0), "2 ← confirmed by alex");
    told.sort();
    assert_eq!(told, ["1 ← not confirmed in time", "2 ← not confirmed in time"]);
    assert_eq!(house.assert_folds(&root.id).await.state, State::Running);
}

#[tokio::test]
async fn a_nested_confirmation_suspends_the_call_be_it_decided_already() {
    let house = House::new();
    let root = house.root().await;
    for quick in [false, true] {
        let outer = write(&root);
        assert_new(house.tasks().begin_task_call(&outer, None).await);
        // What it calls asks, with a key of its own.
        let mut nested = asked(&outer);
        nested.outermost.request_id = outer.key.request_id;
        let key = Key { request_id: RequestId::generate(), ..outer.key.clone() };
        let begins = Beginning { key: &key, ..outer.begins() };
        let opened = house.store.at_time(now()).begin_confirmed(begins, &nested, 10 * MINUTE).await;
        let Admission::Asks(confirmation) = opened else { panic!("{opened:?}") };
        if quick {
            decide(&house, &confirmation.id, true).await;
        }
        let recorded = house.tasks().suspend_task_call(&outer, &confirmation.id).await.unwrap();
        assert_eq!(recorded.blocks.is_none(), quick);
        if !quick {
            assert_eq!(house.assert_folds(&root.id).await.state, State::AwaitingConfirmation);
            decide(&house, &confirmation.id, true).await;
        }
        assert_eq!(house.assert_folds(&root.id).await.state, State::Running);
        assert_new(house.tasks().begin_task_call(&outer, None).await);
        let done = result(&outer, Ok(json!({})));
        house.tasks().end_task_call(&outer, ended(&done)).await.unwrap();
        let last = house.timeline(&root.id).await.pop().unwrap();
        let Body::Answer(answer) = last.body else { panic!("{last:?}") };
        assert_eq!(answer.answers, recorded.sequence.unwrap());
    }
    house.assert_folds(&root.id).await;
}

#[tokio::test]
async fn the_end_of_a_task_withdraws_what_it_asked_for_and_a_withdrawal_is_told() {
    let house = House::new();
    let (ends, goes_on) = (house.root().await, house.root().await);
    let (of_ended, withdrawn) = (write(&ends), write(&goes_on));
    let confirmation = asks(&house, &of_ended).await;
    asks(&house, &withdrawn).await;
    house.tasks().cancel_task(&riley(), &ends.id, "").await.unwrap();
    let found = house.store.at_time(now()).confirmation(&confirmation.id).await.unwrap().unwrap();
    assert_eq!(found.state.into_str(), "withdrawn");
    assert_eq!(house.told(&ends.id).await[2..], ["cancelled by cancelled"]);
    let of = CallRef::Request(withdrawn.key.request_id);
    assert_eq!(house.store.at_time(now()).withdraw_confirmations(&riley(), of).await.unwrap(), 1);
    let told = house.told(&goes_on.id).await;
    assert_eq!(told[2], "1 ← confirmation withdrawn: the call was cancelled");
    assert_eq!(house.assert_folds(&goes_on.id).await.state, State::Running);
}
