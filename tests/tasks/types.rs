//! The table of types, cell by cell, as a client sees it.

use toolwire::contract::proto::tasks::v1::{ListTasksRequest, TaskFilter, TaskKind, timeline_entry::Entry};

use super::*;

/// What a call of a type did to its task.
#[derive(Debug, PartialEq)]
#[allow(clippy::struct_excessive_bools, reason = "a column of the table each")]
struct Done {
    creates_node: bool,
    blocks_parent: bool,
    has_result: bool,
    has_status: bool,
    ends_task: bool,
    action: String,
}

async fn nodes(person: &Person, root: &str) -> usize {
    let filter = TaskFilter { root_id: root.to_owned(), ..Default::default() };
    let message = ListTasksRequest { filter: Some(filter), ..Default::default() };
    person.tasks.clone().list_tasks(person.request(message)).await.unwrap().into_inner().tasks.len()
}

async fn handle(person: &Person, tool: &str, arguments: &Value) -> (String, Done) {
    let agent = person.create("Anything").await;
    let answer = agent.handle(tool, arguments).await.unwrap();
    let entry = person.timeline(&agent.task).await.into_iter().nth(1).expect("the call has an entry");
    assert_eq!(entry.sequence, answer.sequence);
    let Some(Entry::ToolCall(call)) = entry.entry else { panic!("{entry:?}") };
    assert_eq!(call.input_json, arguments.to_string(), "the input is always logged");
    let state = agent.state().await;
    let done = Done {
        creates_node: nodes(person, &agent.task).await == 2,
        blocks_parent: state == TaskState::Blocked,
        has_result: !call.result_json.is_empty(),
        has_status: !call.status.is_empty(),
        ends_task: state == TaskState::Completed,
        action: answer.action,
    };
    (call.r#type, done)
}

#[tokio::test]
async fn every_type_does_what_the_table_says() {
    let server = server();
    let person = person(&server, "riley").await;
    let nothing = || Done {
        creates_node: false,
        blocks_parent: false,
        has_result: false,
        has_status: false,
        ends_task: false,
        action: "continue".to_owned(),
    };
    let (kind, function) = handle(&person, "debug_write", &json!({"value": "x", "duration": "0s"})).await;
    assert_eq!((kind.as_str(), function), ("function_tool", Done { has_result: true, ..nothing() }));

    let (kind, logged) = handle(&person, "stop_and_think", &json!({"thoughts": "x"})).await;
    assert_eq!((kind.as_str(), logged), ("non_function_tool", Done { has_result: true, ..nothing() }));

    let (kind, handoff) = handle(&person, "handoff", &json!({"result": {"a": 1}})).await;
    let ends = Done { ends_task: true, action: "return".to_owned(), ..nothing() };
    assert_eq!((kind.as_str(), handoff), ("handoff", ends));

    let waits = || Done {
        creates_node: true,
        blocks_parent: true,
        has_status: true,
        action: "block".to_owned(),
        ..nothing()
    };
    let (kind, delegated) = handle(&person, "route_to_analyst", &json!({"request": "x"})).await;
    assert_eq!((kind.as_str(), delegated), ("agent_as_tool", waits()));
    let (kind, asked) = handle(&person, "ask_master", &json!({"question": "x"})).await;
    assert_eq!((kind.as_str(), asked), ("ask_master", waits()));
}

/// ROOT: a node, nobody blocked, its payload in its own timeline; and never within a task.
#[tokio::test]
async fn a_root_is_begun_from_outside_only() {
    let server = server();
    let person = person(&server, "riley").await;
    let arguments = json!({"request": "Analyze Q3 sales", "role": "analyst"});
    let answer = person.call("start_task", &arguments, "").await.unwrap();
    let Some(toolwire::contract::proto::v1::call_tool_response::Outcome::Result(result)) = answer.outcome
    else {
        panic!("{answer:?}")
    };
    let Some(toolwire::contract::proto::v1::tool_result::Outcome::DataJson(text)) = result.outcome else {
        panic!("{result:?}")
    };
    let id = serde_json::from_str::<Value>(&text).unwrap()["task_id"].as_str().unwrap().to_owned();
    let task = person.task(&id).await.unwrap();
    assert_eq!(
        (task.kind(), task.role.as_str(), task.state()),
        (TaskKind::Root, "analyst", TaskState::Pending)
    );
    let created = person.timeline(&id).await.remove(0);
    let Some(Entry::Created(created)) = created.entry else { panic!("{created:?}") };
    assert_eq!((created.r#type.as_str(), created.tool.as_str()), ("root", "start_task"));
    assert_eq!(created.request, "Analyze Q3 sales");

    let agent = person.create("Anything").await;
    let refused = agent.handle("start_task", &arguments).await;
    assert_refused(refused, Code::FailedPrecondition, "ROOT_INSIDE_TASK");
    let refused = person.call("start_task", &arguments, &agent.task).await;
    assert_refused(refused, Code::FailedPrecondition, "ROOT_INSIDE_TASK");
}

/// Any other way of calling a tool with a `task_id` is recorded alike.
#[tokio::test]
async fn call_tool_with_a_task_is_recorded_and_says_what_to_do() {
    let server = server();
    let person = person(&server, "riley").await;
    let agent = person.create("Anything").await;
    let data = async |tool: &str, arguments: Value| {
        use toolwire::contract::proto::v1::{call_tool_response, tool_result};
        let answer = person.call(tool, &arguments, &agent.task).await.unwrap();
        let Some(call_tool_response::Outcome::Result(result)) = answer.outcome else { panic!("{answer:?}") };
        let Some(tool_result::Outcome::DataJson(text)) = result.outcome else { panic!("{result:?}") };
        serde_json::from_str::<Value>(&text).unwrap()
    };
    assert_eq!(data("stop_and_think", json!({"thoughts": "x"})).await, json!({"logged": true}));
    data("debug_write", json!({"value": "x"})).await;
    let asked = data("ask_master", json!({"question": "x"})).await;
    assert_eq!((&asked["action"], &asked["status"]), (&json!("block"), &json!("→ asked a person")));
    let question = asked["task_id"].as_str().unwrap();
    assert_eq!(person.task(question).await.unwrap().parent_id, agent.task);
    assert_eq!(person.timeline(&agent.task).await.len(), 4);
}

/// A label that is no name of a task of ours is the caller's own, and nothing is recorded.
#[tokio::test]
async fn a_label_that_names_no_task_is_left_alone() {
    let server = server();
    let person = person(&server, "riley").await;
    person.call("debug_write", &json!({"value": "x"}), "my own task 7").await.unwrap();
    person.call("stop_and_think", &json!({"thoughts": "x"}), "").await.unwrap();
    let said = person.call("handoff", &json!({"result": {}}), "my own task 7").await;
    let said = assert_refused(said, Code::InvalidArgument, "INVALID_REQUEST");
    assert!(said.contains("create a task with CreateTask"), "{said}");
    let unknown = format!("task_{}", "0".repeat(32));
    let refused = person.call("debug_write", &json!({"value": "x"}), &unknown).await;
    assert_refused(refused, Code::NotFound, "UNKNOWN_TASK");
}
