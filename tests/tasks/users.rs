//! Two users see nothing of each other, and are told of foreign tasks what they are told of unknown ones.

use toolwire::contract::proto::tasks::v1::{
    AnswerQuestionRequest, AppendMessageRequest, CancelTaskRequest, DeleteTaskRequest, GetEntryRequest,
    ListTasksRequest, Message, MessageRole, ReleaseTaskRequest, ResolveUnknownRequest, TaskFilter,
    TaskWatchType, WatchTasksRequest, WatchTimelineRequest, resolve_unknown_request::Resolution,
};

use super::*;

/// The words are the same but for the name itself.
#[track_caller]
fn unknown<T: std::fmt::Debug>(answer: Result<T, Status>, id: &str) -> String {
    assert_refused(answer, Code::NotFound, "UNKNOWN_TASK").replace(id, "ID")
}

/// Everything that names a task, as one who does not have it.
async fn refusals(person: &Person, id: &str) -> Vec<String> {
    let task_id = || id.to_owned();
    let mut tasks = person.tasks.clone();
    let lease = LeaseTaskRequest {
        target: Some(Target::TaskId(task_id())),
        holder: "w".to_owned(),
        ..Default::default()
    };
    let message = Message { role: MessageRole::User.into(), text: "x".to_owned(), opaque: None };
    let append = AppendMessageRequest {
        task_id: task_id(),
        message: Some(message),
        request_id: new_id(),
        ..Default::default()
    };
    let end = EndTaskRequest {
        task_id: task_id(),
        end: Some(End::Failed("x".to_owned())),
        lease_token: 0,
        request_id: new_id(),
    };
    let answer = AnswerQuestionRequest { task_id: task_id(), answer: "x".to_owned(), documents: Vec::new() };
    let resolve = ResolveUnknownRequest {
        task_id: task_id(),
        call_id: new_id(),
        resolution: Some(Resolution::NotDone(true)),
        reason: "x".to_owned(),
    };
    let list = ListTimelineRequest { task_id: task_id(), ..Default::default() };
    let follow = WatchTimelineRequest { task_id: task_id(), after_sequence: None };
    let filter = Some(TaskFilter { root_id: task_id(), ..Default::default() });
    let watch = WatchTasksRequest { filter: filter.clone(), after_position: 0 };
    vec![
        unknown(person.task(id).await, id),
        unknown(tasks.lease_task(person.request(lease)).await, id),
        unknown(
            tasks.release_task(person.request(ReleaseTaskRequest { task_id: task_id(), token: 1 })).await,
            id,
        ),
        unknown(person.drives(id).handle("debug_write", &json!({"value": "x"})).await, id),
        unknown(person.drives(id).handle("handoff", &json!({"result": {}})).await, id),
        unknown(person.call("debug_write", &json!({"value": "x"}), id).await, id),
        unknown(tasks.append_message(person.request(append)).await, id),
        unknown(tasks.end_task(person.request(end)).await, id),
        unknown(
            tasks
                .cancel_task(person.request(CancelTaskRequest { task_id: task_id(), reason: String::new() }))
                .await,
            id,
        ),
        unknown(tasks.answer_question(person.request(answer)).await, id),
        unknown(tasks.resolve_unknown(person.request(resolve)).await, id),
        unknown(tasks.list_timeline(person.request(list)).await, id),
        unknown(
            tasks.get_entry(person.request(GetEntryRequest { task_id: task_id(), sequence: 0 })).await,
            id,
        ),
        unknown(tasks.watch_timeline(person.request(follow)).await.map(|_| ()), id),
        unknown(tasks.watch_tasks(person.request(watch)).await.map(|_| ()), id),
        unknown(tasks.delete_task(person.request(DeleteTaskRequest { task_id: task_id() })).await, id),
    ]
}

#[tokio::test]
async fn a_foreign_task_is_unknown_to_every_method_in_the_same_words() {
    let server = server();
    let (riley, sam) = (person(&server, "riley").await, person(&server, "sam").await);
    let root = riley.create("Riley's own").await;
    let nobodys = format!("task_{}", "0".repeat(32));
    assert_eq!(refusals(&sam, &root.task).await, refusals(&sam, &nobodys).await);
    assert_eq!(riley.timeline(&root.task).await.len(), 1);
}

#[tokio::test]
async fn lists_leases_and_watches_have_the_own_tasks_only() {
    let server = server();
    let (riley, sam) = (person(&server, "riley").await, person(&server, "sam").await);
    let root = riley.create("Riley's own").await;
    root.blocks("route_to_analyst", &json!({"request": "x"})).await;
    assert!(sam.leases("analyst").await.is_none());
    let listed = async |person: &Person| {
        let message = ListTasksRequest::default();
        let answer = person.tasks.clone().list_tasks(person.request(message)).await.unwrap().into_inner();
        answer.tasks.into_iter().map(|task| task.task_id).collect::<Vec<_>>()
    };
    assert_eq!((listed(&riley).await, listed(&sam).await), (vec![root.task.clone()], Vec::new()));
    let mut watch =
        sam.tasks.clone().watch_tasks(sam.request(WatchTasksRequest::default())).await.unwrap().into_inner();
    let first = watch.message().await.unwrap().unwrap();
    assert_eq!(first.r#type(), TaskWatchType::Synced);
    let own = sam.create("Sam's own").await;
    let change = watch.message().await.unwrap().unwrap();
    assert_eq!(change.task.unwrap().task_id, own.task);
}
