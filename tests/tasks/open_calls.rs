//! What has no end yet: it is named to whoever works on the task next, and a task that ends meanwhile tells it all the
//! same.

use toolwire::contract::proto::{
    tasks::v1::{
        CancelTaskRequest, GetTaskResponse, OpenCall, OpenCallStanding, RenderForModelRequest,
        RenderForModelResponse, model_block::Block, timeline_entry::Entry,
    },
    v1::{Approve, DecideConfirmationRequest, decide_confirmation_request::Decision},
};

use super::*;

async fn get(person: &Person, id: &str) -> GetTaskResponse {
    let message = GetTaskRequest { task_id: id.to_owned() };
    person.tasks.clone().get_task(person.request(message)).await.unwrap().into_inner()
}

/// Waits until the task has an open call.
async fn open_call(person: &Person, id: &str) -> OpenCall {
    loop {
        if let Some(call) = get(person, id).await.open_calls.pop() {
            return call;
        }
        tokio::task::yield_now().await;
    }
}

async fn render(person: &Person, id: &str) -> RenderForModelResponse {
    let message = RenderForModelRequest { task_id: id.to_owned(), ..Default::default() };
    person.tasks.clone().render_for_model(person.request(message)).await.unwrap().into_inner()
}

/// The results that a model is shown, by their calls.
fn results(shown: &RenderForModelResponse) -> Vec<(String, String, bool)> {
    let blocks = shown.messages.iter().flat_map(|message| &message.blocks);
    let results = blocks.filter_map(|block| match block.block.clone() {
        Some(Block::ToolResult(it)) => Some((it.id, it.content, it.is_error)),
        _ => None,
    });
    results.collect()
}

/// A call of the agent's, under way until it ends.
fn goes_on(agent: &Agent, tool: &str, arguments: &Value) -> tokio::task::JoinHandle<HandleToolCallResponse> {
    let message = HandleToolCallRequest { step: 1, ..agent.message(tool, arguments) };
    let agent = Agent { person: agent.person.clone(), task: agent.task.clone(), lease_token: 0 };
    tokio::spawn(async move { agent.send(message).await.unwrap() })
}

async fn role(person: &Person, role: &str) -> String {
    let message = CreateTaskRequest {
        request: "Work".to_owned(),
        role: role.to_owned(),
        request_id: new_id(),
        ..Default::default()
    };
    let answer = person.tasks.clone().create_task(person.request(message)).await.unwrap();
    answer.into_inner().task.unwrap().task_id
}

#[tokio::test]
async fn a_write_that_runs_while_its_task_ends_is_in_the_timeline_with_its_outcome() {
    let server = server();
    let person = person(&server, "riley").await;
    let root = person.create("Write").await;
    let writes = goes_on(&root, "debug_write", &json!({"value": "x", "duration": "1s"}));
    let open = open_call(&person, &root.task).await;
    assert_eq!(
        (open.tool.as_str(), open.standing(), open.step),
        ("debug_write", OpenCallStanding::UnderWay, 1)
    );
    let cancel = CancelTaskRequest { task_id: root.task.clone(), reason: "enough".to_owned() };
    person.tasks.clone().cancel_task(person.request(cancel)).await.unwrap();

    let written = writes.await.unwrap();
    assert_eq!((written.action.as_str(), written.sequence), ("return", 3), "{written:?}");
    assert!(matches!(&written.detail, Some(Detail::Result(_))), "{written:?}");
    let told: Vec<_> = person.timeline(&root.task).await.into_iter().map(|it| it.entry.unwrap()).collect();
    match told.as_slice() {
        [Entry::Created(_), Entry::ToolCall(call), Entry::Ended(_), Entry::Answer(answer)] => {
            assert_eq!(call.status, "→ under way when the task ended");
            assert_eq!((answer.answers, answer.status.as_str()), (1, "← ended after the task"));
            assert!(answer.result_json.contains("\"writes\":1"), "{answer:?}");
        }
        other => panic!("{other:#?}"),
    }
    let task = person.task(&root.task).await.unwrap();
    assert_eq!((task.state(), task.next_sequence, task.lease), (TaskState::Cancelled, 4, None));
    assert_eq!(get(&person, &root.task).await.open_calls, []);
}

#[tokio::test]
async fn a_read_that_ends_with_its_task_is_told_too() {
    let server = server();
    let person = person(&server, "riley").await;
    let root = person.create("Read").await;
    let reads = goes_on(&root, "debug_sleep", &json!({"duration": "60s"}));
    open_call(&person, &root.task).await;
    root.hands_off(&json!({"text": "done"}), &[]).await;
    let read = reads.await.unwrap();
    assert_eq!(read.action, "return", "{read:?}");
    let told = format!("{:?}", person.timeline(&root.task).await);
    assert!(told.contains("debug_sleep") && told.contains("→ under way when the task ended"), "{told}");
}

