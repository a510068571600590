//! Tasks by requests of the wire: requests read, answers rendered. The command line, over the service in its own
//! process, speaks the same.

use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use tokio_util::sync::CancellationToken;
use tonic::Status;

use super::{task_model, task_wire as wire};
use crate::service::{
    Tools,
    request::{self, refuse},
    tasks::{Following, LeaseWish, NewTask, News, RenderWish, Step, Wanted, Watch},
};
use toolwire_contract::{
    Refusal,
    proto::tasks::v1::{
        self, TaskWatchType, end_task_request::End, initial_document, lease_task_request::Target,
        resolve_unknown_request::Resolution, watch_timeline_response,
    },
};
use toolwire_engine::tasks::{Content, Initial};
use toolwire_store::tasks::{
    Filter, Kind, NewEnd, NewMessage, Scope, Turn,
    entry::{Opaque, Speaker},
    life::State,
};
use toolwire_tool::context::User;

type Streamed<T> = BoxStream<'static, Result<T, Status>>;

pub async fn create(tools: &Tools, user: &User, message: v1::CreateTaskRequest) -> Result<v1::Task, Refusal> {
    let initial = |it: v1::InitialDocument| {
        let content = match it.content {
            Some(initial_document::Content::Text(text)) => Content::Text(text),
            Some(initial_document::Content::CopyOf(path)) => Content::CopyOf(path),
            None => return Err(refuse("documents.content", "required", "must be text or copy_of")),
        };
        Ok(Initial { path: it.path, content, mime_type: it.mime_type })
    };
    let new = NewTask {
        request: message.request,
        role: message.role,
        documents: message.documents.into_iter().map(initial).collect::<Result<_, _>>()?,
        timeout: request::wait("timeout", message.timeout)?,
        labels: message.labels.into_iter().collect(),
    };
    let request_id = request::request_id("request_id", &message.request_id)?;
    tools.tasks().create(user, new, request_id).await.map(wire::task)
}

pub async fn get(tools: &Tools, user: &User, id: &str) -> Result<v1::Task, Refusal> {
    tools.tasks().get(user, id).await.map(wire::task)
}

/// One task, and its calls that have no end yet.
pub async fn with_open_calls(tools: &Tools, user: &User, id: &str) -> Result<v1::GetTaskResponse, Refusal> {
    let open_calls = tools.tasks().open_calls(user, id).await?;
    let task = Some(get(tools, user, id).await?);
    Ok(v1::GetTaskResponse { task, open_calls: open_calls.into_iter().map(wire::open_call).collect() })
}

/// A page of tasks.
pub async fn list(
    tools: &Tools,
    user: &User,
    message: v1::ListTasksRequest,
) -> Result<v1::ListTasksResponse, Refusal> {
    let v1::ListTasksRequest { filter, page_size, page_token } = message;
    let filter = filter.unwrap_or_default();
    // Who asks for a kind means it wherever it stands.
    let otherwise = if filter.kinds.is_empty() { Scope::Roots } else { Scope::All };
    let filter = read_filter(filter, otherwise)?;
    let page = tools.tasks().list(user, &filter, page_size, &page_token).await?;
    let tasks = page.tasks.into_iter().map(wire::task).collect();
    Ok(v1::ListTasksResponse { tasks, next_page_token: page.next })
}

/// The stream of a watch. One that cannot go on ends with the reason.
pub async fn watch(
    tools: &Tools,
    user: User,
    message: v1::WatchTasksRequest,
) -> Result<Streamed<v1::WatchTasksResponse>, Refusal> {
    let filter = read_filter(message.filter.unwrap_or_default(), Scope::All)?;
    let watch = tools.tasks().watch(user, filter, message.after_position).await?;
    let next = async |watch: Option<Watch>| {
        let mut watch = watch?;
        match watch.next().await {
            Ok(news) => Some((Ok(told(news)), Some(watch))),
            Err(refusal) => Some((Err(refusal.into()), None)),
        }
    };
    Ok(stream::unfold(Some(watch), next).boxed())
}

