//! Kill -9 at random points of a mixed load, again and again on one state: writes, decisions,
//! trees of tasks with delegations and questions, messages, documents. Nothing acknowledged is lost, nothing is done
//! twice, no sequence has a gap, every parent that waits goes on exactly once, and what was under way ends as
//! `OUTCOME_UNKNOWN`.
//!
//! `KILL_ROUNDS` says how often, which is 5 times here and 200 in `.ci/long`. Without the prefix of settings, which a
//! server refuses that it does not know.

#![allow(
    clippy::match_bool,
    clippy::single_match,
    clippy::single_match_else,
    reason = "two cases beside each other"
)]
#![allow(clippy::print_stdout, reason = "the figures of a run on demand")]

mod calls;
mod documents;
mod messages;
mod trees;

use std::{
    collections::HashMap,
    env,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::Mutex as Turn;
use tonic::{Code, Status, transport::Channel};
use toolwire::{
    contract::proto::{
        tasks::v1::{
            CreateTaskRequest, EndTaskRequest, ListTimelineRequest, TimelineEntry, end_task_request::End,
            task_service_client::TaskServiceClient,
        },
        v1::{
            confirmation_service_client::ConfirmationServiceClient, tool_service_client::ToolServiceClient,
        },
        workspace::v1::workspace_service_client::WorkspaceServiceClient,
    },
    tool::context::RequestId,
};

use self::{calls::Calls, documents::Shelf, messages::Talk, trees::Trees};
use crate::support::{draws::draws, program::Program, state};

const CALLERS: usize = 2;
const AGENTS: usize = 2;

/// How many times the rounds are repeated, at most, until something of each kind was acknowledged.
const MOST: usize = 10;

/// The services of one server.
#[derive(Clone)]
struct Client {
    tools: ToolServiceClient<Channel>,
    confirmations: ConfirmationServiceClient<Channel>,
    tasks: TaskServiceClient<Channel>,
    documents: WorkspaceServiceClient<Channel>,
}

/// What was done, by the identifiers of calls, as somebody outside of what is killed has counted it.
#[derive(Clone, Debug, Default)]
struct Effects(Arc<Mutex<HashMap<String, usize>>>);

/// Those who use the servers, and what they were told. They outlive every server.
#[derive(Default)]
struct Users {
    callers: [Arc<Turn<Calls>>; CALLERS],
    agents: [Arc<Turn<Trees>>; AGENTS],
    speaker: Arc<Turn<Talk>>,
    writer: Arc<Turn<Shelf>>,
    effects: Effects,
}

impl Client {
    async fn of(program: &Program) -> Self {
        let channel = program.channel().await;
        Self {
            tools: ToolServiceClient::new(channel.clone()),
            confirmations: ConfirmationServiceClient::new(channel.clone()),
            tasks: TaskServiceClient::new(channel.clone()),
            documents: WorkspaceServiceClient::new(channel),
        }
    }

    async fn create(&mut self, request: &str, id: RequestId) -> Result<String, Status> {
        let (request, request_id) = (request.to_owned(), id.to_string());
        let message = CreateTaskRequest { request, request_id, ..CreateTaskRequest::default() };
        let created = self.tasks.create_task(message).await?.into_inner();
        Ok(created.task.expect("a task").task_id)
    }

    async fn ends(&mut self, task: &str, id: RequestId) -> Result<(), Status> {
        let end = EndTaskRequest {
            task_id: task.to_owned(),
            end: Some(End::Failed("Enough".to_owned())),
            request_id: id.to_string(),
            ..EndTaskRequest::default()
        };
        self.tasks.end_task(end).await.map(|_| ())
    }

    /// A whole timeline, which has no gap.
    async fn timeline(&mut self, task: &str) -> Vec<TimelineEntry> {
        let (mut entries, mut sequence) = (Vec::new(), Some(0));
        while sequence.is_some() {
            let task_id = task.to_owned();
            let message = ListTimelineRequest { task_id, sequence, page_size: 1_000, ..Default::default() };
            let page = self.tasks.list_timeline(message).await.expect("listed").into_inner();
            entries.extend(page.entries);
            sequence = page.next_sequence;
        }
        let places: Vec<_> = entries.iter().map(|entry| entry.sequence).collect();
        assert_eq!(places, (0..entries.len() as u64).collect::<Vec<_>>(), "no gap in {task}");
        entries
    }
}

impl Effects {
    /// Counts what the log of a server says, which is outside of what is killed.
    fn count(&self, log: &str) {
        let mut effects = self.0.lock().expect("not poisoned");
        for line in log.lines() {
            let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
            if line["message"] == "wrote" {
                let id = line["request_id"].as_str().expect("an identifier");
                *effects.entry(id.to_owned()).or_default() += 1;
            }
        }
        assert!(effects.values().all(|times| *times == 1), "done more than once: {effects:?}");
    }

    fn has(&self, id: RequestId) -> bool {
        self.0.lock().expect("not poisoned").contains_key(&id.to_string())
    }
}

impl Users {
    /// Everybody at work, until the server is gone.
    async fn load(&self, program: &Program) -> Vec<tokio::task::JoinHandle<()>> {
        let mut at_work = Vec::new();
        let client = Client::of(program).await;
        for (number, caller) in self.callers.iter().enumerate() {
            let (caller, mut client) = (Arc::clone(caller), client.clone());
            let load = async move { until_killed(&caller.lock().await.load(&mut client, number).await) };
            at_work.push(tokio::spawn(load));
        }
        for agent in &self.agents {
            let (agent, mut client, effects) = (Arc::clone(agent), client.clone(), self.effects.clone());
            let load = async move { until_killed(&agent.lock().await.load(&mut client, &effects).await) };
            at_work.push(tokio::spawn(load));
        }
        let (speaker, mut said) = (Arc::clone(&self.speaker), client.clone());
        let load = async move { until_killed(&speaker.lock().await.load(&mut said).await) };
        at_work.push(tokio::spawn(load));
        let (writer, mut written) = (Arc::clone(&self.writer), client);
        let load = async move { until_killed(&writer.lock().await.load(&mut written).await) };
        at_work.push(tokio::spawn(load));
        at_work
    }

    /// What everybody was told is as it was told. `is_last`: everything since the beginning, and what was begun is
    /// brought to its end.
    async fn verify(&self, program: &Program, is_last: bool) {
        let mut client = Client::of(program).await;
        for caller in &self.callers {
            caller.lock().await.verify(&mut client, is_last).await;
        }
        for agent in &self.agents {
            agent.lock().await.verify(&mut client, &self.effects, is_last).await;
        }
        self.speaker.lock().await.verify(&mut client).await;
        self.writer.lock().await.verify(&mut client).await;
    }

    async fn figures(&self) -> Figures {
        let effects = self.effects.0.lock().expect("not poisoned").len();
        let (mut calls, mut trees) = (calls::Figures::default(), trees::Figures::default());
        for caller in &self.callers {
            calls.add(&*caller.lock().await, &self.effects);
        }
        for agent in &self.agents {
            trees.add(&*agent.lock().await);
        }
        let (messages, puts) = (self.speaker.lock().await.told, self.writer.lock().await.told);
        Figures { effects, calls, trees, messages, puts }
    }
}

/// What was acknowledged so far, by kind.
#[derive(Debug)]
#[allow(dead_code, reason = "printed")]
struct Figures {
    effects: usize,
    calls: calls::Figures,
    trees: trees::Figures,
    messages: usize,
    puts: usize,
}

impl Figures {
    /// Whether something of each kind was acknowledged.
    fn is_of_all(&self) -> bool {
        let Self { calls, trees, messages, puts, .. } = self;
        calls.told > 0 && calls.decisions > 0 && trees.ended > 0 && *messages > 0 && *puts > 0
    }
}

/// Whoever is refused was not killed: all that is asked for is allowed, however often it is repeated.
fn until_killed(status: &Status) {
    let is_refused = matches!(
        status.code(),
        Code::InvalidArgument
            | Code::NotFound
            | Code::AlreadyExists
            | Code::FailedPrecondition
            | Code::Aborted
            | Code::ResourceExhausted
    );
    assert!(!is_refused, "{status:?}");
}

async fn serve(state: &TempDir) -> Program {
    let state = state.path().to_str().expect("a name");
    let variables = [("TOOLWIRE_STATE", state), ("TOOLWIRE_LOG_FILTER", "toolwire::diagnostics=debug")];
    Program::start(Path::new("."), &[], &variables).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_and_nothing_is_done_twice_wherever_the_server_is_killed() {
    let rounds = env::var("KILL_ROUNDS").map_or(5, |text| text.parse().expect("a number"));
    let state = tempfile::tempdir().expect("a directory");
    let (users, mut draws) = (Users::default(), draws());
    let mut round = 0;
    loop {
        // On a busy machine a few rounds may end before something of each kind was acknowledged.
        let is_last = round >= rounds && (users.figures().await.is_of_all() || round >= MOST * rounds);
        let program = serve(&state).await;
        users.verify(&program, is_last).await;
        let at_work = if is_last { Vec::new() } else { users.load(&program).await };
        tokio::time::sleep(Duration::from_millis(draws.u64(20..276))).await;
        users.effects.count(&program.kill().await);
        for one in at_work {
            one.await.expect("no panic");
        }
        if is_last {
            break;
        }
        round += 1;
    }
    assert_eq!(state::problems(state.path()).await, Vec::<String>::new());
    let figures = users.figures().await;
    println!("{round} rounds: {figures:?}");
    assert!(figures.is_of_all());
}
