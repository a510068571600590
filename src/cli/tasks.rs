//! `toolwire tasks`: trees of tasks, what they wait for, and what a person does about it.

mod standing;
mod state;

use clap::{Args, Subcommand};
use futures_util::StreamExt;
use serde_json::{Map, Value};
use tokio::{select, signal};

use self::{standing::standing, state::State};
use super::{backend::Backend, connection::Connection, json};
use crate::{
    client,
    console::{self, Failure},
    context::RequestId,
    contract::{
        json as contract_json,
        proto::tasks::v1::{self, TaskWatchType, resolve_unknown_request::Resolution},
    },
    domain::Domain,
    words::visible,
};

/// So many are asked for at once.
const PAGE: i32 = 1_000;

/// The longest request in a line, in characters.
const LONGEST: usize = 60;

/// Shows your trees of tasks, or one of them with what each task waits for
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Tasks {
    #[command(subcommand)]
    action: Option<Action>,
    /// The root of a tree; without it the roots are shown, the newest first
    #[arg(value_name = "ROOT")]
    root: Option<String>,
    /// Only tasks in this state
    #[arg(long = "in", value_enum, value_name = "STATE")]
    in_state: Option<State>,
    /// Shows what has not ended, then every change, until Ctrl-C
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Starts a task and prints its name
    Start(Start),
    /// Answers a question
    Answer(Answer),
    /// Cancels a task with everything that works for it
    Cancel(Cancel),
    /// Says what became of a write whose end is not known
    Resolve(Resolve),
}

#[derive(Debug, Args)]
struct Common {
    /// Prints each as one JSON line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: Connection,
}

#[derive(Debug, Args)]
struct Start {
    /// What is to be done
    #[arg(value_name = "REQUEST")]
    request: String,
    /// The role of the agent that is to work on it
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
struct Answer {
    /// The question, as `tasks` shows it
    #[arg(value_name = "TASK")]
    task: String,
    /// The answer
    #[arg(value_name = "TEXT")]
    text: String,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
struct Cancel {
    /// The task
    #[arg(value_name = "TASK")]
    task: String,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "")]
    reason: String,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
#[group(id = "resolution", required = true, multiple = false, args = ["done", "not_done"])]
struct Resolve {
    /// The task
    #[arg(value_name = "TASK")]
    task: String,
    /// The call
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
    common: Common,
}

impl Tasks {
    pub(super) async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        select! {
            done = self.carry_out(domains) => done,
            _ = signal::ctrl_c() => Err(Failure::Interrupted),
        }
    }

    async fn carry_out(self, domains: &[Domain]) -> Result<(), Failure> {
        let common = match &self.action {
            None => &self.common,
            Some(Action::Start(it)) => &it.common,
            Some(Action::Answer(it)) => &it.common,
            Some(Action::Cancel(it)) => &it.common,
            Some(Action::Resolve(it)) => &it.common,
        };
        let backend = common.connection.open(domains).await?;
        backend.open_state().await?;
        match &self.action {
            None if self.watch => self.follow(&backend).await,
            None => self.list(&backend).await,
            Some(Action::Start(it)) => it.carry_out(&backend).await,
            Some(Action::Answer(it)) => it.carry_out(&backend).await,
            Some(Action::Cancel(it)) => it.carry_out(&backend).await,
            Some(Action::Resolve(it)) => it.carry_out(&backend).await,
        }
    }

    fn filter(&self) -> v1::TaskFilter {
        v1::TaskFilter {
            root_id: self.root.clone().unwrap_or_default(),
            states: self.in_state.iter().map(|state| v1::TaskState::from(*state).into()).collect(),
            ..Default::default()
        }
    }

    async fn list(&self, backend: &Backend) -> Result<(), Failure> {
        let mut page_token = String::new();
        let mut is_first = true;
        loop {
            let filter = Some(self.filter());
            let request = v1::ListTasksRequest { filter, page_size: PAGE, page_token };
            let page = backend.tasks(request).await.map_err(|status| client::refused(&status))?;
            for task in &page.tasks {
                if is_first && !self.common.json {
                    console::line("TASK  STATE  WHAT")?;
                }
                is_first = false;
                if shown(task, self.common.json)? == console::Reader::Gone {
                    return Ok(());
                }
            }
            page_token = page.next_page_token;
            if page_token.is_empty() {
                break;
            }
        }
        if is_first && !self.common.json {
            console::say("no such tasks");
        }
        Ok(())
    }

