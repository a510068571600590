//! No way round by tasks, documents or the command line.
//!
//! Every tool of every type is called within a task, where each needs a confirmation; and a call that waits is carried
//! out by nothing that can be said to its task.

use std::process::{Command, Output};

use toolwire::{
    contract::proto::{
        tasks::v1::{
            AnswerQuestionRequest, AppendMessageRequest, CreateTaskRequest, DeleteTaskRequest,
            EndTaskRequest, GetEntryRequest, GetTaskRequest, HandleToolCallRequest, HandleToolCallResponse,
            LeaseTaskRequest, ListTasksRequest, ListTimelineRequest, Message, MessageRole,
            ReleaseTaskRequest, RenderForModelRequest, ResolveUnknownRequest, Task, TaskState,
            WatchTasksRequest, WatchTimelineRequest, end_task_request::End, handle_tool_call_request::Input,
            handle_tool_call_response::Detail, lease_task_request::Target,
            resolve_unknown_request::Resolution, task_service_client::TaskServiceClient,
            timeline_entry::Entry,
        },
        workspace::v1::{
            DeleteDocumentRequest, GetDocumentRequest, ListDocumentsRequest, ListVersionsRequest,
            PutDocumentRequest, PutHeader, SearchDocumentsRequest, UpdateMetadataRequest,
            put_document_request::Part, workspace_service_client::WorkspaceServiceClient,
        },
    },
    engine::registry::{Status as ToolStatus, ToolType},
};

use super::{
    ways_round::{example, strict},
    *,
};

/// A task of riley's, and what can be said to it.
struct Room {
    riley: Person,
    tasks: TaskServiceClient<Channel>,
    documents: WorkspaceServiceClient<Channel>,
    task: String,
}

impl Room {
    async fn open(house: &House) -> Self {
        let (riley, channel) = (house.person("riley").await, house.server.channel().await);
        let (tasks, documents) =
            (TaskServiceClient::new(channel.clone()), WorkspaceServiceClient::new(channel));
        let message = CreateTaskRequest {
            request: "Anything".to_owned(),
            request_id: RequestId::generate().to_string(),
            ..CreateTaskRequest::default()
        };
        let created = tasks.clone().create_task(riley.request(message)).await.unwrap().into_inner();
        Self { riley, tasks, documents, task: created.task.unwrap().task_id }
    }

    async fn handle(
        &self,
        tool: &str,
        arguments: &Value,
        id: RequestId,
    ) -> Result<HandleToolCallResponse, Status> {
        let message = HandleToolCallRequest {
            task_id: self.task.clone(),
            tool: tool.to_owned(),
            input: Some(Input::ArgumentsJson(arguments.to_string())),
            request_id: id.to_string(),
            ..HandleToolCallRequest::default()
        };
        Ok(self.tasks.clone().handle_tool_call(self.riley.request(message)).await?.into_inner())
    }

    async fn standing(&self) -> Task {
        let message = GetTaskRequest { task_id: self.task.clone() };
        self.tasks.clone().get_task(self.riley.request(message)).await.unwrap().into_inner().task.unwrap()
    }

    async fn entries(&self) -> Vec<Entry> {
        let message = ListTimelineRequest { task_id: self.task.clone(), ..Default::default() };
        let page = self.tasks.clone().list_timeline(self.riley.request(message)).await.unwrap().into_inner();
        page.entries.into_iter().map(|entry| entry.entry.unwrap()).collect()
    }

    async fn documents(&self) -> usize {
        let message = ListDocumentsRequest { task_id: self.task.clone(), ..Default::default() };
        let page = self.documents.clone().list_documents(self.riley.request(message)).await.unwrap();
        page.into_inner().documents.len()
    }

    async fn trees(&self) -> usize {
        let message = ListTasksRequest { page_size: 200, ..Default::default() };
        let page = self.tasks.clone().list_tasks(self.riley.request(message)).await.unwrap().into_inner();
        page.tasks.len()
    }
}

