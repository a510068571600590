//! Runs: tasks that the server's own agent works on, with all tasks below them.
//!
//! It works as any worker does: it leases a task, renders it, asks a model, and makes every call of the model through
//! `tasks`. The answer of `tasks` alone decides whether the loop continues. The next worker finds what it leaves open.
//! Not here: the effect of a call on its task (`toolwire_engine::tasks`), and models (`toolwire_sources::models`).

mod call;
mod drive;
mod events;
mod lease_guard;
mod messages;
mod parts;
mod role;
mod run_end;
mod task_run;
mod work;
mod worker;

use std::sync::Arc;

use tokio::time::sleep_until;
use tracing::Instrument;

use self::work::{Spending, Work};
pub use self::{
    parts::Parts,
    role::{Role, Roles},
};
use super::turns::BudgetWish;
use crate::{
    Budget, TurnId,
    active_turns::{ActiveTurns, Admission, RunningTurn},
    log::Reader,
};
use toolwire_base::{clock, offload};
use toolwire_contract::{Refusal, TurnRefusal, proto::agent::v1::turn_event::Event};
use toolwire_sources::models::Model;
use toolwire_tool::context::{RequestId, SessionId, ToolContext};

/// Tasks that are worked on here. Cheap to clone; clones share state.
#[derive(Clone, Debug)]
pub struct Runs {
    parts: Arc<Parts>,
    running: ActiveTurns,
}

#[derive(Clone, Debug)]
pub struct NewRun {
    pub context: ToolContext,
    pub task_id: String,
    /// Lowers the budget that each of its tasks has each time it is worked on.
    pub budget: BudgetWish,
}

impl Runs {
    pub fn new(parts: Parts) -> Self {
        let settings = parts.agent.settings();
        let running = ActiveTurns::new(settings.turns, settings.turns_per_user);
        Self { parts: Arc::new(parts), running }
    }

    /// The same with another model.
    #[must_use]
    pub fn with_model(&self, model: Option<Arc<dyn Model>>) -> Self {
        self.with(Parts { model, ..(*self.parts).clone() })
    }

    /// The same with another model for the tasks of a role.
    #[must_use]
    pub fn with_role_model(&self, role: &str, model: Arc<dyn Model>) -> Self {
        self.with(Parts { roles: self.parts.roles.with_model(role, model), ..(*self.parts).clone() })
    }

    fn with(&self, parts: Parts) -> Self {
        Self { parts: Arc::new(parts), running: self.running.clone() }
    }

    /// The tasks that are worked on now.
    pub fn running(&self) -> &ActiveTurns {
        &self.running
    }

    /// Works on a task and the tasks below it, until it has ended or all wait for people. Dropping the events stops the
    /// work; writes that have begun continue.
    pub async fn begin(&self, new: NewRun) -> Result<(TurnId, Reader), Refusal> {
        let Some(model) = self.parts.model.clone() else { return Err(TurnRefusal::NoModel.into()) };
        let user = new.context.user.clone();
        let task = self.parts.tasks.get(&user, &new.task_id).await?;
        let turn_id = RequestId::generate();
        // One run per task: two would take each other's leases.
        let session: SessionId = task.id.as_str().parse().expect("the name of a task is short enough");
        // Entered before anything is spawned, so that a second run is refused at once.
        let admission = self.running.enter(&user.id, turn_id, &session, None, clock::wall())?;
        let Admission::New(running, reader) = admission else { return Err(Refusal::CallerGone) };
        let budget: Budget = new.budget.within(self.parts.agent.settings());
        let mut context = new.context;
        if let Some(time) = new.budget.max_time {
            context.deadline = context.deadline.no_later_than(clock::now() + time);
        }
        let (parts, user) = (Arc::clone(&self.parts), context.user.id.shared());
        let work = async move {
            let work = Work {
                parts: &parts,
                model,
                context,
                task: task.id,
                budget,
                turn_id,
                log: &running.log,
                spent: Spending::default(),
                asked: Vec::new(),
            };
            let end = Box::pin(work_until_end(work, &running)).await;
            // Its place is freed before the end is sent, so that a reader of the end can begin the next run.
            let log = running.leave();
            match end {
                Ok(event) => log.tell(event),
                Err(refusal) => log.refuse(refusal),
            }
        };
        tokio::spawn(offload::on_behalf(user, work).in_current_span());
        Ok((turn_id, reader))
    }
}

/// Works until the task has ended or must wait, or until the deadline, a cancellation, or the departure of all readers.
async fn work_until_end(mut work: Work<'_>, running: &RunningTurn) -> Result<Event, Refusal> {
    let deadline = work.context.deadline.at();
    tokio::select! {
        // The deadline wins a tie.
        biased;
        () = sleep_until(deadline) => Err(Refusal::DeadlineExceeded),
        () = running.cancelled.cancelled() => Err(TurnRefusal::Cancelled.into()),
        () = running.log.abandoned() => Err(Refusal::CallerGone),
        end = drive::run(&mut work) => end,
        never = running.log.keep_talking() => match never {},
    }
}
