//! Any sequence of events, against the store: no state outside the table, nothing that is final changes, each wait is
//! answered at most once, and the fold of a timeline is the stored task.

use std::collections::{BTreeMap, HashMap};

use crate::support::state;
use proptest::{prelude::*, sample::Index, test_runner::Config};
use tokio::runtime::Builder;
use toolwire::{
    contract::ErrorCode,
    state::tasks::{
        Filter, NewEnd, NewMessage, NewQuestion, Resolution,
        entry::{Speaker, WaitTarget},
        life::{Event, Next, Reason, Wait},
    },
};

use super::{
    confirmed::{begin, decide},
    *,
};

#[derive(Clone, Copy, Debug)]
enum Act {
    Execute,
    LoseOutcome,
    Confirm,
    Decide(bool),
    Log,
    Say,
    Delegate,
    Ask,
    HandOff,
    Fail,
    Answer,
    Cancel,
    Lease,
    Resolve,
}

const ACTS: [Act; 15] = [
    Act::Execute,
    Act::LoseOutcome,
    Act::Confirm,
    Act::Decide(true),
    Act::Decide(false),
    Act::Log,
    Act::Say,
    Act::Delegate,
    Act::Ask,
    Act::HandOff,
    Act::Fail,
    Act::Answer,
    Act::Cancel,
    Act::Lease,
    Act::Resolve,
];

impl House {
    async fn all(&self) -> BTreeMap<TaskId, Task> {
        let listed = self.tasks().tasks(&riley(), &Filter::default(), None, 1_000).await.unwrap().tasks;
        listed.into_iter().map(|task| (task.id.clone(), task)).collect()
    }

    /// Does something to a task; refusals are fine.
    async fn act(&self, task: &Task, act: Act) {
        let lease_token = task.lease.as_ref().map_or(0, |lease| lease.token);
        let step_ref = StepRef { step: 1, lease_token, ..StepRef::default() };
        let of =
            |tool: &str, tool_type| TaskCall { step_ref: step_ref.clone(), ..call(task, tool, tool_type) };
        let tasks = self.tasks();
        match act {
            Act::Execute | Act::LoseOutcome => {
                let call = of("write_file", CallType::Function);
                if let Ok(Admission::Begun(Begun::New)) = tasks.begin_task_call(&call, None).await {
                    let outcome = match act {
                        Act::Execute => Ok(json!({})),
                        _ => Err(ToolError::new(ErrorCode::OutcomeUnknown, "lost")),
                    };
                    tasks.end_task_call(&call, ended(&result(&call, outcome))).await.unwrap();
                }
            }
            Act::Confirm => drop(begin(self, &of("write_file", CallType::Function), now()).await),
            Act::Decide(approves) => {
                let waits = task.waits.iter().find_map(|wait| match &wait.target {
                    WaitTarget::Confirmation(id) => Some(id.clone()),
                    _ => None,
                });
                if let Some(id) = waits {
                    decide(self, &id, approves).await;
                }
            }
            Act::Log => drop(tasks.log_task_call(&of("stop_and_think", CallType::NonFunction)).await),
            Act::Say => {
                let message =
                    NewMessage { speaker: Speaker::User, text: "x".to_owned(), opaque: None, step_ref };
                let said = mutation("AppendMessage", "1");
                drop(tasks.append_message(&riley(), &task.id, &message, said).await);
            }
            Act::Delegate => {
                let call = of("route_to_analyst", CallType::AgentAsTool);
                drop(tasks.delegate_task(&call, &child()).await);
            }
            Act::Ask => {
                let question =
                    NewQuestion { question: "?".to_owned(), documents: Vec::new(), timeout: MINUTE };
                drop(tasks.ask_question(&of("ask_master", CallType::AskMaster), &question).await);
            }
            Act::HandOff => {
                let call = of("handoff", CallType::Handoff);
                drop(tasks.hand_off_task(&call, &Map::new(), &[]).await);
            }
            Act::Fail => {
                let (end, ends) = (NewEnd::Failed("no".to_owned()), mutation("EndTask", "1"));
                drop(tasks.end_task(&riley(), &task.id, &end, lease_token, ends).await);
            }
            Act::Answer => drop(tasks.answer_question(&riley(), &task.id, "yes", &[]).await),
            Act::Cancel => drop(tasks.cancel_task(&riley(), &task.id, "").await),
            Act::Lease => {
                let wish = wish(LeaseTarget::Task(task.id.clone(), None), "worker");
                drop(tasks.lease_task(&riley(), &wish).await);
            }
            Act::Resolve => {
                if let Some(call_id) = task.unknown_calls().next() {
                    let not_done = Resolution::NotDone;
                    tasks.resolve_unknown_call(&riley(), &task.id, call_id, &not_done, "x").await.unwrap();
                }
            }
        }
    }
}