#[tokio::test]
async fn whoever_takes_a_task_over_is_told_what_is_under_way_and_writes_nothing_twice() {
    let server = server();
    let person = person(&server, "riley").await;
    let id = role(&person, "writer").await;
    let first = person.leases("writer").await.unwrap();
    let message = HandleToolCallRequest {
        step: 1,
        position: Some(2),
        tool_call_id: "use_1".to_owned(),
        ..first.message("debug_write", &json!({"value": "x", "duration": "1s"}))
    };
    let (agent, request) = (first, message.clone());
    let writes = tokio::spawn(async move { agent.send(request).await });
    open_call(&person, &id).await;
    // As when its lease is over.
    let release = toolwire::contract::proto::tasks::v1::ReleaseTaskRequest { task_id: id.clone(), token: 1 };
    person.tasks.clone().release_task(person.request(release)).await.unwrap();
    let target = Some(Target::AnyOf(Roles { roles: vec!["writer".to_owned()] }));
    let lease = LeaseTaskRequest { target, holder: "another".to_owned(), ..Default::default() };
    let leased = person.tasks.clone().lease_task(person.request(lease)).await.unwrap().into_inner();
    let [open] = leased.open_calls.as_slice() else { panic!("{leased:?}") };
    assert_eq!((open.standing(), open.position), (OpenCallStanding::UnderWay, 2));
    assert_eq!((&open.request_id, open.tool_call_id.as_str()), (&message.request_id, "use_1"));
    // The same call again waits for the end of what is under way.
    let again = HandleToolCallRequest {
        task_id: id.clone(),
        tool: open.tool.clone(),
        input: Some(Input::ArgumentsJson(open.input_json.clone())),
        request_id: open.request_id.clone(),
        step: open.step,
        position: Some(open.position),
        tool_call_id: open.tool_call_id.clone(),
        lease_token: leased.task.unwrap().lease.unwrap().token,
        ..message
    };
    let answer = person.drives(&id).send(again).await.unwrap();
    assert_eq!(data(&answer)["writes"], 1);
    assert_eq!(writes.await.unwrap().unwrap().sequence, answer.sequence);
    assert_eq!(results(&render(&person, &id).await).len(), 1);
}

async fn approve(person: &Person, id: &str) {
    let approve = Approve { tool: "debug_confirm".to_owned(), reason: String::new() };
    let message = DecideConfirmationRequest {
        confirmation_id: id.to_owned(),
        decision: Some(Decision::Approve(approve)),
        on_behalf_of: String::new(),
    };
    person.confirmations.clone().decide_confirmation(person.request(message)).await.unwrap();
}

#[tokio::test]
async fn an_approved_call_is_open_until_it_is_made_again_and_is_not_shown_as_done() {
    let server = server();
    let person = person(&server, "riley").await;
    let id = role(&person, "payer").await;
    let payer = person.leases("payer").await.unwrap();
    let message = HandleToolCallRequest {
        step: 1,
        tool_call_id: "use_1".to_owned(),
        ..payer.message("debug_confirm", &json!({"value": "x"}))
    };
    let asked = payer.send(message.clone()).await.unwrap();
    assert_eq!(get(&person, &id).await.open_calls, [], "nobody has approved it");
    let required = blocked(&asked).confirmation_required.clone().unwrap();
    approve(&person, &required.confirmation_id).await;

    let [open] = get(&person, &id).await.open_calls.try_into().expect("one open call");
    assert_eq!((open.standing(), open.tool.as_str()), (OpenCallStanding::Approved, "debug_confirm"));
    assert_eq!((&open.request_id, open.step), (&message.request_id, 1));
    assert_eq!(
        (open.tool_call_id.as_str(), open.input_json.as_str()),
        ("use_1", r#"{"value":"x","duration":"0s"}"#)
    );
    let before = results(&render(&person, &id).await);
    let [(_, content, is_error)] = before.as_slice() else { panic!("{before:?}") };
    assert!(content.starts_with("← confirmed by riley: approved, and not carried out yet."), "{content}");
    assert!(!is_error);

    let again = HandleToolCallRequest {
        tool: open.tool,
        input: Some(Input::ArgumentsJson(open.input_json)),
        request_id: open.request_id,
        ..message
    };
    assert_eq!(data(&payer.send(again).await.unwrap())["writes"], 1);
    assert_eq!(get(&person, &id).await.open_calls, []);
    let after = results(&render(&person, &id).await);
    assert!(
        matches!(after.as_slice(), [(_, content, false)] if content.contains("\"writes\":1")),
        "{after:?}"
    );
}

#[tokio::test]
async fn a_step_that_is_over_takes_no_call() {
    let server = server();
    let person = person(&server, "riley").await;
    let root = person.create("Think").await;
    let of =
        |step| HandleToolCallRequest { step, ..root.message("stop_and_think", &json!({"thoughts": "x"})) };
    root.send(of(2)).await.unwrap();
    let said = assert_refused(root.send(of(1)).await, Code::InvalidArgument, "INVALID_REQUEST");
    assert!(said.contains("step must be at least 2"), "{said}");
    root.send(of(2)).await.unwrap();
    root.send(of(0)).await.unwrap();
    assert_eq!(person.task(&root.task).await.unwrap().newest_step, 2);
}
