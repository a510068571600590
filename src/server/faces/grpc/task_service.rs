//! `toolwire.tasks.v1.TaskService`: trees of tasks, their timelines, and the agents that work on them. How is in `task`
//! and `handle`.

use futures_util::stream::BoxStream;
use tonic::{Request, Response, Status};

use super::{face::Face, handle, service::Service, task};
use crate::faces::{
    incoming::{self, noted},
    transport::{ending, rules::Rule},
};
use toolwire_contract::proto::tasks::v1::{
    AnswerQuestionRequest, AnswerQuestionResponse, AppendMessageRequest, AppendMessageResponse,
    CancelTaskRequest, CancelTaskResponse, CreateTaskRequest, CreateTaskResponse, DeleteTaskRequest,
    DeleteTaskResponse, EndTaskRequest, EndTaskResponse, GetEntryRequest, GetEntryResponse, GetTaskRequest,
    GetTaskResponse, HandleToolCallRequest, HandleToolCallResponse, LeaseTaskRequest, LeaseTaskResponse,
    ListTasksRequest, ListTasksResponse, ListTimelineRequest, ListTimelineResponse, ReleaseTaskRequest,
    ReleaseTaskResponse, RenderForModelRequest, RenderForModelResponse, ResolveUnknownRequest,
    ResolveUnknownResponse, WatchTasksRequest, WatchTasksResponse, WatchTimelineRequest,
    WatchTimelineResponse,
    task_service_server::{TaskService, TaskServiceServer},
};
use toolwire_tool::context::User;

pub(super) fn service() -> Service {
    super::service!(TaskServiceServer, |face| face.clone())
        .except("WatchTasks", Rule::WATCH)
        .except("WatchTimeline", Rule::WATCH)
}

#[tonic::async_trait]
impl TaskService for Face {
    type WatchTasksStream = BoxStream<'static, Result<WatchTasksResponse, Status>>;
    type WatchTimelineStream = BoxStream<'static, Result<WatchTimelineResponse, Status>>;

    async fn create_task(
        &self,
        request: Request<CreateTaskRequest>,
    ) -> Result<Response<CreateTaskResponse>, Status> {
        let (user, (_, from, message)) = (user_of(&request), request.into_parts());
        let task = Some(noted(&from, task::create(&self.tools, &user, message)).await?);
        Ok(Response::new(CreateTaskResponse { task }))
    }

    async fn get_task(&self, request: Request<GetTaskRequest>) -> Result<Response<GetTaskResponse>, Status> {
        let user = user_of(&request);
        Ok(Response::new(task::with_open_calls(&self.tools, &user, &request.into_inner().task_id).await?))
    }

    async fn list_tasks(
        &self,
        request: Request<ListTasksRequest>,
    ) -> Result<Response<ListTasksResponse>, Status> {
        let user = user_of(&request);
        Ok(Response::new(task::list(&self.tools, &user, request.into_inner()).await?))
    }

    async fn watch_tasks(
        &self,
        request: Request<WatchTasksRequest>,
    ) -> Result<Response<Self::WatchTasksStream>, Status> {
        let user = user_of(&request);
        Ok(Response::new(task::watch(&self.tools, user, request.into_inner()).await?))
    }

    async fn lease_task(
        &self,
        request: Request<LeaseTaskRequest>,
    ) -> Result<Response<LeaseTaskResponse>, Status> {
        let (user, ends) = (user_of(&request), ending(request.extensions()));
        Ok(Response::new(task::lease(&self.tools, &user, request.into_inner(), &ends).await?))
    }

    async fn release_task(
        &self,
        request: Request<ReleaseTaskRequest>,
    ) -> Result<Response<ReleaseTaskResponse>, Status> {
        let user = user_of(&request);
        let ReleaseTaskRequest { task_id, token } = request.into_inner();
        self.tools.tasks().release(&user, &task_id, token).await?;
        Ok(Response::new(ReleaseTaskResponse {}))
    }

