//! What one client can make the program hold: bounded, whatever it stored before.

use serde_json::json;
use tonic::{Request, transport::Channel};
use toolwire::{
    contract::{
        json::to_struct,
        proto::{
            tasks::v1::{
                CompletedEnd, CreateTaskRequest, EndTaskRequest, ListTasksRequest, end_task_request::End,
                task_service_client::TaskServiceClient,
            },
            v1::{
                CallToolRequest, ConfirmationWatchType, GetConfirmationRequest, ListConfirmationsRequest,
                ToolContext, WatchConfirmationsRequest, call_tool_request, call_tool_response,
                confirmation_service_client::ConfirmationServiceClient,
                tool_service_client::ToolServiceClient,
            },
        },
    },
    tool::context::RequestId,
};

use crate::support::program::Program;

/// The most that one request takes for a while, in KiB, with what the allocator keeps.
const SOME: u64 = 40 * 1024;

/// Nearly as much as a request may have.
const LARGE: usize = 900_000;

fn of_riley<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert("x-toolwire-user", "riley".parse().unwrap());
    request
}

fn new_id() -> String {
    RequestId::generate().to_string()
}

async fn begin(tasks: &mut TaskServiceClient<Channel>) -> String {
    let message = CreateTaskRequest { request: "Do it.".into(), request_id: new_id(), ..Default::default() };
    tasks.create_task(of_riley(message)).await.unwrap().into_inner().task.unwrap().task_id
}

#[tokio::test]
async fn a_list_of_tasks_reads_no_more_than_it_shows() {
    let program = Program::start(std::path::Path::new("."), &[], &[]).await;
    let mut tasks = TaskServiceClient::new(program.channel().await);
    let value = json!({"text": "x".repeat(LARGE)});
    for _ in 0..80 {
        let task_id = begin(&mut tasks).await;
        let result = Some(to_struct(value.as_object().unwrap()));
        let end = Some(End::Completed(CompletedEnd { result, ..Default::default() }));
        let message = EndTaskRequest { task_id, end, request_id: new_id(), ..Default::default() };
        tasks.end_task(of_riley(message)).await.unwrap();
    }
    let before = program.peak_memory_kib();
    let (mut seen, mut page_token) = (0, String::new());
    loop {
        let message = ListTasksRequest { page_size: 1_000, page_token, ..Default::default() };
        let page = tasks.list_tasks(of_riley(message)).await.unwrap().into_inner();
        seen += page.tasks.len();
        page_token = page.next_page_token;
        if page_token.is_empty() {
            break;
        }
    }
    let more = program.peak_memory_kib() - before;
    assert!((seen, more < SOME) == (80, true), "{seen} tasks, {more} KiB");
}

#[tokio::test]
async fn large_arguments_keep_nobody_from_seeing_what_waits() {
    let program = Program::start(std::path::Path::new("."), &[], &[]).await;
    let channel = program.channel().await;
    let mut tasks = TaskServiceClient::new(channel.clone());
    let mut tools = ToolServiceClient::new(channel.clone());
    let mut confirmations = ConfirmationServiceClient::new(channel);
    for number in 0..40 {
        let task_id = begin(&mut tasks).await;
        let arguments = json!({"path": format!("{number}.md"), "content": "x".repeat(LARGE)});
        let message = CallToolRequest {
            target: Some(call_tool_request::Target::Tool("write_file".into())),
            input: Some(call_tool_request::Input::ArgumentsJson(arguments.to_string())),
            request_id: new_id(),
            require_confirmation: true,
            context: Some(ToolContext { task_id, ..Default::default() }),
            ..Default::default()
        };
        let outcome = tools.call_tool(of_riley(message)).await.unwrap().into_inner().outcome.unwrap();
        assert!(matches!(outcome, call_tool_response::Outcome::ConfirmationRequired(_)), "{outcome:?}");
    }
    let before = program.peak_memory_kib();
    let message = ListConfirmationsRequest { page_size: 200, ..Default::default() };
    let page = confirmations.list_confirmations(of_riley(message)).await.unwrap().into_inner();
    let cut = page.confirmations.iter().filter(|it| it.arguments_cut && it.arguments.is_none()).count();
    assert_eq!((cut, page.next_page_token.as_str()), (40, ""));
    let mut watch = confirmations
        .watch_confirmations(of_riley(WatchConfirmationsRequest::default()))
        .await
        .unwrap()
        .into_inner();
    let mut open = 0;
    while let Some(change) = watch.message().await.unwrap() {
        match change.r#type() {
            ConfirmationWatchType::Requested => open += 1,
            kind => {
                assert_eq!((kind, open), (ConfirmationWatchType::Synced, 40));
                break;
            }
        }
    }
    let more = program.peak_memory_kib() - before;
    assert!(more < SOME, "{more} KiB");
    let confirmation_id = page.confirmations[0].confirmation_id.clone();
    let message = GetConfirmationRequest { confirmation_id, wait: None };
    let whole = confirmations.get_confirmation(of_riley(message)).await.unwrap().into_inner();
    let whole = whole.confirmation.unwrap();
    // Once, and whole.
    assert!(!whole.arguments_cut && whole.arguments.is_none() && whole.arguments_json.len() > LARGE);
}
