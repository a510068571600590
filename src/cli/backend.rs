//! The tools that a command works with: those of a server, or those of this very program. Both answer in the same
//! generated types, so that no command knows which it speaks to.

mod chat;
mod documents;
mod invocation;
mod jobs;
mod local;
mod remote;
mod tasks;

use tonic::Status;

use super::reasons::Reasons;
use toolwire_contract::proto::v1;
use toolwire_server::console::Failure;

pub(super) use documents::Documents;
pub(super) use invocation::{Confirmations, Events, Invocation};
pub(super) use jobs::Watched;
pub(super) use local::Local;
pub(super) use remote::Remote;

/// The tools that a command works with.
#[derive(Debug)]
pub(super) enum Backend {
    /// Those of a server.
    Remote(Remote),
    /// Those of this program: the same pipeline, in process.
    Local(Local),
}

impl Backend {
    /// The definitions of the tools that have all the given tags, in order of name.
    pub(super) async fn list(
        &self,
        tags: &[String],
        view: v1::ToolView,
    ) -> Result<Vec<v1::ToolDefinition>, Status> {
        match self {
            Self::Remote(remote) => remote.list(tags, view).await,
            Self::Local(local) => Ok(local.list(tags, view)),
        }
    }

    /// The definition of a tool, its schemas as JSON text.
    pub(super) async fn describe(&self, name: &str) -> Result<v1::ToolDefinition, Status> {
        match self {
            Self::Remote(remote) => remote.describe(name).await,
            Self::Local(local) => local.describe(name),
        }
    }

    /// Guidance for a planner on the tools that have all the given tags.
    pub(super) async fn guidance(&self, tags: &[String]) -> Result<String, Status> {
        match self {
            Self::Remote(remote) => remote.guidance(tags).await,
            Self::Local(local) => Ok(local.guidance(tags)),
        }
    }

    /// Tools as a provider of models declares them.
    pub(super) async fn export(
        &self,
        request: v1::ExportToolsRequest,
    ) -> Result<v1::ExportToolsResponse, Status> {
        match self {
            Self::Remote(remote) => remote.export(request).await,
            Self::Local(local) => local.export(request).await,
        }
    }

    /// What each source would do with a request, in order of name.
    pub(super) async fn limits(&self) -> Result<Vec<v1::SourceLimit>, Status> {
        match self {
            Self::Remote(remote) => remote.limits().await,
            Self::Local(local) => local.limits().await,
        }
    }

    /// A page of confirmations.
    pub(super) async fn confirmations(
        &self,
        request: v1::ListConfirmationsRequest,
    ) -> Result<v1::ListConfirmationsResponse, Status> {
        match self {
            Self::Remote(remote) => remote.confirmations(request).await,
            Self::Local(local) => local.confirmations(request).await,
        }
    }

    /// One confirmation.
    pub(super) async fn confirmation(&self, id: &str) -> Result<v1::Confirmation, Status> {
        match self {
            Self::Remote(remote) => remote.confirmation(id).await,
            Self::Local(local) => local.confirmation(id).await,
        }
    }

    /// Decides on one.
    pub(super) async fn decide(
        &self,
        request: v1::DecideConfirmationRequest,
    ) -> Result<v1::Confirmation, Status> {
        match self {
            Self::Remote(remote) => remote.decide(request).await,
            Self::Local(local) => local.decide(request).await,
        }
    }

    /// What is open, and what becomes of it.
    pub(super) async fn watch_confirmations(&self) -> Result<Confirmations, Status> {
        match self {
            Self::Remote(remote) => remote.watch_confirmations().await,
            Self::Local(local) => local.watch_confirmations().await,
        }
    }

    /// One call.
    pub(super) async fn call(&self, request: v1::GetCallRequest) -> Result<v1::GetCallResponse, Status> {
        match self {
            Self::Remote(remote) => remote.call(request).await,
            Self::Local(local) => local.call(request).await,
        }
    }

    /// A page of calls.
    pub(super) async fn calls(&self, request: v1::ListCallsRequest) -> Result<v1::ListCallsResponse, Status> {
        match self {
            Self::Remote(remote) => remote.calls(request).await,
            Self::Local(local) => local.calls(request).await,
        }
    }

    /// A page of the audit.
    pub(super) async fn audit(
        &self,
        request: v1::ListRecordsRequest,
    ) -> Result<v1::ListRecordsResponse, Status> {
        match self {
            Self::Remote(remote) => remote.audit(request).await,
            Self::Local(local) => local.audit(request).await,
        }
    }

    /// Makes sure that a call with a `request_id` can be recorded.
    pub(super) async fn open_state(&self) -> Result<(), Failure> {
        match self {
            Self::Remote(_) => Ok(()),
            Self::Local(local) => local.open_state().await,
        }
    }

    /// Listens for why sources fail, where no server has a log that says so.
    pub(super) fn reasons(&self) -> Reasons {
        match self {
            Self::Remote(_) => Reasons::default(),
            Self::Local(_) => Reasons::listen(),
        }
    }

    /// Waits until everything that was begun has ended.
    pub(super) async fn settle(&self) {
        if let Self::Local(local) = self {
            local.settle().await;
        }
    }

    /// Makes a call.
    pub(super) async fn invoke(&self, invocation: Invocation) -> Result<Events, Status> {
        match self {
            Self::Remote(remote) => remote.invoke(invocation).await,
            Self::Local(local) => local.invoke(invocation).await,
        }
    }
}
