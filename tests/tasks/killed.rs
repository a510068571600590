//! Writes that were under way when their server was killed, and calls that are stopped with their task.

use std::path::Path;

use tempfile::TempDir;
use toolwire::{
    contract::proto::{
        tasks::v1::{
            BlockReason, CancelTaskRequest, ResolveUnknownRequest, resolve_unknown_request::Resolution,
            timeline_entry::Entry,
        },
        v1::{ToolErrorCode, tool_result::Outcome},
    },
    db::sql,
};

use super::*;
use crate::support::{program::Program, state};

/// The service as a process of its own, and its user.
async fn serve(state: &TempDir) -> (Program, Person) {
    let variables = [
        ("TOOLWIRE_STATE", state.path().to_str().unwrap()),
        ("TOOLWIRE_LOG_FILTER", "info,toolwire::diagnostics=debug"),
    ];
    let program = Program::start(Path::new("."), &[], &variables).await;
    let channel = program.channel().await;
    let person = Person {
        tasks: TaskServiceClient::new(channel.clone()),
        tools: ToolServiceClient::new(channel.clone()),
        confirmations: ConfirmationServiceClient::new(channel.clone()),
        channel,
        name: "riley".to_owned(),
    };
    (program, person)
}

/// Begins a call of a task, and returns once it is recorded as begun, as whoever looks into the state sees it. What it
/// comes to is told later.
async fn begin(
    state: &TempDir,
    agent: &Agent,
    message: &HandleToolCallRequest,
) -> tokio::task::JoinHandle<Result<HandleToolCallResponse, Status>> {
    let (calling, sent) = (agent.clone(), message.clone());
    let call = tokio::spawn(async move { calling.send(sent).await });
    let store = state::at(state.path());
    loop {
        let open = sql!("SELECT count(*) FROM open_calls WHERE request_id = {&message.request_id}");
        if state::rows::<i64>(&store, open).await == [1] {
            return call;
        }
        assert!(!call.is_finished(), "it ended before it was recorded: {:?}", call.await);
    }
}

async fn resolve(person: &Person, task: &str, call_id: &str, resolution: Resolution) -> Result<Task, Status> {
    let message = ResolveUnknownRequest {
        task_id: task.to_owned(),
        call_id: call_id.to_owned(),
        resolution: Some(resolution),
        reason: "the invoice is there".to_owned(),
    };
    let answer = person.tasks.clone().resolve_unknown(person.request(message)).await?;
    Ok(answer.into_inner().task.unwrap())
}

