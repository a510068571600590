//! Watches of tasks and followers of timelines: everything, in order, nothing twice.

use std::time::Duration;

use tokio::time::timeout;
use tonic::Streaming;
use toolwire::contract::proto::tasks::v1::{
    TaskWatchType, WatchTasksRequest, WatchTasksResponse, WatchTimelineRequest, WatchTimelineResponse,
    watch_timeline_response::Event,
};

use super::*;
use crate::support::raw::Raw;

async fn watch(person: &Person, after_position: u64) -> Streaming<WatchTasksResponse> {
    let message = WatchTasksRequest { filter: None, after_position };
    person.tasks.clone().watch_tasks(person.request(message)).await.unwrap().into_inner()
}

async fn follow(person: &Person, task: &str, after: Option<u64>) -> Streaming<WatchTimelineResponse> {
    let message = WatchTimelineRequest { task_id: task.to_owned(), after_sequence: after };
    person.tasks.clone().watch_timeline(person.request(message)).await.unwrap().into_inner()
}

async fn event(stream: &mut Streaming<WatchTimelineResponse>) -> Option<Event> {
    stream.message().await.unwrap().map(|message| message.event.unwrap())
}

#[tokio::test]
async fn a_watch_begins_with_what_has_not_ended_and_tells_every_change_from_then_on() {
    let server = server();
    let person = person(&server, "riley").await;
    person.create("Ended before").await.ends("done").await;
    let open = person.create("Open").await;
    let mut stream = watch(&person, 0).await;
    let mut next = async || stream.message().await.unwrap().expect("a watch does not end");
    let first = next().await;
    assert_eq!((first.r#type(), first.task.unwrap().task_id), (TaskWatchType::Changed, open.task.clone()));
    let synced = next().await;
    assert_eq!(synced.r#type(), TaskWatchType::Synced);
    open.ends("done").await;
    let ended = loop {
        let change = next().await;
        assert!(change.position > synced.position, "positions rise");
        if change.task.as_ref().unwrap().state() == TaskState::Completed {
            break change;
        }
    };
    // From any position on, the last state is told again.
    let mut stream = watch(&person, synced.position).await;
    let again = stream.message().await.unwrap().unwrap();
    assert_eq!((again.task, again.position), (ended.task, ended.position));
}

#[tokio::test]
async fn a_follower_gets_the_task_every_entry_and_the_end() {
    let server = server();
    let person = person(&server, "riley").await;
    let root = person.create("Anything").await;
    let mut stream = follow(&person, &root.task, None).await;
    let Some(Event::Snapshot(task)) = event(&mut stream).await else { panic!("the task comes first") };
    assert_eq!(task.task_id, root.task);
    for number in 0..5 {
        root.handle("stop_and_think", &json!({"thoughts": number.to_string()})).await.unwrap();
    }
    root.ends("done").await;
    let mut sequences = Vec::new();
    while let Some(event) = event(&mut stream).await {
        let Event::Entry(entry) = event else { panic!("{event:?}") };
        sequences.push(entry.sequence);
    }
    let last = person.task(&root.task).await.unwrap().next_sequence;
    assert_eq!(sequences, (0..last).collect::<Vec<_>>(), "gapless, in order, and then the stream ends");

    // After an entry, the entries that come after it; after the last of what is over, none.
    let mut stream = follow(&person, &root.task, Some(3)).await;
    assert!(matches!(event(&mut stream).await, Some(Event::Snapshot(_))));
    let Some(Event::Entry(entry)) = event(&mut stream).await else { panic!("an entry") };
    assert_eq!(entry.sequence, 4);
    let mut stream = follow(&person, &root.task, Some(last - 1)).await;
    assert!(matches!(event(&mut stream).await, Some(Event::Snapshot(_))));
    assert_eq!(event(&mut stream).await, None);
}

/// Waits of leases end as soon as there is something to do.
#[tokio::test]
async fn a_worker_that_waits_is_given_the_task_when_it_comes() {
    let server = server();
    let person = person(&server, "riley").await;
    let root = person.create("Anything").await;
    let message = LeaseTaskRequest {
        target: Some(Target::AnyOf(Roles { roles: vec!["analyst".to_owned()] })),
        holder: "w".to_owned(),
        wait: Some(prost_types::Duration { seconds: 60, nanos: 0 }),
        ..Default::default()
    };
    let worker = person.clone();
    let waiting = tokio::spawn(async move {
        worker.tasks.clone().lease_task(worker.request(message)).await.unwrap().into_inner()
    });
    let child = root.blocks("route_to_analyst", &json!({"request": "x"})).await;
    let leased = waiting.await.unwrap();
    assert_eq!(leased.task.unwrap().task_id, child);
}

#[tokio::test]
async fn watches_that_are_not_read_keep_no_connection_to_the_state() {
    const USERS: [&str; 4] = ["a", "b", "c", "d"];
    let server = server();
    let mut held = Vec::new();
    for name in USERS {
        let task = person(&server, name).await.create("Anything").await.task;
        let user = [("x-toolwire-user", name)];
        // A byte of the first event, behind which the watch reads on.
        let client = Raw::with_window(server.address, 1).await;
        let timeline = WatchTimelineRequest { task_id: task, after_sequence: None };
        let service = "/toolwire.tasks.v1.TaskService";
        let watches = [
            client.start(&format!("{service}/WatchTasks"), &user, &WatchTasksRequest::default()).await,
            client.start(&format!("{service}/WatchTimeline"), &user, &timeline).await,
        ];
        for watch in watches {
            let mut body = watch.response.await.unwrap().into_body();
            assert_eq!(body.data().await.unwrap().unwrap().len(), 1);
            held.push((body, client.clone()));
        }
    }
    let other = person(&server, "riley").await;
    let task = other.create("Anything").await.task;
    for _ in 0..10 {
        // Half of what a read waits at most.
        timeout(Duration::from_secs(5), other.task(&task)).await.expect("no reads are held").unwrap();
    }
}
