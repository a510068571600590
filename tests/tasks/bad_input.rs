//! Bad input of tasks: what it gets, and that nothing is changed.

use crate::support::state;
use toolwire::contract::proto::tasks::v1::{
    AppendMessageRequest, CancelTaskRequest, DeleteTaskRequest, GetEntryRequest, InitialDocument, Message,
    MessageRole, WatchTasksRequest, WatchTimelineRequest, initial_document,
};

use super::*;

#[tokio::test]
async fn a_call_of_a_blocked_task_is_refused_naming_the_state_and_what_is_waited_for() {
    let server = server();
    let person = person(&server, "riley").await;
    let root = person.create("Anything").await;
    let child = root.blocks("route_to_analyst", &json!({"request": "x"})).await;
    let entries = person.timeline(&root.task).await.len();
    let refused = root.handle("stop_and_think", &json!({"thoughts": "x"})).await;
    let said = assert_refused(refused, Code::FailedPrecondition, "TASK_BLOCKED");
    assert!(said.contains("blocked") && said.contains(&child), "{said}");
    let refused = person.call("debug_write", &json!({"value": "x"}), &root.task).await;
    assert_refused(refused, Code::FailedPrecondition, "TASK_BLOCKED");
    assert_refused(
        root.handle("handoff", &json!({"result": {}})).await,
        Code::FailedPrecondition,
        "TASK_BLOCKED",
    );
    assert_eq!(person.timeline(&root.task).await.len(), entries);
}

#[tokio::test]
async fn a_call_of_an_ended_task_is_refused_naming_the_state() {
    let server = server();
    let person = person(&server, "riley").await;
    let root = person.create("Anything").await;
    let message = CancelTaskRequest { task_id: root.task.clone(), reason: "no more".to_owned() };
    let cancel = async || person.tasks.clone().cancel_task(person.request(message.clone())).await;
    let first = cancel().await.unwrap().into_inner();
    assert_eq!(cancel().await.unwrap().into_inner().task, first.task, "again: the same answer");
    let refused = root.handle("debug_write", &json!({"value": "x"})).await;
    let said = assert_refused(refused, Code::FailedPrecondition, "TASK_ENDED");
    assert!(said.contains("cancelled"), "{said}");
}

#[tokio::test]
async fn an_old_lease_writes_nothing() {
    let server = server();
    let person = person(&server, "riley").await;
    let root = person.create("Anything").await;
    root.blocks("route_to_analyst", &json!({"request": "x"})).await;
    let analyst = person.leases("analyst").await.unwrap();
    for lease_token in [0, analyst.lease_token - 1, analyst.lease_token + 1] {
        let stale = Agent { lease_token, ..analyst.clone() };
        let refused = stale.handle("debug_write", &json!({"value": "x"})).await;
        // Without a token the task is another worker's, with another one the lease was lost.
        assert_refused(refused, Code::Aborted, "LEASE_LOST");
    }
    analyst.handle("debug_write", &json!({"value": "x"})).await.unwrap();
    // Once the task has ended no lease of it is lost, or holds.
    analyst.handle("handoff", &json!({"result": {}})).await.unwrap();
    for lease_token in [0, analyst.lease_token - 1, analyst.lease_token, analyst.lease_token + 1] {
        let late = Agent { lease_token, ..analyst.clone() };
        for (tool, input) in [("debug_write", json!({"value": "x"})), ("handoff", json!({"result": {}}))] {
            assert_refused(late.handle(tool, &input).await, Code::FailedPrecondition, "TASK_ENDED");
        }
    }
}

#[tokio::test]
async fn an_identifier_that_was_used_for_something_else_is_refused() {
    let server = server();
    let person = person(&server, "riley").await;
    let root = person.create("Anything").await;
    for (tool, member) in [("stop_and_think", "thoughts"), ("route_to_analyst", "request")] {
        let first = root.message(tool, &json!({member: "x"}));
        let answer = root.send(first.clone()).await.unwrap();
        let again = root.send(first.clone()).await.unwrap();
        assert_eq!((again.sequence, &again.call_id), (answer.sequence, &answer.call_id));
        let input = Some(Input::ArgumentsJson(json!({member: "y"}).to_string()));
        let other = HandleToolCallRequest { input, ..first };
        assert_refused(root.send(other).await, Code::AlreadyExists, "REQUEST_ID_REUSED");
    }
    let create = |request: &str, request_id: &str| CreateTaskRequest {
        request: request.to_owned(),
        request_id: request_id.to_owned(),
        ..Default::default()
    };
    let id = new_id();
    let create = async |request| person.tasks.clone().create_task(person.request(create(request, &id))).await;
    let one = create("one").await.unwrap().into_inner().task.unwrap().task_id;
    assert_eq!(create("one").await.unwrap().into_inner().task.unwrap().task_id, one);
    assert_refused(create("two").await, Code::AlreadyExists, "REQUEST_ID_REUSED");
}

