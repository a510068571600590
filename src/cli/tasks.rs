//! `toolwire tasks`: trees of tasks, their waits, and the actions of a person on them.

mod act;
mod render;
mod run;
mod state;
mod status;
mod tree;

use clap::{Args, Subcommand};
use futures_util::StreamExt;

use self::{
    act::{Answer, Cancel, Delete, Resolve, Start},
    render::{Common, cells, print},
    run::Run,
    state::StateArg,
};
use super::{
    backend::{Backend, into_answer, require},
    ids, json,
    signals::unless_interrupted,
    table::Table,
};
use toolwire_contract::proto::tasks::v1::{self, TaskWatchType};
use toolwire_server::{
    client,
    console::{self, Failure},
    domain::Domain,
};

/// Page size of requests.
const PAGE: i32 = 1_000;

/// Shows your trees of tasks, or one of them with what each task waits for
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Tasks {
    #[command(subcommand)]
    action: Option<Action>,
    /// A task, shown with what works for it; without it the roots are shown, the newest first
    #[arg(value_name = "TASK")]
    task: Option<String>,
    /// Lists only tasks in this state; may be repeated
    #[arg(long = "in", value_enum, value_name = "STATE")]
    in_state: Vec<StateArg>,
    /// Lists only the open questions to people and agents, of all trees
    #[arg(long, conflicts_with = "task")]
    questions: bool,
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
    /// Works on a task, and on all that work for it, with the server's own model; goes on where it stood
    ///
    /// What the task ends with is printed on standard output, everything else on standard error. Exit code 0 means that
    /// it has ended with its result, 1 that it has not, 3 that people must answer or decide first.
    Run(Run),
    /// Answers a question
    Answer(Answer),
    /// Cancels a task with everything that works for it
    Cancel(Cancel),
    /// Records the outcome of a write whose end is not known
    Resolve(Resolve),
    /// Deletes a tree that has ended, with its timelines and documents
    Delete(Delete),
}

impl Tasks {
    pub(super) async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        match self.action {
            // It says what an interruption leaves.
            Some(Action::Run(run)) => run.run(domains).await,
            _ => unless_interrupted(self.carry_out(domains)).await,
        }
    }

    async fn carry_out(mut self, domains: &[Domain]) -> Result<(), Failure> {
        let common = match &self.action {
            None | Some(Action::Run(_)) => &self.common,
            Some(Action::Start(it)) => &it.common,
            Some(Action::Answer(it)) => &it.common,
            Some(Action::Cancel(it)) => &it.common,
            Some(Action::Resolve(it)) => &it.common,
            Some(Action::Delete(it)) => &it.common,
        };
        let backend = common.connection.open_with_state(domains).await?;
        if let Some(task) = &mut self.task {
            *task = ids::task(&backend, task).await?;
        }
        match &self.action {
            None if self.watch => self.follow(&backend).await,
            None | Some(Action::Run(_)) => self.list(&backend).await,
            Some(Action::Start(it)) => it.carry_out(&backend).await,
            Some(Action::Answer(it)) => it.carry_out(&backend).await,
            Some(Action::Cancel(it)) => it.carry_out(&backend).await,
            Some(Action::Resolve(it)) => it.carry_out(&backend).await,
            Some(Action::Delete(it)) => it.carry_out(&backend).await,
        }
    }

    fn filter(&self, root_id: String) -> v1::TaskFilter {
        let open = [StateArg::Pending, StateArg::Running, StateArg::Blocked, StateArg::AwaitingConfirmation];
        let states = if self.questions && self.in_state.is_empty() { &open[..] } else { &self.in_state };
        let kinds = if self.questions { vec![v1::TaskKind::Question.into()] } else { Vec::new() };
        let states = states.iter().map(|state| v1::TaskState::from(*state).into()).collect();
        v1::TaskFilter { root_id, states, kinds, ..Default::default() }
    }

    /// The root of the selected tree; empty for all.
    async fn root(&self, backend: &Backend) -> Result<String, Failure> {
        let Some(task) = &self.task else { return Ok(String::new()) };
        let request = v1::GetTaskRequest { task_id: task.clone() };
        Ok(require(into_answer(backend.tasks().get_task(request)).await?.task)?.root_id)
    }

    async fn list(&self, backend: &Backend) -> Result<(), Failure> {
        let root = self.root(backend).await?;
        // A tree is put in order as a whole; states are looked for in it afterwards.
        let filter = match &self.task {
            None => self.filter(root),
            Some(_) => v1::TaskFilter { root_id: root, ..Default::default() },
        };
        let mut tasks = Vec::new();
        let mut page_token = String::new();
        loop {
            let request = v1::ListTasksRequest { filter: Some(filter.clone()), page_size: PAGE, page_token };
            let page = into_answer(backend.tasks().list_tasks(request)).await?;
            tasks.extend(page.tasks);
            page_token = page.next_page_token;
            if page_token.is_empty() {
                break;
            }
        }
        if let Some(top) = &self.task {
            let wanted: Vec<_> = self.in_state.iter().map(|state| v1::TaskState::from(*state)).collect();
            tasks = tree::below(tasks, top);
            tasks.retain(|task| wanted.is_empty() || wanted.contains(&task.state()));
        }
        self.print(&tasks)
    }

    fn print(&self, tasks: &[v1::Task]) -> Result<(), Failure> {
        if self.common.json {
            return console::json_lines(tasks.iter().map(json::message));
        }
        if tasks.is_empty() {
            let is_filtered = self.questions || !self.in_state.is_empty();
            console::say(if is_filtered {
                "no such tasks"
            } else {
                "no tasks yet; `toolwire tasks start REQUEST` begins one"
            });
            return Ok(());
        }
        let top = tasks.first().filter(|_| self.task.is_some()).map_or(0, |task| task.depth);
        let rows = tasks.iter().map(|task| {
            let depth = if self.task.is_some() { task.depth.saturating_sub(top) } else { 0 };
            let [id, status, what] = cells(task);
            ["  ".repeat(depth as usize) + &id, status, what]
        });
        Table::new(rows).with_heading(["TASK", "STATE", "WHAT"]).with_ids(0).with_short(&[1]).print()
    }

    async fn follow(&self, backend: &Backend) -> Result<(), Failure> {
        let filter = Some(self.filter(self.root(backend).await?));
        let request = v1::WatchTasksRequest { filter, after_position: 0 };
        let mut changes = into_answer(backend.tasks().watch_tasks(request)).await?;
        while let Some(change) = changes.next().await {
            let change = change.map_err(|status| client::refusal(&status))?;
            let reader = match (&change.task, change.r#type()) {
                (Some(task), _) => print(task, self.common.json)?,
                (None, TaskWatchType::Synced) if !self.common.json => {
                    console::line("synced: every change follows from now on")?
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
