//! `toolwire tasks run`: the server's own model works on a task. Its events are shown like those of a turn of `chat`.

use clap::Args;
use futures_util::StreamExt;
use tonic::Status;

use super::render::Common;
use crate::{
    backend::{Backend, TurnEvents},
    call::decision,
    chat::{show, show_event},
    ids, json,
    signals::Interrupts,
};
use toolwire_base::words::visible;
use toolwire_contract::proto::{
    agent::v1::{Paused, RunTaskRequest, TurnBudget, TurnEvent, TurnOutcome, WaitingTask, turn_event::Event},
    v1::ResultFormat,
};
use toolwire_server::{
    client,
    console::{self, Failure},
    domain::Domain,
};

#[derive(Debug, Args)]
pub(super) struct Run {
    /// The name of the task
    #[arg(value_name = "TASK")]
    task: String,
    /// Maximum number of calls for each task each time it is worked on
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    max_calls: Option<u32>,
    #[command(flatten)]
    pub(super) common: Common,
}

impl Run {
    /// Works on the task until it ends, or the user interrupts: then it stands where it is.
    pub(super) async fn run(mut self, domains: &[Domain]) -> Result<(), Failure> {
        let mut interrupts = Interrupts::listen();
        let backend = interrupts.unless(self.common.connection.open_with_state(domains)).await?;
        self.task = interrupts.unless(ids::task(&backend, &self.task)).await?;
        let done = interrupts.unless(self.work(&backend)).await.inspect_err(|failure| {
            if let Failure::Interrupted = failure {
                console::say(&format!(
                    "\ninterrupted: reads are cancelled, and a write that had begun goes on. To go on: {}",
                    self.next_command()
                ));
            }
        });
        interrupts.unless(backend.settle()).await?;
        done
    }

    /// Works on the task, and again after each decision of the person at the terminal.
    async fn work(&self, backend: &Backend) -> Result<(), Failure> {
        loop {
            let events = backend.run_task(self.request()).await.map_err(|status| client::refusal(&status))?;
            let last = if self.common.json { as_lines(events).await } else { show(events).await };
            let last = last.map_err(|status| self.connection_lost(&status))??;
            match last.event {
                Some(Event::Final(reply)) if reply.outcome() == TurnOutcome::Answered => return Ok(()),
                Some(Event::Final(_)) => return Err(Failure::Reported),
                Some(Event::Paused(paused)) => self.decide(backend, &paused).await?,
                _ => return Err(self.connection_lost(&Status::data_loss("the stream ended without an end"))),
            }
        }
    }

    fn request(&self) -> RunTaskRequest {
        let format = if self.common.json { ResultFormat::Struct } else { ResultFormat::Json };
        RunTaskRequest {
            task_id: self.task.clone(),
            budget: self.max_calls.map(|max_calls| TurnBudget { max_calls, ..TurnBudget::default() }),
            result_format: format.into(),
        }
    }

    /// The command that continues the work.
    fn next_command(&self) -> String {
        format!("toolwire tasks run {}{}", self.task, self.common.connection.to_flags())
    }

    fn connection_lost(&self, status: &Status) -> Failure {
        client::refusal_or_lost(
            status,
            &format!("The task stands as it is. To go on: {}", self.next_command()),
        )
    }

    /// Prompts for a decision at the terminal; an error if something else is waited for too.
    async fn decide(&self, backend: &Backend, paused: &Paused) -> Result<(), Failure> {
        let connection = &self.common.connection;
        let mut is_decided = !self.common.json && !paused.pending.is_empty();
        for required in paused.pending.iter().filter_map(|call| call.confirmation_required.as_ref()) {
            is_decided = is_decided
                && decision::ask(backend, required, connection).await? != decision::PromptOutcome::Undecided;
        }
        if is_decided {
            return Ok(());
        }
        if !self.common.json {
            for line in waiting(&paused.tasks) {
                console::say(&line);
            }
            console::say(&format!("Then go on: {}", self.next_command()));
        }
        Err(Failure::AwaitsConfirmation)
    }
}

/// A line for each task that waits.
fn waiting(tasks: &[WaitingTask]) -> Vec<String> {
    let line = |it: &WaitingTask| {
        format!("{} {}, waits for {}", it.task_id, visible(&it.state), visible(&it.waits_for.join(", ")))
    };
    tasks.iter().map(line).collect()
}

/// For programs: every event as one line of JSON.
async fn as_lines(mut events: TurnEvents) -> Result<Result<TurnEvent, Failure>, Status> {
    let mut last = TurnEvent::default();
    while let Some(event) = events.next().await {
        last = event?;
        if let Err(failure) = console::json(&json::message(&last)) {
            return Ok(Err(failure));
        }
    }
    Ok(Ok(last))
}

/// For people: the task that is worked on, the events, and the end.
async fn show(mut events: TurnEvents) -> Result<Result<TurnEvent, Failure>, Status> {
    let (mut renderer, mut narrator) =
        (show::TurnRenderer::on_terminal(), Some(console::Narrator::on_terminal()));
    let (mut last, mut task) = (TurnEvent::default(), String::new());
    while let Some(event) = events.next().await {
        last = event?;
        if !last.task_id.is_empty() && last.task_id != task {
            task.clone_from(&last.task_id);
            match &mut narrator {
                Some(narrator) => narrator.tell(&task),
                None => console::say(&task),
            }
        }
        if let Err(failure) = show_event(&last, &mut renderer, &mut narrator) {
            return Ok(Err(failure));
        }
    }
    Ok(Ok(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_waited_for_is_said_of_each_task() {
        let task = WaitingTask {
            task_id: "task_1".to_owned(),
            state: "blocked".to_owned(),
            waits_for: vec!["an answer to task_2".to_owned(), "the task task_3".to_owned()],
        };
        assert_eq!(waiting(&[task]), ["task_1 blocked, waits for an answer to task_2, the task task_3"]);
    }
}
