//! Picks the next task to work on: any task of the tree that can continue, until the root of the run has ended or all
//! tasks wait for people.

use std::collections::BTreeSet;

use super::{events, run_end::RunEnd, task_run::TaskRun, work::Work};
use crate::Mode;
use toolwire_base::clock;
use toolwire_contract::{
    Refusal,
    convert::timestamp,
    proto::agent::v1::{TurnOutcome, TurnStarted, turn_event::Event},
};
use toolwire_state::tasks::{Kind, Task, life::State};

/// Maximum number of times that a run takes up a task: a bound on tasks that wake each other for ever.
const MAX_TASK_RUNS: u32 = 256;

/// Works until the task has ended or all tasks wait for people. Returns the terminal event.
pub(super) async fn run(work: &mut Work<'_>) -> Result<Event, Refusal> {
    let started = TurnStarted {
        session_id: String::new(),
        mode: Mode::Native.into_str().to_owned(),
        model: work.model.id().to_owned(),
        tools_offered: u32::try_from(work.offer().count()).unwrap_or(u32::MAX),
        deadline: Some(timestamp(clock::wall_at(work.context.deadline.at()))),
    };
    work.tell(&work.task, Event::Started(started));
    // Tasks that another worker holds; asked again, they would only spin.
    let mut busy = BTreeSet::new();
    for _ in 0..MAX_TASK_RUNS {
        let tree = work.tree().await?;
        let Some(task) = tree.iter().find(|task| task.id == work.task) else { break };
        if task.state.is_final() {
            return Ok(end_event(work, task));
        }
        let ready = tree.iter().find(|task| can_go_on(task) && !busy.contains(&task.id));
        let Some(ready) = ready.cloned() else {
            return Ok(Event::Paused(events::pause(work, &tree)));
        };
        let id = ready.id.clone();
        match TaskRun::of(work, ready).work().await? {
            RunEnd::Blocked | RunEnd::Over => {}
            RunEnd::Busy => _ = busy.insert(id),
            RunEnd::Spent => {
                return Ok(stop_event(work, TurnOutcome::BudgetSpent, "the budget of a task was spent"));
            }
            RunEnd::Failed(why) => return Ok(stop_event(work, TurnOutcome::ModelFailed, &why)),
        }
    }
    Ok(stop_event(work, TurnOutcome::BudgetSpent, "its tasks were taken up too often"))
}

fn end_event(work: &Work<'_>, task: &Task) -> Event {
    let outcome = if task.state == State::Completed { TurnOutcome::Answered } else { TurnOutcome::Stopped };
    let words = events::words_of_end(task);
    work.tell(&work.task, events::delta(&words));
    Event::Final(events::reply(work, outcome, words, Vec::new()))
}

/// Ends the run but not the task, which the next run continues.
fn stop_event(work: &Work<'_>, outcome: TurnOutcome, why: &str) -> Event {
    let words = "The task has not ended; run it again to go on.".to_owned();
    work.tell(&work.task, events::delta(&words));
    Event::Final(events::reply(work, outcome, words, vec![why.to_owned()]))
}

/// Whether an agent can work on a task. A question without a role is for a person.
fn can_go_on(task: &Task) -> bool {
    let is_for_person = task.kind == Kind::Question && task.role.is_empty();
    matches!(task.state, State::Pending | State::Running) && !is_for_person
}