    async fn handle_tool_call(
        &self,
        request: Request<HandleToolCallRequest>,
    ) -> Result<Response<HandleToolCallResponse>, Status> {
        let (call, form) = handle::call(request)?;
        let handled = self.tools.tasks().handle(call).await?;
        Ok(Response::new(handle::handled(&self.tools, handled, form).await))
    }

    async fn append_message(
        &self,
        request: Request<AppendMessageRequest>,
    ) -> Result<Response<AppendMessageResponse>, Status> {
        let user = user_of(&request);
        let sequence = task::append(&self.tools, &user, request.into_inner()).await?;
        Ok(Response::new(AppendMessageResponse { sequence }))
    }

    async fn end_task(&self, request: Request<EndTaskRequest>) -> Result<Response<EndTaskResponse>, Status> {
        let (user, (_, from, message)) = (user_of(&request), request.into_parts());
        let task = Some(noted(&from, task::end(&self.tools, &user, message)).await?);
        Ok(Response::new(EndTaskResponse { task }))
    }

    async fn cancel_task(
        &self,
        request: Request<CancelTaskRequest>,
    ) -> Result<Response<CancelTaskResponse>, Status> {
        let (user, (_, from, message)) = (user_of(&request), request.into_parts());
        Ok(Response::new(noted(&from, task::cancel(&self.tools, &user, message)).await?))
    }

    async fn answer_question(
        &self,
        request: Request<AnswerQuestionRequest>,
    ) -> Result<Response<AnswerQuestionResponse>, Status> {
        let (user, (_, from, message)) = (user_of(&request), request.into_parts());
        let task = Some(noted(&from, task::answer(&self.tools, &user, message)).await?);
        Ok(Response::new(AnswerQuestionResponse { task }))
    }

    async fn resolve_unknown(
        &self,
        request: Request<ResolveUnknownRequest>,
    ) -> Result<Response<ResolveUnknownResponse>, Status> {
        let (user, (_, from, message)) = (user_of(&request), request.into_parts());
        let task = Some(noted(&from, task::resolve(&self.tools, &user, message)).await?);
        Ok(Response::new(ResolveUnknownResponse { task }))
    }

    async fn list_timeline(
        &self,
        request: Request<ListTimelineRequest>,
    ) -> Result<Response<ListTimelineResponse>, Status> {
        let user = user_of(&request);
        Ok(Response::new(task::timeline(&self.tools, &user, request.into_inner()).await?))
    }

    async fn get_entry(
        &self,
        request: Request<GetEntryRequest>,
    ) -> Result<Response<GetEntryResponse>, Status> {
        let user = user_of(&request);
        let entry = Some(task::entry(&self.tools, &user, request.into_inner()).await?);
        Ok(Response::new(GetEntryResponse { entry }))
    }

    async fn watch_timeline(
        &self,
        request: Request<WatchTimelineRequest>,
    ) -> Result<Response<Self::WatchTimelineStream>, Status> {
        let user = user_of(&request);
        Ok(Response::new(task::follow(&self.tools, user, request.into_inner()).await?))
    }

    async fn render_for_model(
        &self,
        request: Request<RenderForModelRequest>,
    ) -> Result<Response<RenderForModelResponse>, Status> {
        let user = user_of(&request);
        Ok(Response::new(task::render(&self.tools, &user, request.into_inner()).await?))
    }

    async fn delete_task(
        &self,
        request: Request<DeleteTaskRequest>,
    ) -> Result<Response<DeleteTaskResponse>, Status> {
        let (user, (_, from, message)) = (user_of(&request), request.into_parts());
        noted(&from, self.tools.tasks().delete(&user, &message.task_id)).await?;
        Ok(Response::new(DeleteTaskResponse {}))
    }
}

fn user_of<T>(request: &Request<T>) -> User {
    incoming::user(request.extensions())
}
