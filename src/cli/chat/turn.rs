//! One turn at the terminal: its events as they come, and its end.

use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::select;
use tonic::Status;

use super::show;
use crate::{
    backend::{Backend, TurnEvents},
    call::decision,
    connection::Connection,
    json,
    signals::wait_for_interrupt,
};
use toolwire_contract::proto::agent::v1::{
    Paused, Reply, TurnEvent, TurnInput, TurnOutcome, turn_event::Event,
};
use toolwire_server::{
    client,
    console::{self, Failure, Narrator},
};

pub(super) struct Turn<'a> {
    pub(super) backend: &'a Backend,
    pub(super) json: bool,
    pub(super) connection: &'a Connection,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum End {
    /// With an answer, or a question.
    Answered,
    /// Without either.
    Failed,
    /// A person must decide yet.
    Undecided,
    /// The user cancelled it while it ran.
    Cancelled,
    /// The user left the prompt: it still waits.
    Interrupted {
        turn_id: String,
        /// The calls that wait.
        paused: Paused,
    },
}

/// The identifiers with which a turn can be repeated.
#[derive(Debug, Default)]
struct Names {
    session_id: String,
    turn_id: String,
}

impl Turn<'_> {
    /// Carries the turn out. The inner error is the turn to resume, after a decision on its calls.
    pub(super) async fn carry_out(&self, input: TurnInput) -> Result<Result<End, String>, Failure> {
        let session_id = input.context.as_ref().map(|it| it.session_id.clone()).unwrap_or_default();
        let mut names = Names { session_id, turn_id: input.request_id.clone() };
        let reasons = self.backend.reasons();
        let mut renderer = show::TurnRenderer::on_terminal();
        let last = select! {
            last = self.show_all(input, &mut names, &mut renderer) => last,
            // The stream is dropped, and with it the turn.
            () = wait_for_interrupt() => {
                console::say("");
                for line in renderer.cancelled(&self.connection.to_flags()) {
                    console::say(&line);
                }
                return Ok(Ok(End::Cancelled));
            }
        };
        reasons.print();
        let last = last.map_err(|status| self.refusal(&status, &names))??;
        match last.event {
            Some(Event::Final(reply)) => Ok(Ok(end_of(&reply))),
            Some(Event::Paused(paused)) => self.decide(last.turn_id, paused).await,
            _ => Err(self.refusal(&Status::data_loss("the stream ended without an answer"), &names)),
        }
    }

    /// Shows the events, and returns the last one.
    async fn show_all(
        &self,
        input: TurnInput,
        names: &mut Names,
        renderer: &mut show::TurnRenderer,
    ) -> Result<Result<TurnEvent, Failure>, Status> {
        let events = self.backend.chat(input).await?;
        if self.json { as_lines(events, names).await } else { show(events, names, renderer).await }
    }

    /// Reports why a turn has no end, and how to repeat it.
    fn refusal(&self, status: &Status, names: &Names) -> Failure {
        let Names { session_id, turn_id } = names;
        if self.json {
            let error = client::refusal_as_json(status);
            let line = json!({"turn_id": turn_id, "session_id": session_id, "error": error});
            if let Err(failure) = console::json(&line) {
                return failure;
            }
        }
        let request = if turn_id.is_empty() { String::new() } else { format!(" --request-id {turn_id}") };
        let again = format!(
            "Ask the same again, so that nothing is written twice: toolwire chat --session {session_id}{request}{} \"...\"",
            self.connection.to_flags()
        );
        client::refusal_or_lost(status, &again)
    }

    /// Prompts for a decision at the terminal.
    async fn decide(&self, turn_id: String, paused: Paused) -> Result<Result<End, String>, Failure> {
        if self.json {
            return Ok(Ok(End::Undecided));
        }
        for call in &paused.pending {
            let Some(required) = &call.confirmation_required else { continue };
            let answer = select! {
                answer = decision::ask(self.backend, required, self.connection) => answer?,
                () = wait_for_interrupt() => return Ok(Ok(End::Interrupted { turn_id, paused })),
            };
            if answer == decision::PromptOutcome::Undecided {
                for line in show::waiting(&turn_id, &paused, &self.connection.to_flags()) {
                    console::say(&line);
                }
                return Ok(Ok(End::Undecided));
            }
        }
        Ok(Err(turn_id))
    }
}

impl Names {
    fn take(&mut self, event: &TurnEvent) {
        self.turn_id.clone_from(&event.turn_id);
        if let Some(Event::Started(started)) = &event.event {
            self.session_id.clone_from(&started.session_id);
        }
    }
}

fn end_of(reply: &Reply) -> End {
    match reply.outcome() {
        TurnOutcome::Degraded | TurnOutcome::ModelFailed => End::Failed,
        _ => End::Answered,
    }
}

/// For programs: every event as one line of JSON.
async fn as_lines(mut events: TurnEvents, names: &mut Names) -> Result<Result<TurnEvent, Failure>, Status> {
    let mut last = TurnEvent::default();
    while let Some(event) = events.next().await {
        last = event?;
        names.take(&last);
        let line: Value = json::message(&last);
        if let Err(failure) = console::json(&line) {
            return Ok(Err(failure));
        }
    }
    Ok(Ok(last))
}

/// For people: what happens, in words, and the answer as it comes.
async fn show(
    mut events: TurnEvents,
    names: &mut Names,
    renderer: &mut show::TurnRenderer,
) -> Result<Result<TurnEvent, Failure>, Status> {
    let mut narrator = Some(Narrator::on_terminal());
    let mut last = TurnEvent::default();
    // On a status the bar is dropped before the status is printed.
    while let Some(event) = events.next().await {
        last = event?;
        names.take(&last);
        if let Err(failure) = show_event(&last, renderer, &mut narrator) {
            return Ok(Err(failure));
        }
    }
    Ok(Ok(last))
}

/// Shows an event in words, and the text of the answer on standard output.
pub(crate) fn show_event(
    event: &TurnEvent,
    renderer: &mut show::TurnRenderer,
    narrator: &mut Option<Narrator>,
) -> Result<(), Failure> {
    match &event.event {
        Some(Event::AnswerDelta(delta)) => {
            // The bar and the answer would write over each other.
            *narrator = None;
            renderer.print_answer(&delta.text)?;
        }
        Some(Event::Final(reply)) => {
            *narrator = None;
            renderer.print_end(reply)?;
        }
        Some(event) => {
            for line in renderer.lines(event) {
                match narrator {
                    Some(narrator) => narrator.tell(&line),
                    None => console::say(&line),
                }
            }
        }
        None => {}
    }
    Ok(())
}