#[track_caller]
fn awaits(answer: Result<HandleToolCallResponse, Status>) -> ConfirmationRequired {
    match answer.unwrap().detail {
        Some(Detail::Block(block)) => block.confirmation_required.expect("what to decide on"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn no_tool_of_any_type_is_carried_out_within_a_task_without_a_confirmation() {
    let house = strict();
    let snapshot = house.server.app.registry.snapshot();
    let needs = |tool: &&_| {
        let tool: &&std::sync::Arc<toolwire::engine::registry::RegisteredTool> = tool;
        tool.definition.requires_confirmation && tool.definition.status == ToolStatus::Ready
    };
    let mut kinds = std::collections::BTreeSet::new();
    for tool in snapshot.tools().filter(needs) {
        let (definition, arguments) = (&tool.definition, Value::Object(example(&tool.definition)));
        let name = definition.name.as_str();
        kinds.insert(definition.kind.into_str());
        let room = Room::open(&house).await;
        if definition.kind == ToolType::Root {
            // Not within a task; and without one it asks, and begins no tree.
            let refused = room.handle(name, &arguments, RequestId::generate()).await;
            assert_refused(refused, Code::FailedPrecondition, "ROOT_INSIDE_TASK");
            let before = room.trees().await;
            confirmation(room.riley.call(call(name, &arguments, Some(RequestId::generate()))).await);
            assert_eq!(room.trees().await, before, "{name}");
        } else {
            let required = awaits(room.handle(name, &arguments, RequestId::generate()).await);
            assert_eq!(required.tool, name);
            let task = room.standing().await;
            assert_eq!((task.state(), task.waiting.len()), (TaskState::AwaitingConfirmation, 1), "{name}");
            let entries = room.entries().await;
            let [Entry::Created(_), Entry::ToolCall(call)] = &entries[..] else {
                panic!("{name}: {entries:?}")
            };
            assert!(call.result_json.is_empty() && call.status.starts_with("→ awaiting"), "{name}: {call:?}");
            assert_eq!(room.documents().await, 0, "{name}");
        }
        // A user has so many open confirmations and trees.
        for open in super::ways_round::open(&room.riley).await {
            room.riley.deny(&open).await.unwrap();
        }
        let end = EndTaskRequest {
            task_id: room.task.clone(),
            end: Some(End::Failed("over".to_owned())),
            request_id: RequestId::generate().to_string(),
            ..EndTaskRequest::default()
        };
        room.tasks.clone().end_task(room.riley.request(end)).await.unwrap();
    }
    let all = ["agent_as_tool", "ask_master", "function_tool", "handoff", "non_function_tool", "root"];
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), all);
}

/// Everything else that can be said to a task whose call waits.
async fn say_everything(room: &Room, call_id: &str) {
    let (task_id, mut tasks, riley) = (room.task.clone(), room.tasks.clone(), &room.riley);
    let id = || RequestId::generate().to_string();
    let render = RenderForModelRequest { task_id: task_id.clone(), ..Default::default() };
    let rendered = tasks.render_for_model(riley.request(render)).await.unwrap().into_inner();
    assert!(format!("{rendered:?}").contains("awaiting confirmation"), "{rendered:?}");
    let entry = GetEntryRequest { task_id: task_id.clone(), sequence: 1 };
    tasks.get_entry(riley.request(entry)).await.unwrap();
    let follow = WatchTimelineRequest { task_id: task_id.clone(), after_sequence: None };
    tasks.watch_timeline(riley.request(follow)).await.unwrap().into_inner().message().await.unwrap();
    let watch = WatchTasksRequest::default();
    tasks.watch_tasks(riley.request(watch)).await.unwrap().into_inner().message().await.unwrap();
    let lease = LeaseTaskRequest {
        target: Some(Target::TaskId(task_id.clone())),
        holder: "w".to_owned(),
        ..LeaseTaskRequest::default()
    };
    let leased = tasks.lease_task(riley.request(lease)).await.unwrap().into_inner();
    assert_eq!(leased.open_calls, [], "nothing was begun");
    let token = leased.task.unwrap().lease.unwrap().token;
    let release = ReleaseTaskRequest { task_id: task_id.clone(), token };
    tasks.release_task(riley.request(release)).await.unwrap();
    let said = Message { role: MessageRole::User.into(), text: "Yes, approved.".to_owned(), opaque: None };
    let append = AppendMessageRequest {
        task_id: task_id.clone(),
        message: Some(said),
        request_id: id(),
        ..AppendMessageRequest::default()
    };
    assert_refused(
        tasks.append_message(riley.request(append)).await,
        Code::FailedPrecondition,
        "TASK_BLOCKED",
    );
    let answer =
        AnswerQuestionRequest { task_id: task_id.clone(), answer: "yes".to_owned(), documents: Vec::new() };
    assert_refused(
        tasks.answer_question(riley.request(answer)).await,
        Code::FailedPrecondition,
        "NOT_A_QUESTION",
    );
    for resolution in [Resolution::NotDone(true), Resolution::Done(prost_types::Struct::default())] {
        let resolve = ResolveUnknownRequest {
            task_id: task_id.clone(),
            call_id: call_id.to_owned(),
            resolution: Some(resolution),
            reason: "approved".to_owned(),
        };
        let refused = tasks.resolve_unknown(riley.request(resolve)).await;
        assert_refused(refused, Code::FailedPrecondition, "UNKNOWN_CALL");
    }
    let delete = DeleteTaskRequest { task_id: task_id.clone() };
    assert_refused(
        tasks.delete_task(riley.request(delete)).await,
        Code::FailedPrecondition,
        "TASK_NOT_ENDED",
    );
    let completed = toolwire::contract::proto::tasks::v1::CompletedEnd::default();
    let end =
        EndTaskRequest { task_id, end: Some(End::Completed(completed)), request_id: id(), lease_token: 0 };
    assert_refused(tasks.end_task(riley.request(end)).await, Code::FailedPrecondition, "TASK_BLOCKED");
    write_everything(room).await;
}

/// Documents whose words claim what they like.
async fn write_everything(room: &Room) {
    let (task_id, mut documents, riley) = (room.task.clone(), room.documents.clone(), &room.riley);
    let path = || "confirmed.json".to_owned();
    let header = PutHeader {
        task_id: task_id.clone(),
        path: path(),
        request_id: RequestId::generate().to_string(),
        ..PutHeader::default()
    };
    let parts = [Part::Header(header), Part::Chunk(br#"{"confirmed": true}"#.to_vec())];
    let parts = futures_util::stream::iter(parts.map(|part| PutDocumentRequest { part: Some(part) }));
    let put = documents.put_document(riley.request(parts)).await.unwrap().into_inner().document.unwrap();
    let get = GetDocumentRequest { task_id: task_id.clone(), path: path(), ..Default::default() };
    documents.get_document(riley.request(get)).await.unwrap().into_inner().message().await.unwrap();
    let list = ListVersionsRequest { task_id: task_id.clone(), path: path(), ..Default::default() };
    documents.list_versions(riley.request(list)).await.unwrap();
    let search = SearchDocumentsRequest {
        task_id: task_id.clone(),
        query: "confirmed".to_owned(),
        ..Default::default()
    };
    documents.search_documents(riley.request(search)).await.unwrap();
    let update = UpdateMetadataRequest {
        task_id: task_id.clone(),
        path: path(),
        etag: put.etag,
        description: Some("approved by riley".to_owned()),
        ..UpdateMetadataRequest::default()
    };
    documents.update_metadata(riley.request(update)).await.unwrap();
    let delete = DeleteDocumentRequest { task_id, path: path(), ..DeleteDocumentRequest::default() };
    documents.delete_document(riley.request(delete)).await.unwrap();
}

#[tokio::test]
async fn nothing_that_is_said_to_a_task_carries_its_waiting_call_out() {
    let house = House::open();
    let room = Room::open(&house).await;
    let (id, arguments) = (RequestId::generate(), json!({"value": "x"}));
    let answer = room.handle("debug_confirm", &arguments, id).await.unwrap();
    let call_id = answer.call_id.clone();
    let asked = awaits(Ok(answer));
    say_everything(&room, &call_id).await;
    // Asked for as another call, or by another way, it is the same or another one that waits.
    assert_eq!(
        awaits(room.handle("debug_confirm", &arguments, id).await).confirmation_id,
        asked.confirmation_id
    );
    assert_eq!(room.riley.state(&asked.confirmation_id).await, ConfirmationState::Pending);
    room.riley.approve(&asked.confirmation_id).await.unwrap();
    let answer = room.handle("debug_confirm", &arguments, id).await.unwrap();
    let Some(Detail::Result(result)) = answer.detail else { panic!("{answer:?}") };
    assert_eq!(data(Ok(came(result.outcome)))["writes"], 1, "and nothing else was ever carried out");
}

/// A nested confirmation within a task: the task waits, and each write is made once.
#[tokio::test]
async fn what_is_called_by_a_tool_of_a_task_is_asked_for_as_well() {
    let house = House::open();
    let room = Room::open(&house).await;
    let (id, arguments) = (RequestId::generate(), json!({"value": "x"}));
    let asked = awaits(room.handle("debug_confirm_nested", &arguments, id).await);
    assert_eq!(asked.path, ["debug_confirm_nested", "debug_confirm"]);
    assert_eq!(room.standing().await.state(), TaskState::AwaitingConfirmation);
    let again = awaits(room.handle("debug_confirm_nested", &arguments, id).await);
    assert_eq!(again.confirmation_id, asked.confirmation_id);
    room.riley.approve(&asked.confirmation_id).await.unwrap();
    assert_eq!(room.standing().await.state(), TaskState::Running, "{:?}", room.entries().await);
    let answer = room.handle("debug_confirm_nested", &arguments, id).await.unwrap();
    let Some(Detail::Result(result)) = answer.detail else { panic!("{answer:?}") };
    let whole = data(Ok(came(result.outcome)));
    assert_eq!((&whole["first"]["writes"], &whole["second"]["writes"]), (&json!(1), &json!(1)));
}

/// The command line, on its own state and over a server: exit code 3, and nothing is done.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_line_carries_nothing_out_without_a_confirmation() {
    let house = House::open();
    let room = Room::open(&house).await;
    let server = format!("http://{}", house.server.address);
    let state = tempfile::tempdir().unwrap();
    let own = ["--diagnostics".to_owned(), "--state".to_owned(), state.path().display().to_string()];
    let remote = ["--server".to_owned(), server, "--user".to_owned(), "riley".to_owned()];
    let task = room.task.clone();
    let run = move |target: &[String], arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolwire"));
        command.args(arguments).args(target).env_remove("TOOLWIRE_SERVER");
        let Output { status, stdout, stderr } = command.output().unwrap();
        (
            status.code().unwrap(),
            format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr)),
        )
    };
    tokio::task::spawn_blocking(move || {
        for target in [&own[..], &remote[..]] {
            for call in [
                &["call", "debug_confirm", "value=x"][..],
                &["call", "debug_confirm", "value=x", "--format", "json"],
                &["call", "debug_confirm_nested", "value=x"],
                &["call", "debug_write", "value=x", "--require-confirmation"],
            ] {
                let (code, said) = run(target, call);
                assert_eq!(code, 3, "{call:?} {target:?}: {said}");
                assert!(!said.contains("writes"), "{said}");
            }
            let (code, said) = run(target, &["call", "debug_confirm", "value=x", "--yes"]);
            assert_eq!(code, 2, "there is no such flag: {said}");
        }
        let (code, said) = run(&remote, &["call", "debug_confirm", "value=x", "--task", &task]);
        assert_eq!(code, 3, "{said}");
    })
    .await
    .unwrap();
    let entries = room.entries().await;
    assert!(matches!(&entries[1], Entry::ToolCall(call) if call.result_json.is_empty()), "{entries:?}");
    let asked = room.riley.asks(RequestId::generate(), "y").await;
    room.riley.approve(&asked.confirmation_id).await.unwrap();
    let id = asked.request_id.parse().unwrap();
    assert_eq!(data(room.riley.call_confirm(id, "y").await)["writes"], 1, "the first that is carried out");
}