/// Takes or renews a lease.
pub async fn lease(
    tools: &Tools,
    user: &User,
    message: v1::LeaseTaskRequest,
    ends: &CancellationToken,
) -> Result<v1::LeaseTaskResponse, Refusal> {
    let wanted = match message.target {
        Some(Target::TaskId(id)) => Wanted::Task(id),
        Some(Target::AnyOf(v1::Roles { roles })) => Wanted::AnyOf(roles),
        None => return Err(refuse("target", "required", "must be task_id or any_of")),
    };
    let wish = LeaseWish {
        wanted,
        holder: message.holder,
        duration: request::wait("duration", message.duration)?,
        token: message.token,
        wait: request::wait("wait", message.wait)?.unwrap_or_default(),
    };
    let leased = tools.tasks().lease(user, wish, ends).await?;
    Ok(leased.map_or_else(v1::LeaseTaskResponse::default, |leased| v1::LeaseTaskResponse {
        task: Some(wire::task(leased.task)),
        open_calls: leased.open_calls.into_iter().map(wire::open_call).collect(),
    }))
}

/// Adds a message and returns its entry.
pub async fn append(tools: &Tools, user: &User, message: v1::AppendMessageRequest) -> Result<u64, Refusal> {
    let said = message.message.unwrap_or_default();
    let speaker = match said.role() {
        v1::MessageRole::User => Speaker::User,
        v1::MessageRole::Assistant => Speaker::Assistant,
        v1::MessageRole::Unspecified => {
            return Err(refuse("message.role", "required", "must be USER or ASSISTANT"));
        }
    };
    let turn = Turn { step: message.step, lease_token: message.lease_token, ..Turn::default() };
    let opaque = said.opaque.map(|it| Opaque { provider: it.provider, data: it.data });
    let new = NewMessage { speaker, text: said.text, opaque, turn };
    let request_id = request::request_id("request_id", &message.request_id)?;
    tools.tasks().append(user, &message.task_id, new, request_id).await
}

/// Ends a task whose agent has stopped.
pub async fn end(tools: &Tools, user: &User, message: v1::EndTaskRequest) -> Result<v1::Task, Refusal> {
    let end = match message.end {
        Some(End::Completed(it)) => {
            let result = request::object("completed.result", it.result.unwrap_or_default())?;
            NewEnd::Completed(result, it.documents)
        }
        Some(End::Failed(why)) => NewEnd::Failed(why),
        None => return Err(refuse("end", "required", "must be completed or failed")),
    };
    let request_id = request::request_id("request_id", &message.request_id)?;
    let ended = tools.tasks().end(user, &message.task_id, end, message.lease_token, request_id);
    ended.await.map(wire::task)
}

/// Cancels a task with everything that works for it.
pub async fn cancel(
    tools: &Tools,
    user: &User,
    message: v1::CancelTaskRequest,
) -> Result<v1::CancelTaskResponse, Refusal> {
    let (task, descendants) = tools.tasks().cancel(user, &message.task_id, &message.reason).await?;
    let descendants = u32::try_from(descendants).unwrap_or(u32::MAX);
    Ok(v1::CancelTaskResponse { task: Some(wire::task(task)), descendants })
}

pub async fn answer(
    tools: &Tools,
    user: &User,
    message: v1::AnswerQuestionRequest,
) -> Result<v1::Task, Refusal> {
    let v1::AnswerQuestionRequest { task_id, answer, documents } = message;
    tools.tasks().answer(user, &task_id, &answer, documents).await.map(wire::task)
}

/// Says what became of a write.
pub async fn resolve(
    tools: &Tools,
    user: &User,
    message: v1::ResolveUnknownRequest,
) -> Result<v1::Task, Refusal> {
    let done = match message.resolution {
        Some(Resolution::Done(result)) => Some(request::object("done", result)?),
        Some(Resolution::NotDone(true)) => None,
        Some(Resolution::NotDone(false)) | None => {
            return Err(refuse("resolution", "required", "must be done, or not_done: true"));
        }
    };
    let call_id = request::call_id("call_id", &message.call_id)?;
    let resolved = tools.tasks().resolve(user, &message.task_id, call_id, done, &message.reason);
    resolved.await.map(wire::task)
}

