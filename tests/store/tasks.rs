//! Tasks and timelines.

mod calls;
mod check;
mod confirmed;
mod ends;
mod failing;
mod followers;
mod graph;
mod leases;
mod messages;
mod properties;
mod races;
mod recovery;
mod retention;

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use crate::support::state;
use opentelemetry::trace::TraceId;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use toolwire::{
    base::digest::Digest,
    contract::{Payload, Provenance, ToolError, ToolName, ToolResult, proto::v1::ToolCategory},
    state::{
        Store,
        confirmations::Admission,
        idempotency::{About, Begun, Effect, Key},
        tasks::{
            Action, CallEnd, Ending, Lease, LeaseRequest, LeaseTarget, Leased, Mutation, NewChild,
            NewQuestion, NewRoot, PageRequest, Recorded, Refused, StepRef, Task, TaskCall, TaskError,
            entry::{Body, CallType, Entry},
            fold,
            life::State,
        },
    },
    tool::context::{CallId, KnownBy, Origin, RequestId, TaskId, UserId},
};

use super::{SECOND, in_file, now, user};

const MINUTE: Duration = Duration::from_mins(1);

/// A store of tasks, and what it stands on.
struct House {
    store: Arc<Store>,
    directory: TempDir,
}

impl House {
    fn new() -> Self {
        let (store, directory) = in_file();
        Self { store, directory }
    }

    /// One in SQLite in any case.
    fn of_sqlite() -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self { store: Arc::new(Store::at(directory.path())), directory }
    }

    /// The same state, opened by another process.
    fn other(&self) -> Arc<Store> {
        let other = Arc::new(state::at(self.directory.path()));
        other.at_time(now());
        other
    }

    /// The same state after the process was killed and another one began.
    fn again(self) -> Self {
        let Self { store, directory } = self;
        drop(Arc::into_inner(store).expect("nobody else has it"));
        Self { store: Arc::new(state::at(directory.path())), directory }
    }

    /// The tasks, where it is now.
    fn tasks(&self) -> &Store {
        self.store.at_time(now())
    }

    async fn root(&self) -> Task {
        self.root_of("").await
    }

    async fn root_of(&self, role: &str) -> Task {
        let new = NewRoot { role: role.to_owned(), ..new_root() };
        self.tasks().create_root_task(&new, mutation("CreateTask", "1")).await.unwrap()
    }

    async fn task(&self, id: &TaskId) -> Task {
        self.tasks().task(&riley(), id).await.unwrap()
    }

    async fn delegate(&self, to: &Task, step: u64) -> (Action, Task) {
        let call =
            TaskCall { step_ref: of_step(step), ..call(to, "route_to_analyst", CallType::AgentAsTool) };
        let action = self.tasks().delegate_task(&call, &child()).await.unwrap();
        let made = self.task(action.task_id.as_ref().unwrap()).await;
        (action, made)
    }

    async fn hand_off(&self, task: &Task) -> Result<Ending<Action>, TaskError> {
        let call = call(task, "handoff", CallType::Handoff);
        self.tasks().hand_off_task(&call, &object(&json!({"charts": 1})), &[]).await
    }

    async fn ask(&self, asker: &Task) {
        let call = call(asker, "ask_master", CallType::AskMaster);
        let question = NewQuestion {
            question: "Is this right?".to_owned(),
            documents: Vec::new(),
            timeout: 20 * MINUTE,
        };
        self.tasks().ask_question(&call, &question).await.unwrap();
    }

    /// Begins and ends a call that executes.
    async fn execute(&self, task: &Task, step: u64) -> Recorded {
        let call = TaskCall { step_ref: of_step(step), ..call(task, "write_file", CallType::Function) };
        assert_new(self.tasks().begin_task_call(&call, None).await);
        let result = result(&call, Ok(json!({"path": "a.md"})));
        self.tasks().end_task_call(&call, ended(&result)).await.unwrap()
    }

    async fn timeline(&self, id: &TaskId) -> Vec<Entry> {
        let page = PageRequest { from: None, backwards: false, limit: 1_000 };
        let mut page = self.tasks().timeline_page(&riley(), id, page).await.unwrap();
        for entry in &mut page.entries {
            let whole = self.tasks().timeline_entry(&riley(), id, entry.sequence).await.unwrap();
            *entry = whole.expect("it was in the page");
        }
        page.entries
    }

    /// The kinds and statuses of a timeline.
    async fn told(&self, id: &TaskId) -> Vec<String> {
        self.timeline(id).await.iter().map(|entry| in_short(&entry.body)).collect()
    }

    /// The stored task is the fold of its timeline, which has no gap.
    async fn assert_folds(&self, id: &TaskId) -> Task {
        let stored = self.task(id).await;
        let timeline = self.timeline(id).await;
        assert_eq!(timeline.len() as u64, stored.next_sequence, "{id}");
        assert_eq!(folded(&stored, &timeline), stored);
        stored
    }

    async fn lease(
        &self,
        id: &TaskId,
        holder: &str,
        token: Option<u64>,
        at: SystemTime,
    ) -> Result<Leased, TaskError> {
        let wish = wish(LeaseTarget::Task(id.clone(), token), holder);
        self.tasks().at_time(at).lease_task(&riley(), &wish).await.map(Option::unwrap)
    }
}

