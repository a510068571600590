//! `toolwire.tasks.v1.TaskService`: trees of tasks, their timelines, and the agents that work on them.

mod handle;
mod model;
mod requests;
mod wire;

use futures_util::stream;
use tonic::{Request, Response};

use super::{Answered, Streamed, face::Face, service::Service, split};
use crate::{
    faces::incoming::record_doing,
    service::{
        changes::read_ahead,
        request,
        tasks::{Following, RenderWish, Step, Watch},
    },
};
use toolwire_contract::proto::tasks::v1::{
    self,
    task_service_server::{TaskService, TaskServiceServer},
    watch_timeline_response::Event,
};
use toolwire_state::tasks::{Scope, StepRef};
use toolwire_transport::{drain_signal, rules::Rule};

pub(super) fn service() -> Service {
    super::service!(TaskServiceServer, |face| face.clone())
        .except("WatchTasks", Rule::WATCH)
        .except("WatchTimeline", Rule::WATCH)
}

#[tonic::async_trait]
impl TaskService for Face {
    type WatchTasksStream = Streamed<v1::WatchTasksResponse>;
    type WatchTimelineStream = Streamed<v1::WatchTimelineResponse>;

    async fn create_task(&self, request: Request<v1::CreateTaskRequest>) -> Answered<v1::CreateTaskResponse> {
        let (user, from, message) = split(request);
        let (new, request_id) = requests::new_task(message)?;
        let task = record_doing(&from, self.tools.tasks().create(&user, new, request_id)).await?;
        Ok(Response::new(v1::CreateTaskResponse { task: Some(wire::task(task)) }))
    }

    async fn get_task(&self, request: Request<v1::GetTaskRequest>) -> Answered<v1::GetTaskResponse> {
        let (user, _, v1::GetTaskRequest { task_id }) = split(request);
        let open_calls = self.tools.tasks().open_calls(&user, &task_id).await?;
        let task = Some(wire::task(self.tools.tasks().get(&user, &task_id).await?));
        let open_calls = open_calls.into_iter().map(wire::open_call).collect();
        Ok(Response::new(v1::GetTaskResponse { task, open_calls }))
    }

    async fn list_tasks(&self, request: Request<v1::ListTasksRequest>) -> Answered<v1::ListTasksResponse> {
        let (user, _, v1::ListTasksRequest { filter, page_size, page_token }) = split(request);
        let filter = filter.unwrap_or_default();
        // A filter of kinds means those wherever they stand.
        let otherwise = if filter.kinds.is_empty() { Scope::Roots } else { Scope::All };
        let filter = requests::filter(filter, otherwise)?;
        let page = self.tools.tasks().list(&user, &filter, page_size, &page_token).await?;
        let tasks = page.tasks.into_iter().map(wire::task).collect();
        Ok(Response::new(v1::ListTasksResponse { tasks, next_page_token: page.next }))
    }

    /// A watch that fails ends with the reason.
    async fn watch_tasks(&self, request: Request<v1::WatchTasksRequest>) -> Answered<Self::WatchTasksStream> {
        let (user, _, message) = split(request);
        let filter = requests::filter(message.filter.unwrap_or_default(), Scope::All)?;
        let name = user.id.clone();
        let watch = self.tools.tasks().watch(user, filter, message.after_position).await?;
        let next = async |watch: Option<Watch>| {
            let mut watch = watch?;
            match watch.next().await {
                Ok(news) => Some((Ok(wire::watch_event(news)), Some(watch))),
                Err(refusal) => Some((Err(refusal.into()), None)),
            }
        };
        Ok(Response::new(read_ahead(&name, stream::unfold(Some(watch), next))))
    }

    async fn lease_task(&self, request: Request<v1::LeaseTaskRequest>) -> Answered<v1::LeaseTaskResponse> {
        let (user, from, message) = split(request);
        let leased = self.tools.tasks().lease(&user, requests::lease(message)?, &drain_signal(&from)).await?;
        let response = leased.map(|leased| v1::LeaseTaskResponse {
            task: Some(wire::task(leased.task)),
            open_calls: leased.open_calls.into_iter().map(wire::open_call).collect(),
        });
        Ok(Response::new(response.unwrap_or_default()))
    }

    async fn release_task(
        &self,
        request: Request<v1::ReleaseTaskRequest>,
    ) -> Answered<v1::ReleaseTaskResponse> {
        let (user, _, v1::ReleaseTaskRequest { task_id, token }) = split(request);
        self.tools.tasks().release(&user, &task_id, token).await?;
        Ok(Response::new(v1::ReleaseTaskResponse {}))
    }

    async fn handle_tool_call(
        &self,
        request: Request<v1::HandleToolCallRequest>,
    ) -> Answered<v1::HandleToolCallResponse> {
        let (call, form) = handle::call(request)?;
        let handled = self.tools.tasks().handle(call).await?;
        Ok(Response::new(handle::render(&self.tools, handled, form).await))
    }