    async fn follow(&self, backend: &Backend) -> Result<(), Failure> {
        let failed = |status| client::refused(&status);
        let request = v1::WatchTasksRequest { filter: Some(self.filter()), after_position: 0 };
        let mut changes = backend.watch_tasks(request).await.map_err(failed)?;
        while let Some(change) = changes.next().await {
            let change = change.map_err(failed)?;
            let reader = match (&change.task, change.r#type()) {
                (Some(task), _) => shown(task, self.common.json)?,
                (None, TaskWatchType::Synced) if !self.common.json => {
                    console::line("synced: every change is told from now on")?
                }
                (None, _) => continue,
            };
            if reader == console::Reader::Gone {
                return Ok(());
            }
        }
        Err(Failure::Failed("the server ended the watch; watch again".to_owned()))
    }
}

impl Start {
    async fn carry_out(&self, backend: &Backend) -> Result<(), Failure> {
        let message = v1::CreateTaskRequest {
            request: self.request.clone(),
            role: self.role.clone().unwrap_or_default(),
            request_id: RequestId::generate().to_string(),
            ..Default::default()
        };
        let task = backend.create_task(message).await.map_err(|status| client::refused(&status))?;
        let text = if self.common.json { json::message(&task).to_string() } else { task.task_id };
        console::line(&text).map(|_| ())
    }
}

impl Answer {
    async fn carry_out(&self, backend: &Backend) -> Result<(), Failure> {
        let message = v1::AnswerQuestionRequest {
            task_id: self.task.clone(),
            answer: self.text.clone(),
            documents: Vec::new(),
        };
        let task = backend.answer_question(message).await.map_err(|status| client::refused(&status))?;
        shown(&task, self.common.json).map(|_| ())
    }
}

impl Cancel {
    async fn carry_out(&self, backend: &Backend) -> Result<(), Failure> {
        let message = v1::CancelTaskRequest { task_id: self.task.clone(), reason: self.reason.clone() };
        let answer = backend.cancel_task(message).await.map_err(|status| client::refused(&status))?;
        if self.common.json {
            return console::line(&json::message(&answer).to_string()).map(|_| ());
        }
        let descendants = answer.descendants;
        if let Some(task) = &answer.task {
            shown(task, false)?;
        }
        if descendants > 0 {
            console::say(&format!("{descendants} that worked for it were cancelled too"));
        }
        Ok(())
    }
}

impl Resolve {
    async fn carry_out(&self, backend: &Backend) -> Result<(), Failure> {
        let resolution = match &self.done {
            None => Resolution::NotDone(true),
            Some(text) => {
                let result: Map<String, Value> = serde_json::from_str(text)
                    .map_err(|error| Failure::Usage(format!("--done must be a JSON object: {error}")))?;
                Resolution::Done(contract_json::to_struct(&result))
            }
        };
        let message = v1::ResolveUnknownRequest {
            task_id: self.task.clone(),
            call_id: self.call.clone(),
            resolution: Some(resolution),
            reason: self.reason.clone(),
        };
        let task = backend.resolve_unknown(message).await.map_err(|status| client::refused(&status))?;
        shown(&task, self.common.json).map(|_| ())
    }
}

/// Prints a task: as JSON, or on a line that stands as deep as the task.
fn shown(task: &v1::Task, as_json: bool) -> Result<console::Reader, Failure> {
    if as_json {
        return console::line(&json::message(task).to_string());
    }
    let indent = "  ".repeat(task.depth as usize);
    let role = if task.role.is_empty() { String::new() } else { format!("{}: ", task.role) };
    let what: String = visible(&task.request).chars().take(LONGEST).collect();
    console::line(&format!("{indent}{}  {}  {role}{what}", task.task_id, standing(task)))
}