fn outcome(answer: HandleToolCallResponse) -> Outcome {
    match answer.detail {
        Some(Detail::Result(result)) => result.outcome.unwrap(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_write_that_was_under_way_is_resolved_by_a_person_and_never_carried_out_again() {
    let state = tempfile::tempdir().unwrap();
    let (program, person) = serve(&state).await;
    let agents = [person.create("Pay").await, person.create("Pay again").await];
    let messages = agents
        .each_ref()
        .map(|agent| agent.message("debug_write", &json!({"value": "x", "duration": "60s"})));
    let calls =
        [begin(&state, &agents[0], &messages[0]).await, begin(&state, &agents[1], &messages[1]).await];
    let log = program.kill().await;
    assert!(!log.contains("\"wrote\""), "{log}");
    for call in calls {
        call.await.unwrap().unwrap_err();
    }

    let (program, person) = serve(&state).await;
    let done = json!({"id": 7});
    let resolutions = [Resolution::Done(to_struct(done.as_object().unwrap())), Resolution::NotDone(true)];
    let others = resolutions.iter().rev();
    for (((agent, message), resolution), other) in agents.iter().zip(&messages).zip(&resolutions).zip(others)
    {
        let agent = Agent { person: person.clone(), ..agent.clone() };
        let waits = entry_of(&person, &agent.task, |it| matches!(it, Entry::ToolCall(_))).await;
        let task = person.task(&agent.task).await.unwrap();
        assert_eq!((task.state(), task.block_reason()), (TaskState::Blocked, BlockReason::UnknownOutcome));
        assert_eq!(task.unknown_call_ids, std::slice::from_ref(&waits.call_id));
        // The repeat says the same and does nothing.
        let again = agent.send(message.clone()).await.unwrap();
        let block = blocked(&again);
        assert_eq!(
            (block.reason(), block.status.as_str()),
            (BlockReason::UnknownOutcome, "→ outcome unknown")
        );
        assert_eq!(person.timeline(&agent.task).await.len(), 2, "and has no entry of its own");

        let unknown = resolve(&person, &agent.task, &new_id(), resolution.clone()).await;
        assert_refused(unknown, Code::FailedPrecondition, "UNKNOWN_CALL");
        let resolved = resolve(&person, &agent.task, &waits.call_id, resolution.clone()).await.unwrap();
        assert_eq!((resolved.state(), resolved.unknown_call_ids.len()), (TaskState::Running, 0));
        let repeated = resolve(&person, &agent.task, &waits.call_id, resolution.clone()).await.unwrap();
        assert_eq!(repeated.next_sequence, resolved.next_sequence, "again is fine, and changes nothing");
        let otherwise = resolve(&person, &agent.task, &waits.call_id, other.clone()).await;
        let said = assert_refused(otherwise, Code::FailedPrecondition, "ALREADY_RESOLVED");
        assert!(said.contains("← resolved by riley: the invoice is there"), "{said}");
        let answer = entry_of(&person, &agent.task, |it| matches!(it, Entry::Answer(_))).await;
        let Some(Entry::Answer(answer)) = answer.entry else { unreachable!() };
        assert_eq!(
            (answer.answers, answer.status),
            (1, "← resolved by riley: the invoice is there".to_owned())
        );
        match (outcome(agent.send(message.clone()).await.unwrap()), resolution) {
            (Outcome::DataJson(text), Resolution::Done(_)) => assert_eq!(text, r#"{"id":7}"#),
            (Outcome::Error(error), Resolution::NotDone(_)) => {
                assert_eq!(error.code(), ToolErrorCode::Cancelled);
                assert!(error.message.contains("the invoice is there"), "{}", error.message);
            }
            other => panic!("{other:?}"),
        }
    }
    let log = program.stop().await;
    assert!(!log.contains("\"wrote\""), "nothing is carried out again: {log}");
}

/// A read that runs is stopped with its task; a write that has begun is not cut in half, and its task is over.
#[tokio::test]
async fn a_running_call_of_a_cancelled_task_is_stopped() {
    let state = tempfile::tempdir().unwrap();
    let (program, person) = serve(&state).await;
    let root = person.create("Wait").await;
    let child = root.blocks("route_to_analyst", &json!({"request": "x"})).await;
    let child = person.drives(&child);
    let sleeps = child.message("debug_sleep", &json!({"duration": "60s"}));
    let call = begin(&state, &child, &sleeps).await;
    let message = CancelTaskRequest { task_id: root.task.clone(), reason: "no more".to_owned() };
    let cancelled = person.tasks.clone().cancel_task(person.request(message)).await.unwrap().into_inner();
    assert_eq!(cancelled.descendants, 1);
    match outcome(call.await.unwrap().unwrap()) {
        Outcome::Error(error) => assert_eq!(error.code(), ToolErrorCode::Cancelled),
        other => panic!("{other:?}"),
    }
    // Its caller does not wait until that is written down, which is once the work has ended.
    let is_answer = |it: &TimelineEntry| matches!(it.entry, Some(Entry::Answer(_)));
    while !person.timeline(&child.task).await.iter().any(is_answer) {}
    for task in [&root.task, &child.task] {
        let task = person.task(task).await.unwrap();
        assert_eq!(task.state(), TaskState::Cancelled);
        assert_eq!(person.timeline(&task.task_id).await.len() as u64, task.next_sequence);
    }
    let told: Vec<_> = person.timeline(&child.task).await.into_iter().map(|it| it.entry.unwrap()).collect();
    // What was under way has its entry before the end, and what became of it after.
    match told.as_slice() {
        [.., Entry::ToolCall(call), Entry::Ended(_), Entry::Answer(answer)] => {
            assert_eq!(call.status, "→ under way when the task ended");
            assert_eq!(answer.error.as_ref().unwrap().code(), ToolErrorCode::Cancelled);
        }
        other => panic!("{other:#?}"),
    }
    // A call is recorded before its work begins, so one that is cancelled between the two has none to stop.
    let log = program.kill().await;
    for line in log.lines().filter(|line| line.contains("work stopped")) {
        assert!(line.contains(r#""tool_name":"debug_sleep""#), "{line}");
        assert!(line.contains(r#""cause":"cancelled""#), "{line}");
    }
}
