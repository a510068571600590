//! A server goes on with what an earlier one left when it was killed, and knows requests that the earlier one answered.

use std::path::Path;

use tempfile::TempDir;
use tonic::transport::Channel;
use toolwire::{
    contract::proto::{
        agent::v1::{
            CancelTurnRequest, GetTurnRequest, Job, ListTurnsRequest, TurnState, WatchJobRequest,
            agent_service_client::AgentServiceClient, cancel_turn_request,
            job_service_client::JobServiceClient, turn, watch_job_response::News,
        },
        tasks::v1::{
            AppendMessageRequest, CreateTaskRequest, GetTaskRequest, InitialDocument, ListTimelineRequest,
            Message, MessageRole, OpaquePart, OpenCallStanding, ResolveUnknownRequest, TaskState,
            WatchTimelineRequest, initial_document, resolve_unknown_request,
            task_service_client::TaskServiceClient, timeline_entry, watch_timeline_response,
        },
    },
    domains::research::proto::v1::{StartDiscoveryRequest, discovery_service_client::DiscoveryServiceClient},
};

use super::{WAITS, assert_sound, lines, request_id, unpack};
use crate::support::program::Program;

async fn serve(state: &TempDir) -> (Program, Channel) {
    let program = Program::start(Path::new("."), &["--state", state.path().to_str().unwrap()], &[]).await;
    let channel = program.channel().await;
    (program, channel)
}

/// The name of the root with this request.
fn root(state: &TempDir, request: &str) -> String {
    let roots = lines(state, &["tasks"]);
    let root = roots.iter().find(|root| root["request"] == request).unwrap();
    root["task_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn repeated_requests_are_known() {
    let state = unpack();
    let (program, channel) = serve(&state).await;
    let mut tasks = TaskServiceClient::new(channel.clone());
    let content = initial_document::Content::Text("A brief about lighthouses.\n".to_owned());
    let create = CreateTaskRequest {
        request: "Waits for all".to_owned(),
        documents: vec![InitialDocument {
            path: "brief.md".to_owned(),
            content: Some(content),
            ..Default::default()
        }],
        request_id: request_id(53),
        ..Default::default()
    };
    assert_eq!(tasks.create_task(create).await.unwrap().into_inner().task.unwrap().task_id, WAITS);
    let opaque = OpaquePart { provider: "anthropic".to_owned(), data: b"\x00thought\xff".to_vec() };
    for (digits, step, role, text, opaque) in [
        (54, 0, MessageRole::User, "Be quick: schnell!", None),
        (55, 1, MessageRole::Assistant, "I ask others.", Some(opaque)),
    ] {
        let message = Message { role: role.into(), text: text.to_owned(), opaque };
        let append = AppendMessageRequest {
            task_id: WAITS.to_owned(),
            message: Some(message),
            step,
            request_id: request_id(digits),
            ..Default::default()
        };
        let appended = tasks.append_message(append).await.unwrap().into_inner();
        assert_eq!(appended.sequence, step + 1, "{text}");
    }
    let start = StartDiscoveryRequest {
        request_id: request_id(82),
        max_candidates: 1,
        sources: ["watchlist", "valuepickr"].map(str::to_owned).into(),
        ..Default::default()
    };
    let mut discoveries = DiscoveryServiceClient::new(channel);
    assert_eq!(discoveries.start_discovery(start).await.unwrap().into_inner().job_id, request_id(82));
    let list =
        ListTimelineRequest { backwards: true, page_size: 2, task_id: WAITS.to_owned(), sequence: None };
    let page = tasks.list_timeline(list).await.unwrap().into_inner();
    let sequences: Vec<_> = page.entries.iter().map(|entry| entry.sequence).collect();
    assert_eq!((sequences, page.next_sequence), (vec![5, 4], Some(3)), "nothing was done again");
    drop(program);
    assert_sound(&state);
}

#[tokio::test]
async fn conversations_are_read_and_go_on() {
    let state = unpack();
    let (program, channel) = serve(&state).await;
    let mut agent = AgentServiceClient::new(channel);
    let mut turns =
        agent.list_turns(ListTurnsRequest { session_id: "s".to_owned() }).await.unwrap().into_inner();
    let mut messages = Vec::new();
    while let Some(listed) = turns.message().await.unwrap() {
        messages.push(listed.turn.unwrap().message);
    }
    assert_eq!(messages, ["How is my Apple position doing?", "And Microsoft?", "Danke! Größe?"]);
    let mut get = async |digits| {
        let asked = GetTurnRequest { turn_id: request_id(digits) };
        agent.get_turn(asked).await.unwrap().into_inner().turn.unwrap()
    };
    let Some(turn::End::Reply(reply)) = get(73).await.end else { panic!("it was answered") };
    assert!(reply.response.unwrap().answer_markdown.contains("AAPL"));
    let paused = get(78).await;
    let Some(turn::End::Paused(waits)) = &paused.end else { panic!("{paused:?}") };
    assert_eq!((paused.state(), waits.pending[0].tool.as_str()), (TurnState::Paused, "add_to_watchlist"));
    let which = Some(cancel_turn_request::Which::TurnId(paused.turn_id));
    assert!(agent.cancel_turn(CancelTurnRequest { which }).await.unwrap().into_inner().cancelled);
    drop(program);
    assert_sound(&state);
}

/// The job as it ended.
async fn watch(channel: Channel, job_id: String) -> Job {
    let watch = WatchJobRequest { job_id, ..Default::default() };
    let mut stream = JobServiceClient::new(channel).watch_job(watch).await.unwrap().into_inner();
    while let Some(response) = stream.message().await.unwrap() {
        if let Some(News::Event(event)) = response.news
            && let Some(job) = event.ended
        {
            return job;
        }
    }
    panic!("it ends");
}

/// The call whose outcome is unknown, once the timeline says so.
async fn watch_unknown(tasks: &mut TaskServiceClient<Channel>, task_id: &str) -> String {
    let watch = WatchTimelineRequest { task_id: task_id.to_owned(), after_sequence: None };
    let mut stream = tasks.watch_timeline(watch).await.unwrap().into_inner();
    while let Some(response) = stream.message().await.unwrap() {
        if let Some(watch_timeline_response::Event::Entry(entry)) = response.event
            && let Some(timeline_entry::Entry::ToolCall(call)) = &entry.entry
        {
            assert_eq!(call.status, "→ outcome unknown");
            return entry.call_id;
        }
    }
    panic!("it has an entry");
}

#[tokio::test]
async fn what_was_under_way_is_settled() {
    let state = unpack();
    let [write, read] = ["Its write is left", "Its read is left"].map(|request| root(&state, request));
    let (program, channel) = serve(&state).await;
    let job = watch(channel.clone(), request_id(93)).await;
    assert_eq!(job.error.unwrap().code, "INTERRUPTED");
    assert!(watch(channel.clone(), request_id(82)).await.result.is_some());
    let mut tasks = TaskServiceClient::new(channel);
    let call_id = watch_unknown(&mut tasks, &write).await;
    let resolution = Some(resolve_unknown_request::Resolution::NotDone(true));
    let reason = "it is not there".to_owned();
    let resolve = ResolveUnknownRequest { task_id: write, call_id, resolution, reason };
    let task = tasks.resolve_unknown(resolve).await.unwrap().into_inner().task.unwrap();
    assert_eq!(task.state(), TaskState::Running);
    let left = tasks.get_task(GetTaskRequest { task_id: read }).await.unwrap().into_inner();
    assert_eq!(left.open_calls[0].standing(), OpenCallStanding::Left);
    drop(program);
    assert_sound(&state);
}
