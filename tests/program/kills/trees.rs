//! Trees of tasks: a root delegates, its child writes, asks a person, and hands off. Each step has an identifier of its
//! own and is repeated with it until it is acknowledged, by whichever server.

use serde_json::json;
use tonic::Status;
use toolwire::{
    contract::{
        json::to_struct,
        proto::{
            tasks::v1::{
                AnswerQuestionRequest, BlockAction, BlockReason, GetTaskRequest, HandleToolCallRequest,
                HandleToolCallResponse, ListTasksRequest, ResolveUnknownRequest, Task, TaskFilter, TaskState,
                handle_tool_call_request::Input, handle_tool_call_response::Detail,
                resolve_unknown_request::Resolution, timeline_entry::Entry,
            },
            v1::{ToolErrorCode, tool_result::Outcome},
        },
    },
    tool::context::RequestId,
};

use super::{Client, Effects, calls::decide};

/// The steps of a tree, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Create,
    Delegate,
    Write,
    Ask,
    Answer,
    HandOff,
    End,
    Ended,
}

const STEPS: [Step; 8] = [
    Step::Create,
    Step::Delegate,
    Step::Write,
    Step::Ask,
    Step::Answer,
    Step::HandOff,
    Step::End,
    Step::Ended,
];

/// What an agent was told.
#[derive(Debug, Default)]
pub(super) struct Trees {
    ended: Vec<Tree>,
    under_way: Option<Tree>,
    /// The first of those that ended and were not looked at since.
    unseen: usize,
}

/// A tree on its way.
#[derive(Debug)]
struct Tree {
    /// Whether its write must be approved by a person.
    confirms: bool,
    /// The step that is not acknowledged yet.
    step: Step,
    ids: [RequestId; STEPS.len()],
    root: String,
    child: String,
    question: String,
    /// The entries that were acknowledged: task, place, call.
    entries: Vec<(String, u64, String)>,
    /// Whether somebody had to say what became of its write, to whichever server.
    was_unknown: bool,
}

/// What all came to.
#[derive(Debug, Default)]
#[allow(dead_code, reason = "they are printed")]
pub(super) struct Figures {
    pub(super) ended: usize,
    delegations: usize,
    unknown_and_resolved: usize,
}

impl Figures {
    pub(super) fn add(&mut self, trees: &Trees) {
        self.ended += trees.ended.len();
        self.delegations += trees.ended.len();
        self.unknown_and_resolved += trees.ended.iter().filter(|tree| tree.was_unknown).count();
    }
}

impl Trees {
    /// Goes on with the tree that is under way, and begins others, until the server is gone.
    pub(super) async fn load(&mut self, client: &mut Client, effects: &Effects) -> Status {
        loop {
            if let Err(status) = self.go_on(client, effects).await {
                return status;
            }
        }
    }

    /// One step.
    async fn go_on(&mut self, client: &mut Client, effects: &Effects) -> Result<(), Status> {
        let confirms = self.ended.len().is_multiple_of(2);
        let tree = self.under_way.get_or_insert_with(|| Tree::new(confirms));
        tree.take(client, effects).await?;
        tree.step = STEPS[tree.step as usize + 1];
        if tree.step == Step::Ended {
            self.ended.extend(self.under_way.take());
        }
        Ok(())
    }

    /// Every tree stands as it was told, and nobody waits for what has come.
    pub(super) async fn verify(&mut self, client: &mut Client, effects: &Effects, is_last: bool) {
        while is_last && self.under_way.is_some() {
            self.go_on(client, effects).await.expect("it goes on after the restart");
        }
        let since = if is_last { 0 } else { self.unseen };
        for tree in &self.ended[since..] {
            tree.verify(client).await;
        }
        self.unseen = self.ended.len();
        if let Some(tree) = &self.under_way {
            tree.verify(client).await;
        }
        if is_last {
            let states = vec![TaskState::Blocked.into(), TaskState::AwaitingConfirmation.into()];
            let filter = Some(TaskFilter { states, ..TaskFilter::default() });
            let message = ListTasksRequest { filter, ..ListTasksRequest::default() };
            let waiting = client.tasks.list_tasks(message).await.expect("listed").into_inner().tasks;
            let own = |task: &Task| self.ended.iter().any(|tree| tree.root == task.root_id);
            assert_eq!(waiting.iter().filter(|task| own(task)).count(), 0, "{waiting:?}");
        }
    }
}

