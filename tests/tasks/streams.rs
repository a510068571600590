//! Streams that nothing happens on, and the end of the server under open ones.

use std::time::Duration;

use futures_util::FutureExt;
use tonic::Streaming;
use toolwire::contract::proto::{
    tasks::v1::{
        TaskWatchType, WatchTasksRequest, WatchTasksResponse, WatchTimelineRequest, WatchTimelineResponse,
        watch_timeline_response::Event,
    },
    v1::{CallState, ConfirmationState, GetCallRequest, GetConfirmationRequest, get_call_request},
};

use super::*;

/// What docs/TASKS.md and the contract say.
const HEARTBEAT: Duration = Duration::from_secs(20);

struct Watched {
    tasks: Streaming<WatchTasksResponse>,
    timeline: Streaming<WatchTimelineResponse>,
}

/// Both streams, at the point from which only what is new comes.
async fn watch(person: &Person, task: &str) -> Watched {
    let message = WatchTasksRequest { filter: None, after_position: 0 };
    let mut tasks = person.tasks.clone().watch_tasks(person.request(message)).await.unwrap().into_inner();
    while tasks.message().await.unwrap().unwrap().r#type() != TaskWatchType::Synced {}
    let message = WatchTimelineRequest { task_id: task.to_owned(), after_sequence: None };
    let timeline = person.tasks.clone().watch_timeline(person.request(message)).await.unwrap();
    let mut timeline = timeline.into_inner();
    let next = async |stream: &mut Streaming<WatchTimelineResponse>| {
        stream.message().await.unwrap().unwrap().event.unwrap()
    };
    assert!(matches!(next(&mut timeline).await, Event::Snapshot(_)));
    assert!(matches!(next(&mut timeline).await, Event::Entry(_)));
    Watched { tasks, timeline }
}

/// Lets time pass in steps: what is read meanwhile has its answer before it would be too late.
async fn pass(person: &Person, task: &str, mut time: Duration) {
    while !time.is_zero() {
        let step = time.min(Duration::from_millis(500));
        tokio::time::pause();
        tokio::time::advance(step).await;
        tokio::time::resume();
        person.task(task).await.unwrap();
        time -= step;
    }
}

/// Twice, since the first could be about the beginning.
#[tokio::test]
async fn a_silent_stream_says_that_it_is_alive() {
    let server = server();
    let person = person(&server, "riley").await;
    let root = person.create("Anything").await;
    let mut watched = watch(&person, &root.task).await;
    for _ in 0..2 {
        pass(&person, &root.task, HEARTBEAT).await;
        let told = watched.tasks.message().await.unwrap().unwrap();
        assert_eq!((told.r#type(), told.task), (TaskWatchType::Heartbeat, None));
        assert!(told.position > 0, "from which to go on");
        let told = watched.timeline.message().await.unwrap().unwrap();
        assert_eq!(told.event, Some(Event::CaughtUp(true)));
    }
    // And goes on.
    root.ends("done").await;
    let told = watched.tasks.message().await.unwrap().unwrap();
    assert_eq!(told.task.unwrap().state(), TaskState::Completed);
    let told = watched.timeline.message().await.unwrap().unwrap();
    assert!(matches!(told.event, Some(Event::Entry(_))), "{told:?}");
    assert!(watched.timeline.message().await.unwrap().is_none(), "the task has ended");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_the_server_ends_every_stream_with_unavailable() {
    let mut config = config();
    config.server.drain.lame_duck = Duration::from_millis(50);
    let server = Server::with(config);
    let riley = person(&server, "riley").await;
    let root = riley.create("Anything").await;
    let mut watched = Vec::new();
    for _ in 0..4 {
        watched.push(watch(&person(&server, "riley").await, &root.task).await);
    }
    let ended = tokio::spawn(server.shut_down());
    for Watched { mut tasks, mut timeline } in watched {
        let (tasks, timeline) = tokio::join!(end(&mut tasks), end(&mut timeline));
        assert_eq!((tasks.code(), timeline.code()), (Code::Unavailable, Code::Unavailable));
    }
    assert_eq!(ended.await.unwrap().streams_cut, 0, "nothing had to be cut");
}

async fn end<T>(stream: &mut Streaming<T>) -> Status {
    loop {
        match stream.message().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("it ended without a word"),
            Err(status) => return status,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_only_waits_is_answered_at_once_when_the_server_is_about_to_end() {
    let mut config = config();
    config.server.drain.lame_duck = Duration::from_millis(50);
    let server = Server::with(config);
    let riley = person(&server, "riley").await;
    let root = riley.create("Pay").await;
    let message = root.message("debug_confirm", &json!({"value": "x"}));
    let asked = root.send(message.clone()).await.unwrap();
    let confirmation_id = blocked(&asked).confirmation_required.clone().unwrap().confirmation_id;
    let wait = Some(prost_types::Duration { seconds: 60, nanos: 0 });
    let (mut tasks, mut tools, mut confirmations) =
        (riley.tasks.clone(), riley.tools.clone(), riley.confirmations.clone());
    let any_of = Some(Target::AnyOf(Roles { roles: vec!["nobody".to_owned()] }));
    let lease = LeaseTaskRequest { target: any_of, holder: "w".to_owned(), wait, ..Default::default() };
    let mut lease = Box::pin(tasks.lease_task(riley.request(lease)));
    let call = Some(get_call_request::Call::RequestId(message.request_id));
    let call = GetCallRequest { call, wait, ..Default::default() };
    let mut call = Box::pin(tools.get_call(riley.request(call)));
    let confirmation = GetConfirmationRequest { confirmation_id, wait };
    let mut confirmation = Box::pin(confirmations.get_confirmation(riley.request(confirmation)));
    assert!(lease.as_mut().now_or_never().is_none());
    assert!(call.as_mut().now_or_never().is_none());
    assert!(confirmation.as_mut().now_or_never().is_none());
    // Behind them on the same connection: they are with the server.
    riley.task(&root.task).await.unwrap();
    let ended = tokio::spawn(server.shut_down());
    let (lease, call, confirmation) = tokio::join!(lease, call, confirmation);
    assert_eq!(lease.unwrap().into_inner().task, None);
    let call = call.unwrap().into_inner().call.unwrap();
    assert_eq!(call.state(), CallState::AwaitingConfirmation);
    let confirmation = confirmation.unwrap().into_inner().confirmation.unwrap();
    assert_eq!(confirmation.state(), ConfirmationState::Pending);
    assert_eq!(ended.await.unwrap().streams_cut, 0, "nothing had to be cut");
}
