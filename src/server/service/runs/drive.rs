//! Picks the next task to work on: any of the given task's tree that can go on, until the given one has ended or all
//! wait for people.

use std::collections::BTreeSet;

use super::{events, run_end::RunEnd, task_run::TaskRun, work::Work};
use toolwire_agent::Mode;
use toolwire_base::clock;
use toolwire_contract::{
    Refusal,
    convert::timestamp,
    proto::agent::v1::{TurnOutcome, TurnStarted, turn_event::Event},
};
use toolwire_store::tasks::{Kind, Task, life::State};

/// How often one run takes up the same task: a bound on tasks that send each other round.
const MOST_LEGS: u32 = 256;

/// Works until the task has ended or all wait for people: the event that tells it.
pub(super) async fn run(work: &mut Work<'_>) -> Result<Event, Refusal> {
    let started = TurnStarted {
        session_id: String::new(),
        mode: Mode::Native.into_str().to_owned(),
        model: work.model.id().to_owned(),
        tools_offered: u32::try_from(work.offer().count()).unwrap_or(u32::MAX),
        deadline: Some(timestamp(clock::wall_at(work.context.deadline.at()))),
    };
    work.tell(&work.task, Event::Started(started));
    let mut busy = BTreeSet::new();
    for _ in 0..MOST_LEGS {
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
            // Another worker has it: its waits are not ours.
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

/// It is not over: the next run goes on from where it stands.
fn stop_event(work: &Work<'_>, outcome: TurnOutcome, why: &str) -> Event {
    let words = "The task has not ended; run it again to go on.".to_owned();
    work.tell(&work.task, events::delta(&words));
    Event::Final(events::reply(work, outcome, words, vec![why.to_owned()]))
}

/// Whether there is something for an agent to do. A question without a role is for a person.
fn can_go_on(task: &Task) -> bool {
    let is_for_person = task.kind == Kind::Question && task.role.is_empty();
    matches!(task.state, State::Pending | State::Running) && !is_for_person
}