impl Tree {
    fn new(confirms: bool) -> Self {
        Self {
            confirms,
            step: Step::Create,
            ids: std::array::from_fn(|_| RequestId::generate()),
            root: String::new(),
            child: String::new(),
            question: String::new(),
            entries: Vec::new(),
            was_unknown: false,
        }
    }

    fn id(&self) -> RequestId {
        self.ids[self.step as usize]
    }

    /// Takes the next step, or takes it again.
    async fn take(&mut self, client: &mut Client, effects: &Effects) -> Result<(), Status> {
        match self.step {
            Step::Create => self.root = client.create("Analyze Q3 sales", self.id()).await?,
            Step::Delegate => {
                let arguments = json!({"request": "Look at it"});
                let root = self.root.clone();
                let answer = self.call(client, &root, "route_to_analyst", arguments).await?;
                self.child.clone_from(&blocked(&answer).task_id);
            }
            Step::Write => return self.write(client, effects).await,
            Step::Ask => {
                let child = self.child.clone();
                let answer = self.call(client, &child, "ask_master", json!({"question": "Which?"})).await?;
                self.question.clone_from(&blocked(&answer).task_id);
            }
            Step::Answer => {
                let (task_id, answer) = (self.question.clone(), "2024".to_owned());
                let message = AnswerQuestionRequest { task_id, answer, documents: Vec::new() };
                client.tasks.answer_question(message).await?;
            }
            Step::HandOff => {
                let child = self.child.clone();
                let answer = self.call(client, &child, "handoff", json!({"result": {"n": 1}})).await?;
                assert_eq!(answer.action, "return");
            }
            Step::End => client.ends(&self.root, self.id()).await?,
            Step::Ended => unreachable!("nothing is left to do"),
        }
        Ok(())
    }

    /// Writes, with the approval of a person if that is needed. What was under way when the server was killed has an
    /// outcome that nobody knows, until a person says so.
    async fn write(&mut self, client: &mut Client, effects: &Effects) -> Result<(), Status> {
        let tool = if self.confirms { "debug_confirm" } else { "debug_write" };
        let child = self.child.clone();
        loop {
            let arguments = json!({"value": "x", "duration": "0.003s"});
            let answer = self.call(client, &child, tool, arguments).await?;
            match answer.detail.expect("a detail") {
                Detail::Block(block) => match &block.confirmation_required {
                    Some(required) => decide(client, &required.confirmation_id, true).await?,
                    None => {
                        assert_eq!(block.reason(), BlockReason::UnknownOutcome);
                        self.resolve(client, effects).await?;
                    }
                },
                Detail::Result(result) => match result.outcome.expect("an outcome") {
                    // Nobody has looked yet what the killed server left open.
                    Outcome::Error(error) if error.code() == ToolErrorCode::OutcomeUnknown => {
                        self.resolve(client, effects).await?;
                    }
                    Outcome::Error(error) => {
                        let found = (error.code(), self.was_unknown);
                        assert_eq!(found, (ToolErrorCode::Cancelled, true), "{error:?}");
                        return Ok(());
                    }
                    Outcome::Data(_) | Outcome::DataJson(_) | Outcome::DataText(_) => return Ok(()),
                },
                Detail::Value(value) => panic!("{value:?}"),
            }
        }
    }

