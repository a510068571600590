//! What a model is shown of a task.

use toolwire::contract::proto::tasks::v1::{
    MessageRole, ModelMessage, RenderForModelRequest, RenderForModelResponse, model_block::Block,
};

use super::*;

async fn rendered(person: &Person, task: &str, budget: u32) -> Result<RenderForModelResponse, Status> {
    let message = RenderForModelRequest {
        task_id: task.to_owned(),
        token_budget: budget,
        ..RenderForModelRequest::default()
    };
    person.tasks.clone().render_for_model(person.request(message)).await.map(tonic::Response::into_inner)
}

/// A call that was made and one that waits: each has its result, in the order of the calls.
#[tokio::test]
async fn a_model_is_shown_each_call_with_its_result() {
    let server = server();
    let person = person(&server, "riley").await;
    let root = person.create("Report on Q3 sales").await;
    root.writes("notes.md", b"# Notes\n\nRevenue rose.\n").await;
    root.handle("stop_and_think", &json!({"thoughts": "An analyst can do it"})).await.unwrap();
    let request = json!({"request": "Analyze", "documents": ["notes.md"]});
    let child = root.blocks("route_to_analyst", &request).await;

    let shown = rendered(&person, &root.task, 0).await.unwrap();
    assert_eq!(rendered(&person, &root.task, 0).await.unwrap(), shown, "the same to the byte");
    assert!(shown.system.contains("notes.md"), "{}", shown.system);
    let roles: Vec<_> = shown.messages.iter().map(ModelMessage::role).collect();
    assert_eq!(roles[0], MessageRole::User);
    assert!(roles.windows(2).all(|pair| pair[0] != pair[1]), "{roles:?}");
    let blocks =
        || shown.messages.iter().flat_map(|message| &message.blocks).filter_map(|it| it.block.clone());
    let uses: Vec<_> =
        blocks().filter_map(|it| if let Block::ToolUse(it) = it { Some(it) } else { None }).collect();
    let results: Vec<_> =
        blocks().filter_map(|it| if let Block::ToolResult(it) = it { Some(it) } else { None }).collect();
    assert_eq!(
        uses.iter().map(|it| it.tool.as_str()).collect::<Vec<_>>(),
        ["stop_and_think", "route_to_analyst"]
    );
    assert_eq!(
        uses.iter().map(|it| &it.id).collect::<Vec<_>>(),
        results.iter().map(|it| &it.id).collect::<Vec<_>>()
    );
    assert!(results[1].content.contains("→ delegated"), "{}", results[1].content);

    let shown = rendered(&person, &child, 0).await.unwrap();
    let documents: Vec<_> = shown.messages[0].blocks.iter().filter_map(|it| it.block.clone()).collect();
    let is_whole = |it: &Block| matches!(it, Block::Document(it) if it.text.contains("Revenue rose."));
    assert!(documents.iter().any(is_whole), "{documents:?}");
}

#[tokio::test]
async fn a_budget_is_within_its_bounds_and_holds_what_must_stay() {
    let server = server();
    let person = person(&server, "riley").await;
    let root = person.create(&"Report on sales. ".repeat(1_000)).await;
    let refused = rendered(&person, &root.task, 1_000).await;
    let message = assert_refused(refused, Code::ResourceExhausted, "BUDGET_TOO_SMALL");
    assert!(message.contains("token_budget must be at least"), "{message}");
    rendered(&person, &root.task, 60_000).await.unwrap();
    for budget in [1, 999, 500_001] {
        assert_eq!(rendered(&person, &root.task, budget).await.unwrap_err().code(), Code::InvalidArgument);
    }
    let unknown = format!("task_{:032x}", 7);
    assert_refused(rendered(&person, &unknown, 0).await, Code::NotFound, "UNKNOWN_TASK");
}