/// What the entries make of a task that has none yet.
fn folded(stored: &Task, timeline: &[Entry]) -> Task {
    let mut task = Task {
        request: String::new(),
        documents: Vec::new(),
        state: State::Pending,
        waits: Vec::new(),
        waiting_step: 0,
        result: None,
        result_documents: Vec::new(),
        message: String::new(),
        cause: None,
        next_sequence: 0,
        created_at: SystemTime::UNIX_EPOCH,
        updated_at: SystemTime::UNIX_EPOCH,
        ended_at: None,
        tainted: false,
        ..stored.clone()
    };
    for entry in timeline {
        fold::apply(&mut task, entry).unwrap();
    }
    task
}

fn in_short(body: &Body) -> String {
    match body {
        Body::ToolCall(call) => format!("{} {}", call.tool, call.status).trim_end().to_owned(),
        Body::Answer(answer) => format!("{} {}", answer.answers, answer.status).trim_end().to_owned(),
        Body::Decision(decision) => format!("{} {}", decision.decides, decision.status),
        Body::Ended(ended) => format!("{} by {}", ended.end.state().into_str(), ended.cause.into_str()),
        Body::Started(started) => format!("{} started", started.holder),
        other => other.into_str().to_owned(),
    }
}

fn riley() -> UserId {
    user("riley")
}

fn new_root() -> NewRoot {
    NewRoot {
        id: TaskId::generate(),
        user: riley(),
        tool: "start_task".to_owned(),
        request: "Analyse the third quarter".to_owned(),
        role: String::new(),
        documents: Vec::new(),
        timeout: 60 * MINUTE,
        labels: [("team".to_owned(), "sales".to_owned())].into(),
    }
}

fn child() -> NewChild {
    NewChild {
        request: "Make charts".to_owned(),
        role: "analyst".to_owned(),
        documents: Vec::new(),
        timeout: 120 * MINUTE,
    }
}

fn call(task: &Task, tool: &str, tool_type: CallType) -> TaskCall {
    let tool: ToolName = tool.parse().unwrap();
    TaskCall {
        task: task.id.clone(),
        key: Key { user: riley(), tool, request_id: RequestId::generate() },
        effect: Effect::Write,
        digest: Digest::of_bytes(b"1"),
        about: About { task_id: Some(task.id.clone().into()), ..about() },
        tool_type,
        category: ToolCategory::Write,
        step_ref: StepRef::default(),
        input: r#"{"request":"x"}"#.to_owned(),
        remembers: None,
    }
}

/// What else is recorded of a call.
fn about() -> About {
    About {
        call_id: CallId::generate(),
        parent_call_id: None,
        definition_digest: Digest::of_bytes(b"definition"),
        origin: Origin::PROCESS,
        client: None,
        known_by: KnownBy::Process,
        workload: None,
        task_id: None,
        session_id: None,
        trace_id: TraceId::from_hex("4bf92f3577b34da6a3ce929d0e0e4736").ok(),
        deadline: now() + MINUTE,
    }
}

fn of_step(step: u64) -> StepRef {
    StepRef { step, ..StepRef::default() }
}

fn result(call: &TaskCall, outcome: Result<Value, ToolError>) -> ToolResult {
    ToolResult {
        tool: call.key.tool.clone(),
        fetched_at: now(),
        outcome: outcome.map(Payload::from_json),
        provenance: Provenance::default(),
        kept: None,
    }
}

fn ended(result: &ToolResult) -> CallEnd<'_> {
    CallEnd {
        result,
        is_final: true,
        documents: &[],
        untrusted: false,
        needs_credentials: None,
        is_again: false,
    }
}

fn mutation(method: &'static str, content: &str) -> Mutation {
    Mutation { method, request_id: RequestId::generate(), digest: Digest::of_bytes(content.as_bytes()) }
}

fn wish(wanted: LeaseTarget, holder: &str) -> LeaseRequest {
    LeaseRequest { target: wanted, holder: holder.to_owned(), duration: 30 * SECOND }
}

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn token(lease: Option<&Lease>) -> u64 {
    lease.unwrap().token
}

#[track_caller]
#[allow(clippy::needless_pass_by_value, reason = "what a call returned, as it is")]
fn assert_new(opened: Result<Admission, TaskError>) {
    assert!(matches!(opened, Ok(Admission::Begun(Begun::New))), "{opened:?}");
}

#[track_caller]
fn refused<T: std::fmt::Debug>(done: Result<T, TaskError>) -> Refused {
    match done {
        Err(TaskError::Refused(refused)) => refused,
        other => panic!("{other:?}"),
    }
}
