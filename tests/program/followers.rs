//! Followers of a timeline while the server is killed under appends, again and again: each
//! ends with the whole log, without a gap or a duplicate, in order.
//!
//! `FOLLOWER_KILLS` says how often.

use std::{
    collections::BTreeMap,
    env,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use tempfile::TempDir;
use tonic::Status;
use toolwire::{
    contract::proto::tasks::v1::{
        AppendMessageRequest, CreateTaskRequest, EndTaskRequest, ListTimelineRequest, Message, MessageRole,
        TimelineEntry, WatchTimelineRequest, end_task_request::End, task_service_client::TaskServiceClient,
        watch_timeline_response::Event,
    },
    tool::context::RequestId,
};

use crate::support::{draws::draws, program::Program};

type Client = TaskServiceClient<tonic::transport::Channel>;

const WRITERS: usize = 3;
const FOLLOWERS: usize = 2;

/// One who says something, and what it was told. It outlives the servers.
#[derive(Debug, Default)]
struct Writer {
    told: BTreeMap<u64, String>,
    /// What it does not know to be stored, which it says again.
    pending: Option<(RequestId, String)>,
}

impl Writer {
    async fn write(&mut self, client: &mut Client, task: &str) -> Result<(), Status> {
        loop {
            let new = || {
                let id = RequestId::generate();
                (id, format!("message {id}"))
            };
            let (id, text) = self.pending.get_or_insert_with(new).clone();
            let message = AppendMessageRequest {
                task_id: task.to_owned(),
                message: Some(Message {
                    role: MessageRole::Assistant.into(),
                    text: text.clone(),
                    ..Message::default()
                }),
                request_id: id.to_string(),
                ..AppendMessageRequest::default()
            };
            let sequence = client.append_message(message).await?.into_inner().sequence;
            assert_eq!(self.told.insert(sequence, text), None, "two messages have the place {sequence}");
            self.pending = None;
        }
    }
}

/// Takes entries after the last one it has, until the stream ends. Whether it ended well.
async fn follow(client: &mut Client, task: &str, seen: &mut Vec<TimelineEntry>) -> Result<(), Status> {
    let after_sequence = seen.last().map(|entry| entry.sequence);
    let message = WatchTimelineRequest { task_id: task.to_owned(), after_sequence };
    let mut events = client.watch_timeline(message).await?.into_inner();
    while let Some(event) = events.message().await? {
        if let Some(Event::Entry(entry)) = event.event {
            seen.push(entry);
        }
    }
    Ok(())
}

async fn serve(state: &TempDir) -> (Program, Client) {
    let variables = [("TOOLWIRE_STATE", state.path().to_str().expect("a name"))];
    let program = Program::start(Path::new("."), &[], &variables).await;
    let mut client = TaskServiceClient::new(program.channel().await);
    // The first message that is counted in tokens waits for the vocabulary, which takes a build for tests a while.
    let (task_id, request_id) = (create(&mut client).await, RequestId::generate().to_string());
    let text = "First.".to_owned();
    let message = Some(Message { role: MessageRole::Assistant.into(), text, ..Message::default() });
    let message = AppendMessageRequest { task_id, message, request_id, ..AppendMessageRequest::default() };
    client.append_message(message).await.expect("appended");
    (program, client)
}

async fn create(client: &mut Client) -> String {
    let message = CreateTaskRequest {
        request: "Say a lot".to_owned(),
        request_id: RequestId::generate().to_string(),
        ..CreateTaskRequest::default()
    };
    client.create_task(message).await.expect("created").into_inner().task.expect("a task").task_id
}

async fn whole(client: &mut Client, task: &str) -> Vec<TimelineEntry> {
    let (mut entries, mut sequence) = (Vec::new(), Some(0));
    while sequence.is_some() {
        let message = ListTimelineRequest {
            task_id: task.to_owned(),
            sequence,
            page_size: 1_000,
            ..Default::default()
        };
        let page = client.list_timeline(message).await.expect("listed").into_inner();
        entries.extend(page.entries);
        sequence = page.next_sequence;
    }
    entries
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_follower_has_the_whole_log_wherever_the_server_is_killed() {
    let kills = env::var("FOLLOWER_KILLS").map_or(5, |text| text.parse().expect("a number"));
    let state = tempfile::tempdir().expect("a directory");
    let writers: [Arc<tokio::sync::Mutex<Writer>>; WRITERS] = Default::default();
    let followers: [Arc<tokio::sync::Mutex<Vec<TimelineEntry>>>; FOLLOWERS] = Default::default();
    let task = Arc::new(Mutex::new(String::new()));
    let mut draws = draws();
    let mut killed = 0;
    // On a busy machine a few kills may leave no time to acknowledge anything.
    while killed < kills || (killed < 10 * kills && !is_any_told(&writers).await) {
        killed += 1;
        let (program, mut client) = serve(&state).await;
        if task.lock().expect("not poisoned").is_empty() {
            *task.lock().expect("not poisoned") = create(&mut client).await;
        }
        let id = task.lock().expect("not poisoned").clone();
        let mut under_way = Vec::new();
        for writer in &writers {
            let (writer, mut client, id) = (Arc::clone(writer), client.clone(), id.clone());
            let write = async move { writer.lock().await.write(&mut client, &id).await };
            under_way.push(tokio::spawn(write));
        }
        for seen in &followers {
            let (seen, mut client, id) = (Arc::clone(seen), client.clone(), id.clone());
            let follow = async move { follow(&mut client, &id, &mut *seen.lock().await).await };
            under_way.push(tokio::spawn(follow));
        }
        tokio::time::sleep(Duration::from_millis(draws.u64(50..306))).await;
        program.kill().await;
        for one in under_way {
            assert!(one.await.expect("no panic").is_err(), "the server was killed");
        }
    }
    let (program, mut client) = serve(&state).await;
    let id = task.lock().expect("not poisoned").clone();
    let end = EndTaskRequest {
        task_id: id.clone(),
        end: Some(End::Failed("Enough was said".to_owned())),
        request_id: RequestId::generate().to_string(),
        ..EndTaskRequest::default()
    };
    client.end_task(end).await.expect("ended");
    let entries = whole(&mut client, &id).await;
    let places: Vec<_> = entries.iter().map(|entry| entry.sequence).collect();
    assert_eq!(places, (0..entries.len() as u64).collect::<Vec<_>>(), "gapless");
    for seen in &followers {
        let mut seen = seen.lock().await;
        follow(&mut client, &id, &mut seen).await.expect("it ends with the last entry");
        assert_eq!(*seen, entries);
    }
    let said: BTreeMap<_, _> =
        entries.iter().filter_map(|entry| Some((entry.sequence, text(entry)?))).collect();
    let mut told = 0;
    for writer in &writers {
        let writer = writer.lock().await;
        told += writer.told.len();
        for (sequence, text) in &writer.told {
            assert_eq!(
                said.get(sequence),
                Some(&text.as_str()),
                "what was acknowledged is stored where it was said"
            );
        }
    }
    assert!(told > 0 && said.len() <= told + WRITERS, "{told} of {} told", said.len());
    program.kill().await;
}

async fn is_any_told(writers: &[Arc<tokio::sync::Mutex<Writer>>]) -> bool {
    for writer in writers {
        if !writer.lock().await.told.is_empty() {
            return true;
        }
    }
    false
}

fn text(entry: &TimelineEntry) -> Option<&str> {
    use toolwire::contract::proto::tasks::v1::timeline_entry::Entry;
    match entry.entry.as_ref()? {
        Entry::Message(message) => Some(&message.text),
        _ => None,
    }
}
