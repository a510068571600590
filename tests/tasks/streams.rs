//! Streams that nothing happens on, and the end of the server under open ones.

use std::time::Duration;

use tonic::Streaming;
use toolwire::contract::proto::tasks::v1::{
    TaskWatchType, WatchTasksRequest, WatchTasksResponse, WatchTimelineRequest, WatchTimelineResponse,
    watch_timeline_response::Event,
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

/// Twice, since the first could be about the beginning.
#[tokio::test]
async fn a_silent_stream_says_that_it_is_alive() {
    let server = server();
    let person = person(&server, "riley").await;
    let root = person.create("Anything").await;
    let mut watched = watch(&person, &root.task).await;
    for _ in 0..2 {
        tokio::time::pause();
        tokio::time::advance(HEARTBEAT).await;
        tokio::time::resume();
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