/// Whether a few cells of the table lead from one state to another: one act may be several events.
fn leads(from: State, to: State) -> bool {
    let mut reached = vec![from];
    for _ in 0..3 {
        for state in reached.clone() {
            for event in events() {
                if let Next::Becomes(next) = state.on(event) {
                    reached.push(next);
                }
            }
        }
    }
    reached.contains(&to)
}

fn events() -> Vec<Event> {
    let waits = [
        Wait::Confirmation,
        Wait::For(Reason::Child),
        Wait::For(Reason::Question),
        Wait::For(Reason::Authorization),
        Wait::For(Reason::UnknownOutcome),
    ];
    let plain = [
        Event::Leased,
        Event::Call { same_step: true },
        Event::Call { same_step: false },
        Event::HandedOff,
        Event::Answered,
        Event::Failed,
        Event::Cancelled,
        Event::DeadlinePasses,
        Event::WaitAnswered(None),
    ];
    let begun = waits.map(Event::WaitBegins);
    plain.into_iter().chain(begun).chain(waits.map(|wait| Event::WaitAnswered(Some(wait)))).collect()
}

/// Each wait has at most one answer or decision that ended it, and what follows an end is nothing.
fn assert_timeline(timeline: &[Entry]) {
    let mut answers = HashMap::<u64, usize>::new();
    for (index, entry) in timeline.iter().enumerate() {
        assert_eq!(entry.sequence, index as u64);
        match &entry.body {
            Body::Answer(answer) => *answers.entry(answer.answers).or_default() += 1,
            Body::Ended(_) => assert_eq!(index + 1, timeline.len()),
            _ => {}
        }
    }
    assert!(answers.values().all(|count| *count == 1), "{answers:?}");
}

async fn play(acts: Vec<(Act, Index)>) {
    let directory = tempfile::tempdir().unwrap();
    let house = House { store: Arc::new(state::fresh()), directory };
    house.root_of("chief").await;
    let mut before = house.all().await;
    for (act, index) in acts {
        let ids: Vec<_> = before.keys().cloned().collect();
        let task = before[&ids[index.index(ids.len())]].clone();
        house.act(&task, act).await;
        let after = house.all().await;
        for (id, was) in &before {
            let is = &after[id];
            assert!(!was.state.is_final() || was == is, "{act:?}: {was:?} {is:?}");
            assert!(leads(was.state, is.state), "{act:?}: {:?} → {:?}", was.state, is.state);
            assert_eq!(is.state.waits(), !is.waits.is_empty(), "{act:?}: {is:?}");
        }
        before = after;
    }
    for id in before.keys() {
        house.assert_folds(id).await;
        assert_timeline(&house.timeline(id).await);
    }
}

proptest! {
    #![proptest_config(Config { cases: 24, failure_persistence: None, ..Config::default() })]

    #[test]
    fn whatever_happens_the_stored_task_is_the_fold_of_its_timeline(
        acts in prop::collection::vec((prop::sample::select(ACTS.to_vec()), any::<Index>()), 1..40)
    ) {
        Builder::new_current_thread().enable_all().build().unwrap().block_on(play(acts));
    }
}