pub async fn timeline(
    tools: &Tools,
    user: &User,
    message: v1::ListTimelineRequest,
) -> Result<v1::ListTimelineResponse, Refusal> {
    let v1::ListTimelineRequest { task_id, sequence, backwards, page_size } = message;
    let page = tools.tasks().timeline(user, &task_id, sequence, backwards, page_size).await?;
    let entries = page.entries.into_iter().map(wire::entry).collect();
    Ok(v1::ListTimelineResponse { entries, next_sequence: page.next })
}

pub async fn entry(
    tools: &Tools,
    user: &User,
    message: v1::GetEntryRequest,
) -> Result<v1::TimelineEntry, Refusal> {
    tools.tasks().entry(user, &message.task_id, message.sequence).await.map(wire::entry)
}

/// Messages for a model.
pub async fn render(
    tools: &Tools,
    user: &User,
    message: v1::RenderForModelRequest,
) -> Result<v1::RenderForModelResponse, Refusal> {
    let v1::RenderForModelRequest { task_id, token_budget, media_types, provider } = message;
    let wish = RenderWish { token_budget, media_types, provider: provider.clone() };
    let rendered = tools.tasks().render(user, &task_id, wish).await?;
    Ok(task_model::rendered(rendered, &provider))
}

/// The stream of a timeline that is followed. One that cannot go on ends with the reason.
pub async fn follow(
    tools: &Tools,
    user: User,
    message: v1::WatchTimelineRequest,
) -> Result<Streamed<v1::WatchTimelineResponse>, Refusal> {
    use watch_timeline_response::Event;
    let following = tools.tasks().follow(user, &message.task_id, message.after_sequence).await?;
    let next = async |following: Option<Following>| {
        let mut following = following?;
        let event = match following.next().await {
            Ok(None) => return None,
            Err(refusal) => return Some((Err(refusal.into()), None)),
            Ok(Some(Step::Snapshot(task))) => Event::Snapshot(wire::task(*task)),
            Ok(Some(Step::Entry(entry))) => Event::Entry(wire::entry(*entry)),
            Ok(Some(Step::CaughtUp)) => Event::CaughtUp(true),
        };
        Some((Ok(v1::WatchTimelineResponse { event: Some(event) }), Some(following)))
    };
    Ok(stream::unfold(Some(following), next).boxed())
}

fn read_filter(wire: v1::TaskFilter, otherwise: Scope) -> Result<Filter, Refusal> {
    let scope = match wire.root_id.as_str() {
        "" => otherwise,
        id => Scope::Tree(request::kept_task_id("filter.root_id", id)?),
    };
    let states = wire.states().map(state_word).collect::<Option<_>>();
    let kinds = wire.kinds().map(kind_of).collect::<Option<_>>();
    let unknown = |field| refuse(field, "enum", "must be values of their enum, and not its first");
    Ok(Filter {
        scope,
        states: states.ok_or_else(|| unknown("filter.states"))?,
        kinds: kinds.ok_or_else(|| unknown("filter.kinds"))?,
        roles: wire.roles,
        labels: wire.labels.into_iter().collect(),
    })
}

/// The word of a state, whatever a blocked one waits for.
fn state_word(state: v1::TaskState) -> Option<&'static str> {
    State::ALL.into_iter().find(|it| wire::state(*it) == state).map(State::word)
}

fn kind_of(kind: v1::TaskKind) -> Option<Kind> {
    [Kind::Root, Kind::Agent, Kind::Question].into_iter().find(|it| wire::kind(*it) == kind)
}

fn told(news: News) -> v1::WatchTasksResponse {
    let silent =
        |kind: TaskWatchType, position| v1::WatchTasksResponse { r#type: kind.into(), task: None, position };
    match news {
        News::Changed(task) => {
            let position = task.position;
            let task = Some(wire::task(*task));
            v1::WatchTasksResponse { r#type: TaskWatchType::Changed.into(), task, position }
        }
        News::Synced(position) => silent(TaskWatchType::Synced, position),
        News::Heartbeat(position) => silent(TaskWatchType::Heartbeat, position),
    }
}
