//! One turn at the terminal: its events as they come, and its end.

use futures_util::StreamExt;

use super::show;
use crate::{
    cli::{backend::Backend, call::decision, json},
    client,
    console::{self, Failure, Narrator},
    contract::proto::agent::v1::{Paused, Reply, TurnEvent, TurnInput, TurnOutcome, turn_event::Event},
    faces::grpc::agent::Events,
};

/// One turn.
pub(super) struct Turn<'a> {
    pub(super) backend: &'a Backend,
    pub(super) json: bool,
    /// By which another command finds the same.
    pub(super) flags: String,
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// With an answer, or a question.
    Answered,
    /// With neither.
    Failed,
    /// A person must decide yet.
    Undecided,
}

impl Turn<'_> {
    /// Carries the turn out; the error is the turn that can be gone on with, now that it is decided.
    pub(super) async fn carry_out(&self, input: TurnInput) -> Result<Result<End, String>, Failure> {
        let reasons = self.backend.reasons();
        let events = self.backend.chat(input).await.map_err(|status| client::refused(&status))?;
        let last = if self.json { as_lines(events).await? } else { shown(events).await? };
        reasons.tell();
        match last.event {
            Some(Event::Final(reply)) => Ok(Ok(end_of(&reply))),
            Some(Event::Paused(paused)) => self.decide(last.turn_id, paused).await,
            _ => Err(Failure::Failed("the stream ended without an answer; ask again".to_owned())),
        }
    }

    /// Asks whoever is at the terminal to decide.
    async fn decide(&self, turn_id: String, paused: Paused) -> Result<Result<End, String>, Failure> {
        if self.json {
            return Ok(Ok(End::Undecided));
        }
        for call in &paused.pending {
            let Some(required) = &call.confirmation_required else { continue };
            if decision::ask(self.backend, required, &self.flags).await? == decision::Answer::Undecided {
                console::say(&format!(
                    "The turn waits. Once it is decided: toolwire chat --resume {turn_id}{}",
                    self.flags
                ));
                return Ok(Ok(End::Undecided));
            }
        }
        Ok(Err(turn_id))
    }
}

fn end_of(reply: &Reply) -> End {
    match reply.outcome() {
        TurnOutcome::Degraded | TurnOutcome::ModelFailed => End::Failed,
        _ => End::Answered,
    }
}

/// For programs: every event as one line of JSON. The last one.
async fn as_lines(mut events: Events) -> Result<TurnEvent, Failure> {
    let mut last = TurnEvent::default();
    while let Some(event) = events.next().await {
        last = event.map_err(|status| client::refused(&status))?;
        console::print(&json::message(&last).to_string())?;
    }
    Ok(last)
}

/// For people: what happens, in words, and the answer as it comes. The last event.
async fn shown(mut events: Events) -> Result<TurnEvent, Failure> {
    let mut narrator = Some(Narrator::on_terminal());
    let mut shower = show::Shower::default();
    let mut last = TurnEvent::default();
    while let Some(event) = events.next().await {
        last = match event {
            Ok(event) => event,
            Err(status) => {
                drop(narrator);
                return Err(client::refused(&status));
            }
        };
        match &last.event {
            Some(Event::AnswerDelta(delta)) => {
                // The bar and the answer would write over each other.
                narrator = None;
                console::bytes(shower.answer(&delta.text).as_bytes())?;
            }
            Some(Event::Final(reply)) => {
                narrator = None;
                console::bytes(shower.answer_end().as_bytes())?;
                for line in show::end(reply) {
                    console::say(&line);
                }
            }
            Some(event) => {
                for line in shower.lines(event) {
                    match &narrator {
                        Some(narrator) => narrator.tell(&line),
                        None => console::say(&line),
                    }
                }
            }
            None => {}
        }
    }
    drop(narrator);
    Ok(last)
}
