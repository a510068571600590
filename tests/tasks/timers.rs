//! Timers on a running server: leases, deadlines and confirmations that end by themselves. Nobody looks; who waits is
//! told.

use std::time::Duration;

use toolwire::contract::proto::tasks::v1::{Lease, TaskWatchType, WatchTasksRequest, timeline_entry::Entry};

use super::*;

#[tokio::test]
async fn a_task_whose_lease_ends_goes_to_the_next_worker_who_waits() {
    let server = server();
    let person = person(&server, "riley").await;
    let root = person.create("Anything").await;
    root.blocks("route_to_analyst", &json!({"request": "x"})).await;
    let wish = |holder: &str, wait| LeaseTaskRequest {
        target: Some(Target::AnyOf(Roles { roles: vec!["analyst".to_owned()] })),
        holder: holder.to_owned(),
        duration: Some(prost_types::Duration { seconds: 5, nanos: 0 }),
        wait: Some(prost_types::Duration { seconds: wait, nanos: 0 }),
        ..Default::default()
    };
    let lease = async |holder: &str, wait| {
        let answer = person.tasks.clone().lease_task(person.request(wish(holder, wait))).await.unwrap();
        answer.into_inner().task
    };
    let stalls = lease("stalls", 0).await.unwrap();
    assert_eq!(lease("hurries", 0).await, None, "it is somebody's");
    let taken = lease("waits", 60).await.expect("as soon as the lease is over");
    let Lease { holder, token, .. } = taken.lease.unwrap();
    assert_eq!((taken.task_id.as_str(), holder.as_str(), token), (stalls.task_id.as_str(), "waits", 2));
    let late = Agent { lease_token: 1, ..person.drives(&stalls.task_id) };
    let refused = late.handle("debug_write", &json!({"value": "x"})).await;
    assert_refused(refused, Code::Aborted, "LEASE_LOST");
}

/// A task with a short deadline, and the child that it delegated to before the deadline. A slow machine gets more time.
async fn delegated_in_time(person: &Person) -> (Agent, String) {
    let mut seconds = 1;
    loop {
        let message = CreateTaskRequest {
            request: "Hurry".to_owned(),
            timeout: Some(prost_types::Duration { seconds, nanos: 0 }),
            request_id: new_id(),
            ..Default::default()
        };
        let created = person.tasks.clone().create_task(person.request(message)).await.unwrap();
        let root = person.drives(&created.into_inner().task.unwrap().task_id);
        match root.handle("route_to_analyst", &json!({"request": "x"})).await {
            Ok(answer) => return (root, blocked(&answer).task_id.clone()),
            Err(late) => {
                assert_refused::<HandleToolCallResponse>(Err(late), Code::FailedPrecondition, "TASK_ENDED");
            }
        }
        seconds *= 2;
    }
}

#[tokio::test]
async fn a_task_whose_deadline_passes_fails_and_its_parent_goes_on() {
    let server = server();
    let person = person(&server, "riley").await;
    let (root, child) = delegated_in_time(&person).await;
    for task in [&child, &root.task] {
        let ended = entry_of(&person, task, |it| matches!(it, Entry::Ended(_))).await;
        let Some(Entry::Ended(ended)) = ended.entry else { unreachable!() };
        let how = (ended.state.as_str(), ended.cause.as_str());
        assert!(matches!(how, ("failed", "timed_out") | ("cancelled", "cancelled")), "{how:?}");
    }
    assert_eq!(root.state().await, TaskState::Failed);
    let refused = root.handle("debug_write", &json!({"value": "x"})).await;
    let said = assert_refused(refused, Code::FailedPrecondition, "TASK_ENDED");
    assert!(said.contains("failed"), "{said}");
}

/// Nobody decides: the task goes on by itself, and everybody who watches it is told.
#[tokio::test]
async fn a_confirmation_that_nobody_decides_lets_its_task_go_on() {
    let mut config = config();
    config.confirmations.own_calls = true;
    // That of calls without a task stays as long as it is.
    config.confirmations.tasks_expire_in = Duration::from_millis(500);
    let server = Server::with(config);
    let person = person(&server, "riley").await;
    let root = person.create("Pay").await;
    let mut watch = person
        .tasks
        .clone()
        .watch_tasks(person.request(WatchTasksRequest::default()))
        .await
        .unwrap()
        .into_inner();
    while watch.message().await.unwrap().unwrap().r#type() != TaskWatchType::Synced {}
    let message = root.message("debug_confirm", &json!({"value": "x"}));
    blocked(&root.send(message.clone()).await.unwrap());
    let decision = entry_of(&person, &root.task, |it| matches!(it, Entry::Decision(_))).await;
    let Some(Entry::Decision(decision)) = decision.entry else { unreachable!() };
    assert_eq!((decision.decides, decision.status.as_str()), (1, "← not confirmed in time"));
    let mut states = Vec::new();
    while states.last() != Some(&TaskState::Running) || !states.contains(&TaskState::AwaitingConfirmation) {
        states.push(watch.message().await.unwrap().unwrap().task.unwrap().state());
    }
    let answer = root.send(message).await.unwrap();
    assert_eq!(answer.action, "continue");
    assert_eq!(person.timeline(&root.task).await.len(), 3, "its end is the decision");
}
