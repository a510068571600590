//! The operations of tool types on tasks, each in one transaction of the store.

use std::{collections::BTreeMap, sync::Arc};

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

use super::begin::{self, Content, InitialDocument};
use crate::pipeline::{Orchestrate, OrchestrateFuture, task_refusal};
use toolwire_base::digest::Digest;
use toolwire_contract::Refusal;
use toolwire_state::{
    Store,
    tasks::{
        Action, DEFAULT_TIMEOUT, Ending, Mutation, NewChild, NewQuestion, NewRoot, RootCall, Task, TaskCall,
    },
    workspace::Workspace,
};
use toolwire_tool::context::{TaskId, User};

/// Carries out calls of tools without code.
#[derive(Clone, Debug)]
pub struct Orchestrator {
    store: Arc<Store>,
    workspace: Workspace,
}

impl Orchestrator {
    pub fn new(store: Arc<Store>, workspace: Workspace) -> Self {
        Self { store, workspace }
    }
}

impl Orchestrate for Orchestrator {
    fn log<'a>(&'a self, call: &'a TaskCall) -> OrchestrateFuture<'a, Action> {
        Box::pin(self.store.log_task_call(call))
    }

    fn hand_off<'a>(
        &'a self,
        call: &'a TaskCall,
        result: &'a Map<String, Value>,
        documents: &'a [String],
    ) -> OrchestrateFuture<'a, Ending<Action>> {
        Box::pin(self.store.hand_off_task(call, result, documents))
    }

    fn delegate<'a>(
        &'a self,
        call: &'a TaskCall,
        role: &'a str,
        request: &'a str,
        documents: &'a [String],
    ) -> OrchestrateFuture<'a, Action> {
        let child = NewChild {
            request: request.to_owned(),
            role: role.to_owned(),
            documents: documents.to_vec(),
            timeout: DEFAULT_TIMEOUT,
        };
        Box::pin(async move { self.store.delegate_task(call, &child).await })
    }

    fn ask<'a>(
        &'a self,
        call: &'a TaskCall,
        question: &'a str,
        documents: &'a [String],
    ) -> OrchestrateFuture<'a, Action> {
        let question = NewQuestion {
            question: question.to_owned(),
            documents: documents.to_vec(),
            timeout: DEFAULT_TIMEOUT,
        };
        Box::pin(async move { self.store.ask_question(call, &question).await })
    }

    fn root<'a>(
        &'a self,
        call: &'a RootCall,
        role: &'a str,
        request: &'a str,
        documents: &'a [String],
    ) -> BoxFuture<'a, Result<TaskId, Refusal>> {
        let copy = |of: &String| InitialDocument {
            path: String::new(),
            content: Content::CopyOf(of.clone()),
            mime_type: String::new(),
        };
        let documents: Vec<_> = documents.iter().map(copy).collect();
        let key = &call.key;
        let identity =
            [key.user.to_string(), key.tool.to_string(), key.request_id.to_string(), call.digest.to_string()];
        let root = NewRoot {
            id: TaskId::of(&Digest::of_parts(identity)),
            user: key.user.clone(),
            tool: key.tool.to_string(),
            request: request.to_owned(),
            role: role.to_owned(),
            documents: Vec::new(),
            timeout: DEFAULT_TIMEOUT,
            labels: BTreeMap::new(),
        };
        Box::pin(async move {
            // The documents first: an agent may claim the task as soon as it exists.
            let root = self.with_documents(root, documents).await?;
            let started = self.store.start_root_task(call, &root).await;
            let started = started.map_err(|error| task_refusal(&root.id, error));
            let action = self.abandon_on_error(&root.id, started).await?;
            // A repeat gets the task of the first call.
            Ok(action.task_id.unwrap_or(root.id))
        })
    }
}

impl Orchestrator {
    /// Creates a root task for a request and not for a call. A repeat of the request returns the same task.
    pub async fn create(
        &self,
        root: NewRoot,
        documents: Vec<InitialDocument>,
        mutation: Mutation,
    ) -> Result<Task, Refusal> {
        let identity = [root.user.to_string(), mutation.request_id.to_string(), mutation.digest.to_string()];
        let root = NewRoot { id: TaskId::of(&Digest::of_parts(identity)), ..root };
        let root = self.with_documents(root, documents).await?;
        let created = self.store.create_root_task(&root, mutation).await;
        let created = created.map_err(|error| task_refusal(&root.id, error));
        self.abandon_on_error(&root.id, created).await
    }

    /// Writes the documents of a root, and returns it with their paths. A root without documents gets a random id; with
    /// documents its id is derived from the request, so that a repeat finds those already written.
    async fn with_documents(
        &self,
        root: NewRoot,
        documents: Vec<InitialDocument>,
    ) -> Result<NewRoot, Refusal> {
        if documents.is_empty() {
            return Ok(NewRoot { id: TaskId::generate(), ..root });
        }
        let user = User::new(root.user.clone());
        let documents = begin::fill(&self.workspace, &user, &root.id, documents).await;
        let documents = self.abandon_on_error(&root.id, documents.map_err(Refusal::from)).await?;
        Ok(NewRoot { documents, ..root })
    }

    /// Deletes the documents of a root that was not started. If that fails, the sweep deletes them later.
    async fn abandon_on_error<T>(&self, root: &TaskId, result: Result<T, Refusal>) -> Result<T, Refusal> {
        if result.is_err()
            && let Err(error) = self.workspace.abandon(root).await
        {
            tracing::warn!(%error, task_id = %root, "documents of a task that did not begin are left to the sweep");
        }
        result
    }
}
