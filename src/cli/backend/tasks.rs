//! Tasks of either backend: those of a server, or those of this program's own state.

use futures_util::{StreamExt, stream::BoxStream};
use tonic::{Status, transport::Channel};

use super::{Backend, Local, Remote};
use toolwire_contract::proto::tasks::v1::{self, task_service_client::TaskServiceClient};
use toolwire_server::faces::grpc::task;

/// What a watch or a follower is told.
type Streamed<T> = BoxStream<'static, Result<T, Status>>;

impl Backend {
    /// Creates a root.
    pub(crate) async fn create_task(&self, message: v1::CreateTaskRequest) -> Result<v1::Task, Status> {
        match self {
            Self::Remote(it) => {
                it.answered(it.tasks().create_task(it.message(message))).await?.task.ok_or_else(without_task)
            }
            Self::Local(Local { app, user, .. }) => Ok(task::create(&app.tools, user, message).await?),
        }
    }

    /// One task.
    pub(crate) async fn task(&self, task_id: String) -> Result<v1::Task, Status> {
        match self {
            Self::Remote(it) => {
                let request = it.message(v1::GetTaskRequest { task_id });
                it.answered(it.tasks().get_task(request)).await?.task.ok_or_else(without_task)
            }
            Self::Local(Local { app, user, .. }) => Ok(task::get(&app.tools, user, &task_id).await?),
        }
    }

    /// A page of tasks.
    pub(crate) async fn tasks(&self, message: v1::ListTasksRequest) -> Result<v1::ListTasksResponse, Status> {
        match self {
            Self::Remote(it) => it.answered(it.tasks().list_tasks(it.message(message))).await,
            Self::Local(Local { app, user, .. }) => Ok(task::list(&app.tools, user, message).await?),
        }
    }

    /// Tasks and their changes.
    pub(crate) async fn watch_tasks(
        &self,
        message: v1::WatchTasksRequest,
    ) -> Result<Streamed<v1::WatchTasksResponse>, Status> {
        match self {
            Self::Remote(it) => Ok(it.answered(it.tasks().watch_tasks(it.message(message))).await?.boxed()),
            Self::Local(Local { app, user, .. }) => Ok(task::watch(&app.tools, user.clone(), message).await?),
        }
    }

    /// Answers a question.
    pub(crate) async fn answer_question(
        &self,
        message: v1::AnswerQuestionRequest,
    ) -> Result<v1::Task, Status> {
        match self {
            Self::Remote(it) => {
                let answer = it.answered(it.tasks().answer_question(it.message(message))).await?;
                answer.task.ok_or_else(without_task)
            }
            Self::Local(Local { app, user, .. }) => Ok(task::answer(&app.tools, user, message).await?),
        }
    }

    /// Cancels a task with everything that works for it.
    pub(crate) async fn cancel_task(
        &self,
        message: v1::CancelTaskRequest,
    ) -> Result<v1::CancelTaskResponse, Status> {
        match self {
            Self::Remote(it) => it.answered(it.tasks().cancel_task(it.message(message))).await,
            Self::Local(Local { app, user, .. }) => Ok(task::cancel(&app.tools, user, message).await?),
        }
    }

    /// Deletes a tree that has ended.
    pub(crate) async fn delete_task(&self, task_id: String) -> Result<(), Status> {
        match self {
            Self::Remote(it) => {
                let request = it.message(v1::DeleteTaskRequest { task_id });
                it.answered(it.tasks().delete_task(request)).await.map(|_| ())
            }
            Self::Local(Local { app, user, .. }) => Ok(app.tools.tasks().delete(user, &task_id).await?),
        }
    }

    /// Says what became of a write.
    pub(crate) async fn resolve_unknown(
        &self,
        message: v1::ResolveUnknownRequest,
    ) -> Result<v1::Task, Status> {
        match self {
            Self::Remote(it) => {
                let answer = it.answered(it.tasks().resolve_unknown(it.message(message))).await?;
                answer.task.ok_or_else(without_task)
            }
            Self::Local(Local { app, user, .. }) => Ok(task::resolve(&app.tools, user, message).await?),
        }
    }

    /// A page of a timeline.
    pub(crate) async fn timeline(
        &self,
        message: v1::ListTimelineRequest,
    ) -> Result<v1::ListTimelineResponse, Status> {
        match self {
            Self::Remote(it) => it.answered(it.tasks().list_timeline(it.message(message))).await,
            Self::Local(Local { app, user, .. }) => Ok(task::timeline(&app.tools, user, message).await?),
        }
    }

    /// One entry, whole.
    pub(crate) async fn entry(&self, message: v1::GetEntryRequest) -> Result<v1::TimelineEntry, Status> {
        match self {
            Self::Remote(it) => {
                it.answered(it.tasks().get_entry(it.message(message))).await?.entry.ok_or_else(without_task)
            }
            Self::Local(Local { app, user, .. }) => Ok(task::entry(&app.tools, user, message).await?),
        }
    }

    /// Messages for a model.
    pub(crate) async fn render(
        &self,
        message: v1::RenderForModelRequest,
    ) -> Result<v1::RenderForModelResponse, Status> {
        match self {
            Self::Remote(it) => it.answered(it.tasks().render_for_model(it.message(message))).await,
            Self::Local(Local { app, user, .. }) => Ok(task::render(&app.tools, user, message).await?),
        }
    }

    /// A timeline and its growth.
    pub(crate) async fn follow(
        &self,
        message: v1::WatchTimelineRequest,
    ) -> Result<Streamed<v1::WatchTimelineResponse>, Status> {
        match self {
            Self::Remote(it) => {
                Ok(it.answered(it.tasks().watch_timeline(it.message(message))).await?.boxed())
            }
            Self::Local(Local { app, user, .. }) => {
                Ok(task::follow(&app.tools, user.clone(), message).await?)
            }
        }
    }
}

impl Remote {
    fn tasks(&self) -> TaskServiceClient<Channel> {
        TaskServiceClient::new(self.channel())
    }
}

fn without_task() -> Status {
    Status::internal("the server answered without what was asked for")
}
