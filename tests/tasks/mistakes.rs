//! What a model got wrong is told to it; what the program around it got wrong is a status.

use toolwire::contract::proto::{
    tasks::v1::{CancelTaskRequest, RenderForModelRequest, model_block::Block},
    v1::tool_result::Outcome,
};

use super::*;

/// A call as a model's use of a tool makes it.
fn used(agent: &Agent, id: &str, tool: &str, arguments: &Value) -> HandleToolCallRequest {
    HandleToolCallRequest { tool_call_id: id.to_owned(), ..agent.message(tool, arguments) }
}

#[track_caller]
fn error(answer: &HandleToolCallResponse) -> String {
    assert_eq!(answer.action, "continue", "{answer:?}");
    match &answer.detail {
        Some(Detail::Result(result)) => match &result.outcome {
            Some(Outcome::Error(error)) => error.message.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_a_model_got_wrong_is_an_entry_and_an_answer_and_the_model_is_shown_it() {
    let server = server();
    let person = person(&server, "riley").await;
    let root = person.create("Work").await;
    for (index, (tool, arguments, words)) in [
        ("get_performance", json!({"timefram": "YTD"}), "timefram"),
        ("functions.get_quotes", json!({"symbol": "AMD"}), "Unknown tool: functions.get_quotes"),
        ("ask_gpt", json!({"question": "Why?"}), "ask_gpt is disabled"),
        ("start_task", json!({"request": "More"}), "begins a new tree"),
        ("route_to_visualizer", json!({"request": "Draw", "documents": ["nope.csv"]}), "nope.csv"),
    ]
    .into_iter()
    .enumerate()
    {
        let answer = root.send(used(&root, &format!("use_{index}"), tool, &arguments)).await.unwrap();
        let said = error(&answer);
        assert!(said.contains(words), "{tool}: {said}");
        assert_eq!(answer.sequence, index as u64 + 1, "{tool}");
    }
    assert_eq!(root.state().await, TaskState::Running);
    let message = RenderForModelRequest { task_id: root.task.clone(), ..Default::default() };
    let shown = person.tasks.clone().render_for_model(person.request(message)).await.unwrap().into_inner();
    let blocks: Vec<_> =
        shown.messages.into_iter().flat_map(|it| it.blocks).filter_map(|it| it.block).collect();
    let uses = blocks.iter().filter_map(|it| match it {
        Block::ToolUse(it) => Some((it.id.as_str(), it.tool.as_str())),
        _ => None,
    });
    assert_eq!(
        uses.collect::<Vec<_>>(),
        [
            ("use_0", "get_performance"),
            ("use_1", "functions_get_quotes"),
            ("use_2", "ask_gpt"),
            ("use_3", "start_task"),
            ("use_4", "route_to_visualizer")
        ]
    );
    let failed = blocks.iter().filter(|it| matches!(it, Block::ToolResult(it) if it.is_error));
    assert_eq!(failed.count(), 5, "{blocks:?}");
}

/// A model that is cut off or writes no object is told, whichever way its call comes in.
#[tokio::test]
async fn arguments_that_are_none_are_a_mistake_that_the_timeline_shows() {
    let server = server();
    let person = person(&server, "riley").await;
    let root = person.create("Work").await;
    for (index, (text, words)) in [
        (r#"{"thoughts": "I was cut o"#, "EOF while parsing"),
        (r#"["x"]"#, "must be a JSON object"),
        (r#"{"thoughts": "\ud83d"}"#, "hex escape"),
        (r#"{"thoughts": "a", "thoughts": "b"}"#, "stands twice"),
        (r#""{}""#, "a string that holds JSON"),
        ("", "`thoughts` is required"),
        ("null", "`thoughts` is required"),
    ]
    .into_iter()
    .enumerate()
    {
        let message = HandleToolCallRequest {
            input: Some(Input::ArgumentsJson(text.to_owned())),
            ..used(&root, &format!("use_{index}"), "stop_and_think", &json!({}))
        };
        let answer = root.send(message).await.unwrap();
        let said = error(&answer);
        assert!(said.contains(words), "{text}: {said}");
        assert_eq!(answer.sequence, index as u64 + 1, "{text}");
    }
    assert_eq!(person.timeline(&root.task).await.len(), 8, "created, and each mistake");
    assert_eq!(root.state().await, TaskState::Running);
    root.send(used(&root, "use_9", "stop_and_think", &json!({"thoughts": "x"}))).await.unwrap();
}

/// A repeat is the same mistake, and has the same entry.
#[tokio::test]
async fn a_mistake_that_is_repeated_is_told_once() {
    let server = server();
    let person = person(&server, "riley").await;
    let root = person.create("Work").await;
    let message = used(&root, "use_1", "web_search", &json!({}));
    let first = root.send(message.clone()).await.unwrap();
    assert_eq!(root.send(message).await.unwrap().sequence, first.sequence);
    assert_eq!(person.timeline(&root.task).await.len(), 2);
}

/// By other ways in the entry is the same, and the answer is that of a call without a task.
#[tokio::test]
async fn by_other_ways_in_a_mistake_is_answered_as_without_a_task_and_told_to_the_model() {
    let server = server();
    let person = person(&server, "riley").await;
    let root = person.create("Work").await;
    assert_refused(person.call("web_search", &json!({}), &root.task).await, Code::NotFound, "UNKNOWN_TOOL");
    // A program that names no use of a model's is told so too.
    assert_refused(root.handle("web_search", &json!({})).await, Code::NotFound, "UNKNOWN_TOOL");
    assert_eq!(person.timeline(&root.task).await.len(), 3);
    assert_refused(person.call("web_search", &json!({}), "").await, Code::NotFound, "UNKNOWN_TOOL");
}

/// Nobody drives a task by mistakes either.
#[tokio::test]
async fn what_the_program_got_wrong_is_a_status_and_no_entry() {
    let server = server();
    let person = person(&server, "riley").await;
    let root = person.create("Work").await;
    let reused = used(&root, "use_1", "stop_and_think", &json!({"thoughts": "x"}));
    root.send(reused.clone()).await.unwrap();
    let other = HandleToolCallRequest {
        input: Some(Input::ArgumentsJson(r#"{"thoughts":"y"}"#.to_owned())),
        ..reused
    };
    assert_refused(root.send(other).await, Code::AlreadyExists, "REQUEST_ID_REUSED");
    let stale = HandleToolCallRequest { lease_token: 9, ..used(&root, "use_2", "web_search", &json!({})) };
    assert_refused(root.send(stale).await, Code::Aborted, "LEASE_LOST");
    let cancel = CancelTaskRequest { task_id: root.task.clone(), reason: String::new() };
    person.tasks.clone().cancel_task(person.request(cancel)).await.unwrap();
    let late = root.send(used(&root, "use_3", "web_search", &json!({}))).await;
    assert_refused(late, Code::FailedPrecondition, "TASK_ENDED");
    assert_eq!(person.timeline(&root.task).await.len(), 3, "created, the thought, the end");
}

#[tokio::test]
async fn a_failed_child_is_an_error_to_its_parents_model() {
    let server = server();
    let person = person(&server, "riley").await;
    let root = person.create("Work").await;
    root.blocks("route_to_analyst", &json!({"request": "Analyze"})).await;
    let analyst = person.leases("analyst").await.unwrap();
    let end = EndTaskRequest {
        task_id: analyst.task.clone(),
        end: Some(End::Failed("no data".to_owned())),
        lease_token: analyst.lease_token,
        request_id: new_id(),
    };
    person.tasks.clone().end_task(person.request(end)).await.unwrap();
    let message = RenderForModelRequest { task_id: root.task.clone(), ..Default::default() };
    let shown = person.tasks.clone().render_for_model(person.request(message)).await.unwrap().into_inner();
    let told = shown.messages.into_iter().flat_map(|it| it.blocks).find_map(|it| match it.block {
        Some(Block::ToolResult(it)) => Some((it.content, it.is_error)),
        _ => None,
    });
    assert_eq!(told, Some((r#"{"status":"failed","message":"no data"}"#.to_owned(), true)));
}

#[tokio::test]
async fn a_task_begins_with_each_document_once() {
    use toolwire::contract::proto::tasks::v1::{InitialDocument, initial_document::Content};
    let server = server();
    let person = person(&server, "riley").await;
    let document = |text: &str| InitialDocument {
        path: "a.md".to_owned(),
        content: Some(Content::Text(text.to_owned())),
        ..Default::default()
    };
    let message = CreateTaskRequest {
        request: "Work".to_owned(),
        documents: vec![document("one"), document("two")],
        request_id: new_id(),
        ..Default::default()
    };
    let created = person.tasks.clone().create_task(person.request(message)).await;
    let said = assert_refused(created, Code::InvalidArgument, "INVALID_REQUEST");
    assert!(said.contains("\"a.md\" twice"), "{said}");
}
