//! The actions of a person on tasks: start, answer, cancel, resolve, delete.

use std::fmt::Display;

use clap::Args;
use serde_json::Value;

use super::render::{Common, print};
use crate::{
    backend::{Backend, into_answer, require},
    ids, json,
};
use toolwire_contract::{
    json as contract_json,
    proto::tasks::v1::{self, resolve_unknown_request::Resolution},
};
use toolwire_server::console::{self, Failure};
use toolwire_tool::context::RequestId;

#[derive(Debug, Args)]
pub(super) struct Start {
    /// What is to be done
    #[arg(value_name = "REQUEST")]
    request: String,
    /// The role of the agent that is to work on it
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, Args)]
pub(super) struct Answer {
    /// The question, as `tasks` shows it
    #[arg(value_name = "TASK")]
    task: String,
    /// What to answer
    #[arg(value_name = "TEXT")]
    text: String,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, Args)]
pub(super) struct Cancel {
    /// The name of the task
    #[arg(value_name = "TASK")]
    task: String,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "")]
    reason: String,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, Args)]
pub(super) struct Delete {
    /// The root of the tree
    #[arg(value_name = "TASK")]
    task: String,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, Args)]
#[group(id = "resolution", required = true, multiple = false, args = ["done", "not_done"])]
pub(super) struct Resolve {
    /// The name of the task
    #[arg(value_name = "TASK")]
    task: String,
    /// The name of the call
    #[arg(value_name = "CALL")]
    call: String,
    /// It was done, with this result, a JSON object
    #[arg(long, value_name = "JSON")]
    done: Option<String>,
    /// It was not done
    #[arg(long)]
    not_done: bool,
    /// How it is known
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    pub(super) common: Common,
}

impl Start {
    pub(super) async fn carry_out(&self, backend: &Backend) -> Result<(), Failure> {
        let message = v1::CreateTaskRequest {
            request: self.request.clone(),
            role: self.role.clone().unwrap_or_default(),
            request_id: RequestId::generate().to_string(),
            ..Default::default()
        };
        let task = require(into_answer(backend.tasks().create_task(message)).await?.task)?;
        let reader = if self.common.json {
            console::json(&json::message(&task))
        } else {
            console::line(&task.task_id)
        };
        reader.map(|_| ())
    }
}

impl Answer {
    pub(super) async fn carry_out(&self, backend: &Backend) -> Result<(), Failure> {
        let message = v1::AnswerQuestionRequest {
            task_id: ids::task(backend, &self.task).await?,
            answer: self.text.clone(),
            documents: Vec::new(),
        };
        let task = require(into_answer(backend.tasks().answer_question(message)).await?.task)?;
        print(&task, self.common.json).map(|_| ())
    }
}

impl Cancel {
    pub(super) async fn carry_out(&self, backend: &Backend) -> Result<(), Failure> {
        let task_id = ids::task(backend, &self.task).await?;
        let request = v1::GetTaskRequest { task_id: task_id.clone() };
        let found = require(into_answer(backend.tasks().get_task(request)).await?.task)?;
        let message = v1::CancelTaskRequest { task_id, reason: self.reason.clone() };
        let answer = into_answer(backend.tasks().cancel_task(message)).await?;
        if self.common.json {
            return console::json(&json::message(&answer)).map(|_| ());
        }
        if let Some(task) = &answer.task {
            print(task, false)?;
            if found.ended_at.is_some() {
                console::say("it had ended; nothing was cancelled");
            }
        }
        match answer.descendants {
            0 => {}
            1 => console::say("one task that worked for it was cancelled too"),
            many => console::say(&format!("{many} tasks that worked for it were cancelled too")),
        }
        Ok(())
    }
}

impl Delete {
    pub(super) async fn carry_out(&self, backend: &Backend) -> Result<(), Failure> {
        let task_id = ids::task(backend, &self.task).await?;
        let request = v1::DeleteTaskRequest { task_id: task_id.clone() };
        into_answer(backend.tasks().delete_task(request)).await?;
        let text = if self.common.json {
            "{}".to_owned()
        } else {
            format!("{task_id} and all of its tree is deleted")
        };
        console::line(&text).map(|_| ())
    }
}

impl Resolve {
    pub(super) async fn carry_out(&self, backend: &Backend) -> Result<(), Failure> {
        let resolution = match &self.done {
            None => Resolution::NotDone(true),
            Some(text) => {
                let wrong =
                    |why: &dyn Display| Failure::Usage(format!("--done must be a JSON object: {why}"));
                let Value::Object(result) = contract_json::parse(text).map_err(|error| wrong(&error))? else {
                    return Err(wrong(&"it is another value"));
                };
                let beyond = || wrong(&"a structure has no integers beyond ±2^53; write them as texts");
                Resolution::Done(contract_json::to_exact_struct(&result).ok_or_else(beyond)?)
            }
        };
        let message = v1::ResolveUnknownRequest {
            task_id: ids::task(backend, &self.task).await?,
            call_id: self.call.clone(),
            resolution: Some(resolution),
            reason: self.reason.clone(),
        };
        let task = require(into_answer(backend.tasks().resolve_unknown(message)).await?.task)?;
        print(&task, self.common.json).map(|_| ())
    }
}