#[tokio::test]
async fn a_document_that_is_not_there_ends_nothing() {
    let server = server();
    let person = person(&server, "riley").await;
    let root = person.create("Anything").await;
    for (tool, arguments) in [
        ("handoff", json!({"result": {}, "documents": ["charts.png"]})),
        ("route_to_analyst", json!({"request": "x", "documents": ["charts.png"]})),
        ("ask_master", json!({"question": "x", "documents": ["charts.png"]})),
    ] {
        let said = assert_refused(root.handle(tool, &arguments).await, Code::NotFound, "UNKNOWN_DOCUMENT");
        assert!(said.contains("charts.png"), "{said}");
    }
    assert_ne!(root.state().await, TaskState::Completed);
}

#[tokio::test]
async fn what_is_malformed_is_refused_before_anything_is_stored() {
    let server = server();
    let person = person(&server, "riley").await;
    let create = async |change: fn(&mut CreateTaskRequest)| {
        let mut message =
            CreateTaskRequest { request: "x".to_owned(), request_id: new_id(), ..Default::default() };
        change(&mut message);
        person.tasks.clone().create_task(person.request(message)).await
    };
    let changes: [fn(&mut CreateTaskRequest); 6] = [
        |it| it.request.clear(),
        |it| it.request = "x".repeat(65_537),
        |it| it.request_id.clear(),
        |it| it.role = "An Analyst".to_owned(),
        |it| it.timeout = Some(prost_types::Duration { seconds: 31 * 86_400, nanos: 0 }),
        |it| it.labels = (0..17).map(|n| (n.to_string(), String::new())).collect(),
    ];
    for change in changes {
        assert_refused(create(change).await, Code::InvalidArgument, "INVALID_REQUEST");
    }
    let root = person.create("Anything").await;
    let message = AppendMessageRequest {
        task_id: root.task.clone(),
        message: Some(Message { role: MessageRole::User.into(), ..Default::default() }),
        request_id: new_id(),
        ..Default::default()
    };
    let empty = person.tasks.clone().append_message(person.request(message)).await;
    assert_refused(empty, Code::InvalidArgument, "INVALID_REQUEST");
    let lease = LeaseTaskRequest {
        target: Some(Target::TaskId(root.task.clone())),
        holder: "w".to_owned(),
        duration: Some(prost_types::Duration { seconds: 301, nanos: 0 }),
        ..Default::default()
    };
    let too_long = person.tasks.clone().lease_task(person.request(lease)).await;
    assert_refused(too_long, Code::InvalidArgument, "INVALID_REQUEST");
    let delete = DeleteTaskRequest { task_id: root.task.clone() };
    let early = person.tasks.clone().delete_task(person.request(delete)).await;
    assert_refused(early, Code::FailedPrecondition, "TASK_NOT_ENDED");
    assert_eq!(person.timeline(&root.task).await.len(), 1);
}

#[tokio::test]
async fn what_lies_beyond_the_end_is_out_of_range() {
    let server = server();
    let person = person(&server, "riley").await;
    let root = person.create("Anything").await;
    let follow = WatchTimelineRequest { task_id: root.task.clone(), after_sequence: Some(1) };
    let refused = person.tasks.clone().watch_timeline(person.request(follow)).await.map(|_| ());
    assert_refused(refused, Code::OutOfRange, "NO_SUCH_ENTRY");
    let entry = GetEntryRequest { task_id: root.task.clone(), sequence: 1 };
    let refused = person.tasks.clone().get_entry(person.request(entry)).await;
    assert_refused(refused, Code::OutOfRange, "NO_SUCH_ENTRY");
    let watch = WatchTasksRequest { filter: None, after_position: 1_000_000 };
    let refused = person.tasks.clone().watch_tasks(person.request(watch)).await.map(|_| ());
    assert_refused(refused, Code::OutOfRange, "NO_SUCH_POSITION");
}

/// Documents are there before the task is: if it does not begin, they are not.
#[tokio::test]
async fn a_root_that_does_not_begin_leaves_no_documents() {
    let server = server();
    let person = person(&server, "riley").await;
    let left = async || -> (i64, i64) {
        let query = "SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM workspaces)";
        state::row(&server.app.state, query).await
    };
    let with = |paths: &[&str]| CreateTaskRequest {
        request: "Analyze".to_owned(),
        documents: paths
            .iter()
            .map(|path| InitialDocument {
                path: (*path).to_owned(),
                content: Some(initial_document::Content::Text("Revenue rose.".to_owned())),
                ..Default::default()
            })
            .collect(),
        request_id: new_id(),
        ..Default::default()
    };
    let create = async |message| person.tasks.clone().create_task(person.request(message)).await;
    let refused = create(with(&["a.md", "../b.md"])).await;
    assert_refused(refused, Code::InvalidArgument, "PATH_INVALID");
    assert_eq!(left().await, (0, 0));
    let kept = with(&["a.md"]);
    let first = create(kept.clone()).await.unwrap().into_inner();
    for _ in 1..100 {
        person.create("Another").await;
    }
    assert_refused(create(with(&["a.md", "b.md"])).await, Code::ResourceExhausted, "TREE_LIMIT");
    assert_eq!(left().await, (1, 1), "that of the root which began");
    assert_eq!(create(kept).await.unwrap().into_inner().task, first.task, "a repeat");
    assert_eq!(left().await, (1, 1));
}
