//! A complete flow, entry by entry: root, analyst, visualizer, two hand-offs; and a delegation to two at once.

use toolwire::contract::proto::tasks::v1::{InitialDocument, initial_document};

use super::*;

#[tokio::test]
async fn the_complete_flow_of_the_specification() {
    let server = server();
    let person = person(&server, "riley").await;
    let sales = InitialDocument {
        path: "sales_raw.csv".to_owned(),
        content: Some(initial_document::Content::Text(
            "month,revenue\n2024-07,100\n2024-08,115\n".to_owned(),
        )),
        ..Default::default()
    };
    let message = CreateTaskRequest {
        request: "Report on Q3 sales".to_owned(),
        documents: vec![sales],
        request_id: new_id(),
        ..Default::default()
    };
    let created = person.tasks.clone().create_task(person.request(message.clone())).await.unwrap();
    let created = created.into_inner().task.unwrap();
    let again = person.tasks.clone().create_task(person.request(message)).await.unwrap();
    assert_eq!(again.into_inner().task.unwrap().task_id, created.task_id);
    let root = person.drives(&created.task_id);
    let request = json!({"request": "Analyze Q3 sales", "documents": ["sales_raw.csv"]});
    let task_1 = root.blocks("route_to_analyst", &request).await;
    assert_eq!(root.state().await, TaskState::Blocked);

    let analyst = person.leases("analyst").await.expect("delegated");
    assert_eq!(analyst.task, task_1);
    let thoughts = json!({"thoughts": "Sales went up by 15 %; a chart shows it best."});
    assert_eq!(data(&analyst.handle("stop_and_think", &thoughts).await.unwrap()), json!({"logged": true}));
    analyst.writes("analysis.md", b"# Q3\n\nSales went up by 15 %.\n").await;
    let request = json!({"request": "Create charts", "documents": ["sales_raw.csv", "analysis.md"]});
    let task_2 = analyst.blocks("route_to_visualizer", &request).await;
    let made = person.task(&task_2).await.unwrap();
    assert_eq!(made.documents, ["sales_raw.csv", "analysis.md"]);
    assert_eq!((made.depth, &made.root_id, made.deadline), (2, &root.task, created.deadline));

    let visualizer = person.leases("visualizer").await.expect("delegated");
    assert_eq!(visualizer.task, task_2);
    visualizer.writes("charts.png", b"\x89PNG\r\n\x1a\n").await;
    let ended = visualizer.hands_off(&json!({"charts_created": 1}), &["charts.png"]).await;
    let Some(Detail::Value(value)) = ended.detail else { panic!("{ended:?}") };
    let value = Value::Object(toolwire::contract::json::from_struct(value));
    assert_eq!(value["result"], json!({"charts_created": 1}));
    assert_eq!(visualizer.state().await, TaskState::Completed);

    assert_eq!(analyst.state().await, TaskState::Running);
    analyst.hands_off(&json!({"analysis": "complete"}), &["analysis.md", "charts.png"]).await;
    assert_eq!(root.state().await, TaskState::Running);
    root.ends("Q3 sales are up by 15 %.").await;

    insta::assert_snapshot!(golden(&person, &[&root.task, &task_1, &task_2]).await);
}

/// A model may delegate to several in one response: all run, and the task goes on when the last is done.
#[tokio::test]
async fn a_delegation_to_two_waits_for_both() {
    let server = server();
    let person = person(&server, "riley").await;
    let root = person.create("Build and show it").await;
    let in_step = |tool: &str, position, request: &str| HandleToolCallRequest {
        step: 1,
        position: Some(position),
        ..root.message(tool, &json!({"request": request}))
    };
    let first = root.send(in_step("route_to_developer", 0, "Build it")).await.unwrap();
    let second = root.send(in_step("route_to_visualizer", 1, "Show it")).await.unwrap();
    let (first, second) = (blocked(&first).task_id.clone(), blocked(&second).task_id.clone());
    // A call of another step is not one of the same response.
    let later =
        HandleToolCallRequest { step: 2, ..root.message("stop_and_think", &json!({"thoughts": "?"})) };
    assert_refused(root.send(later).await, Code::FailedPrecondition, "TASK_BLOCKED");

    let visualizer = person.leases("visualizer").await.unwrap();
    visualizer.hands_off(&json!({"shown": true}), &[]).await;
    assert_eq!(root.state().await, TaskState::Blocked);
    let developer = person.leases("developer").await.unwrap();
    developer.hands_off(&json!({"built": true}), &[]).await;
    assert_eq!(root.state().await, TaskState::Running);
    insta::assert_snapshot!(golden(&person, &[&root.task, &first, &second]).await);
}

/// A failed child answers its parent, which goes on.
#[tokio::test]
async fn a_child_that_fails_answers_its_parent() {
    let server = server();
    let person = person(&server, "riley").await;
    let root = person.create("Try it").await;
    root.blocks("route_to_developer", &json!({"request": "Build it"})).await;
    let developer = person.leases("developer").await.unwrap();
    let message = EndTaskRequest {
        task_id: developer.task.clone(),
        end: Some(End::Failed("It does not compile".to_owned())),
        lease_token: developer.lease_token,
        request_id: new_id(),
    };
    person.tasks.clone().end_task(person.request(message)).await.unwrap();
    assert_eq!(developer.state().await, TaskState::Failed);
    assert_eq!(root.state().await, TaskState::Running);
    insta::assert_snapshot!(golden(&person, &[&root.task, &developer.task]).await);
}