    async fn append_message(
        &self,
        request: Request<v1::AppendMessageRequest>,
    ) -> Answered<v1::AppendMessageResponse> {
        let (user, _, message) = split(request);
        let v1::AppendMessageRequest { task_id, message, step, lease_token, request_id } = message;
        let new = requests::new_message(message, StepRef { step, lease_token, ..StepRef::default() })?;
        let request_id = request::request_id("request_id", &request_id)?;
        let sequence = self.tools.tasks().append(&user, &task_id, new, request_id).await?;
        Ok(Response::new(v1::AppendMessageResponse { sequence }))
    }

    async fn end_task(&self, request: Request<v1::EndTaskRequest>) -> Answered<v1::EndTaskResponse> {
        let (user, from, message) = split(request);
        let v1::EndTaskRequest { task_id, end, lease_token, request_id } = message;
        let end = requests::new_end(end)?;
        let request_id = request::request_id("request_id", &request_id)?;
        let ended = self.tools.tasks().end(&user, &task_id, end, lease_token, request_id);
        let task = Some(wire::task(record_doing(&from, ended).await?));
        Ok(Response::new(v1::EndTaskResponse { task }))
    }

    async fn cancel_task(&self, request: Request<v1::CancelTaskRequest>) -> Answered<v1::CancelTaskResponse> {
        let (user, from, v1::CancelTaskRequest { task_id, reason }) = split(request);
        let cancelled = record_doing(&from, self.tools.tasks().cancel(&user, &task_id, &reason));
        let (task, descendants) = cancelled.await?;
        let descendants = u32::try_from(descendants).unwrap_or(u32::MAX);
        Ok(Response::new(v1::CancelTaskResponse { task: Some(wire::task(task)), descendants }))
    }

    async fn answer_question(
        &self,
        request: Request<v1::AnswerQuestionRequest>,
    ) -> Answered<v1::AnswerQuestionResponse> {
        let (user, from, message) = split(request);
        let v1::AnswerQuestionRequest { task_id, answer, documents } = message;
        let answered = record_doing(&from, self.tools.tasks().answer(&user, &task_id, &answer, documents));
        let task = Some(wire::task(answered.await?));
        Ok(Response::new(v1::AnswerQuestionResponse { task }))
    }

    async fn resolve_unknown(
        &self,
        request: Request<v1::ResolveUnknownRequest>,
    ) -> Answered<v1::ResolveUnknownResponse> {
        let (user, from, message) = split(request);
        let v1::ResolveUnknownRequest { task_id, call_id, reason, resolution } = message;
        let done = requests::resolution(resolution)?;
        let call_id = request::call_id("call_id", &call_id)?;
        let resolved =
            record_doing(&from, self.tools.tasks().resolve(&user, &task_id, call_id, done, &reason));
        let task = Some(wire::task(resolved.await?));
        Ok(Response::new(v1::ResolveUnknownResponse { task }))
    }

    async fn list_timeline(
        &self,
        request: Request<v1::ListTimelineRequest>,
    ) -> Answered<v1::ListTimelineResponse> {
        let (user, _, message) = split(request);
        let v1::ListTimelineRequest { task_id, sequence, backwards, page_size } = message;
        let page = self.tools.tasks().timeline(&user, &task_id, sequence, backwards, page_size).await?;
        let entries = page.entries.into_iter().map(wire::entry).collect();
        Ok(Response::new(v1::ListTimelineResponse { entries, next_sequence: page.next }))
    }

    async fn get_entry(&self, request: Request<v1::GetEntryRequest>) -> Answered<v1::GetEntryResponse> {
        let (user, _, v1::GetEntryRequest { task_id, sequence }) = split(request);
        let entry = self.tools.tasks().entry(&user, &task_id, sequence).await?;
        Ok(Response::new(v1::GetEntryResponse { entry: Some(wire::entry(entry)) }))
    }

    /// A timeline that cannot be followed on ends with the reason.
    async fn watch_timeline(
        &self,
        request: Request<v1::WatchTimelineRequest>,
    ) -> Answered<Self::WatchTimelineStream> {
        let (user, _, v1::WatchTimelineRequest { task_id, after_sequence }) = split(request);
        let name = user.id.clone();
        let following = self.tools.tasks().follow(user, &task_id, after_sequence).await?;
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
        Ok(Response::new(read_ahead(&name, stream::unfold(Some(following), next))))
    }

    async fn render_for_model(
        &self,
        request: Request<v1::RenderForModelRequest>,
    ) -> Answered<v1::RenderForModelResponse> {
        let (user, _, message) = split(request);
        let v1::RenderForModelRequest { task_id, token_budget, media_types, provider } = message;
        let wish = RenderWish { token_budget, media_types, provider: provider.clone() };
        let rendered = self.tools.tasks().render(&user, &task_id, wish).await?;
        Ok(Response::new(model::render(rendered, &provider)))
    }

    async fn delete_task(&self, request: Request<v1::DeleteTaskRequest>) -> Answered<v1::DeleteTaskResponse> {
        let (user, from, v1::DeleteTaskRequest { task_id }) = split(request);
        record_doing(&from, self.tools.tasks().delete(&user, &task_id)).await?;
        Ok(Response::new(v1::DeleteTaskResponse {}))
    }
}