    /// Says what became of the write, as soon as the task waits for that.
    async fn resolve(&mut self, client: &mut Client, effects: &Effects) -> Result<(), Status> {
        self.was_unknown = true;
        let call_id = loop {
            let message = GetTaskRequest { task_id: self.child.clone() };
            let task = client.tasks.get_task(message).await?.into_inner().task.expect("a task");
            if let [call_id] = task.unknown_call_ids.as_slice() {
                break call_id.clone();
            }
            assert_eq!(task.unknown_call_ids, Vec::<String>::new(), "one write was under way");
        };
        let done = json!({"found": true});
        let resolution = match effects.has(self.id()) {
            true => Resolution::Done(to_struct(done.as_object().expect("an object"))),
            false => Resolution::NotDone(true),
        };
        let message = ResolveUnknownRequest {
            task_id: self.child.clone(),
            call_id,
            resolution: Some(resolution),
            reason: "the log says so".to_owned(),
        };
        client.tasks.resolve_unknown(message).await.map(|_| ())
    }

    async fn call(
        &mut self,
        client: &mut Client,
        task: &str,
        tool: &str,
        arguments: serde_json::Value,
    ) -> Result<HandleToolCallResponse, Status> {
        let message = HandleToolCallRequest {
            task_id: task.to_owned(),
            tool: tool.to_owned(),
            input: Some(Input::ArgumentsJson(arguments.to_string())),
            request_id: self.id().to_string(),
            ..HandleToolCallRequest::default()
        };
        let answer = client.tasks.handle_tool_call(message).await?.into_inner();
        if answer.sequence > 0 {
            self.entries.push((task.to_owned(), answer.sequence, answer.call_id.clone()));
        }
        Ok(answer)
    }

    /// What was acknowledged stands where it was said, and each wait was answered once, if it was over.
    async fn verify(&self, client: &mut Client) {
        let tasks = [&self.root, &self.child, &self.question];
        for task in tasks.into_iter().filter(|task| !task.is_empty()) {
            let timeline = client.timeline(task).await;
            for (_, sequence, call_id) in self.entries.iter().filter(|(of, ..)| of == task) {
                let found = timeline.get(usize::try_from(*sequence).expect("small"));
                assert_eq!(found.map(|it| &it.call_id), Some(call_id), "entry {sequence} of {task}");
            }
            for entry in &timeline {
                let Some(Entry::ToolCall(call)) = &entry.entry else { continue };
                let is_waiting = call.status.starts_with("→ delegated") || call.status.starts_with("→ asked");
                let answers = timeline.iter().filter(|it| answers(it.entry.as_ref(), entry.sequence)).count();
                let (least, most) = match (is_waiting, call.tool.as_str()) {
                    (false, _) => continue,
                    (true, "ask_master") => (self.step > Step::Answer, self.step >= Step::Answer),
                    (true, _) => (self.step > Step::HandOff, self.step >= Step::HandOff),
                };
                let range = usize::from(least)..=usize::from(most);
                assert!(range.contains(&answers), "{answers} answers at {:?}: {timeline:?}", self.step);
            }
        }
        let state = async |client: &mut Client, task: &str| {
            let message = GetTaskRequest { task_id: task.to_owned() };
            client.tasks.get_task(message).await.expect("there").into_inner().task.expect("a task").state()
        };
        if !self.child.is_empty() {
            let root = state(client, &self.root).await;
            match self.step {
                step if step < Step::HandOff => assert_eq!(root, TaskState::Blocked),
                Step::HandOff => assert!(matches!(root, TaskState::Blocked | TaskState::Running)),
                Step::End => assert!(matches!(root, TaskState::Running | TaskState::Failed)),
                _ => assert_eq!(root, TaskState::Failed),
            }
        }
        if self.step > Step::HandOff {
            assert_eq!(state(client, &self.child).await, TaskState::Completed);
        }
    }
}

fn answers(entry: Option<&Entry>, sequence: u64) -> bool {
    matches!(entry, Some(Entry::Answer(answer)) if answer.answers == sequence)
}

#[track_caller]
fn blocked(answer: &HandleToolCallResponse) -> &BlockAction {
    match &answer.detail {
        Some(Detail::Block(block)) => block,
        other => panic!("{other:?}"),
    }
}
