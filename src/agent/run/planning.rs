//! The next step of a turn: by its planner, or without the model if that fails and the turn may go on.

use std::{mem, sync::Arc};

use tokio::{select, time::sleep_until};

use super::{NextCalls, Turn, WITHOUT_MODEL, clarification, events};
use crate::{Mode, ground::ContextBundle, help, turn::Event};
use toolwire_base::clock;
use toolwire_contract::proto::agent::v1::turn_event::Event as LogEvent;
use toolwire_planner::{Plan, Step};

impl Turn<'_> {
    /// Plans the next step.
    pub(super) async fn plan(&mut self) -> Event {
        if !self.cycle.may_plan() || clock::now() >= self.until {
            return Event::Spent;
        }
        // A yes answers the proposal and is never planned: a planner could read it as something else.
        if let Some(event) = self.answer_proposal() {
            return event;
        }
        if self.parts.mode == Mode::Embedded && help::is_asked_for(&self.request.message) {
            self.draft.words = help::words(&self.offer);
            return Event::Question;
        }
        if self.offer.tools().is_empty() && self.parts.mode == Mode::Embedded {
            self.draft.question = Some("No tools are currently available.".to_owned());
            return Event::Question;
        }
        let plan = match self.next_plan().await {
            Ok(plan) => self.propose_changes(plan),
            Err(event) => return event,
        };
        // Announced before its calls are made, so that a reader sees the reason before the calls.
        self.cycle.steps += 1;
        self.log.tell(LogEvent::Plan(events::plan(&plan, self.cycle.steps)));
        self.draft.confidence = self.draft.confidence.min(plan.confidence.clamp(0.0, 1.0));
        self.take_step(plan.step)
    }

    /// Takes over what a plan decides: the calls to make, or what the answer is made of.
    fn take_step(&mut self, step: Step) -> Event {
        match step {
            Step::Call(calls) if !calls.is_empty() => {
                if let Some(question) = clarification::question(&calls, &self.offer) {
                    return self.ask_back(&question);
                }
                self.next_calls = NextCalls::Planned(calls);
                Event::Calls
            }
            Step::Offer { calls, unclear } => {
                self.propose(&calls, unclear);
                Event::Question
            }
            // All of its calls change something and became a proposal.
            Step::Call(_) if self.draft.proposal.is_some() => Event::Question,
            Step::Call(_) | Step::Answer => Event::NoCalls,
            Step::Say(text) => {
                self.draft.written = Some(text);
                Event::NoCalls
            }
            Step::Clarify(question) => {
                self.draft.question = Some(question);
                Event::Question
            }
            Step::Refuse(words) => {
                self.draft.words = words;
                Event::Question
            }
        }
    }

    /// The next plan. If the model fails, planner and answerer are replaced for the rest of the turn, once.
    async fn next_plan(&mut self) -> Result<Plan, Event> {
        loop {
            let plan = select! {
                biased;
                plan = self.chosen.planner.plan(self.plan_request()) => plan,
                () = sleep_until(self.until) => return Err(Event::Spent),
            };
            let error = match plan {
                // A model's own plan stays as it is: the model is shown the calls that it chose.
                Ok(plan) if self.parts.mode == Mode::Embedded => {
                    return Ok(self.parts.fuller_tools.plan(plan, &self.offer));
                }
                Ok(plan) => return Ok(plan),
                Err(error) if error.is_spent => {
                    self.draft.warnings.push(error.reason);
                    return Err(Event::Spent);
                }
                Err(error) => error,
            };
            self.draft.warnings.push(error.to_string());
            if !mem::take(&mut self.chosen.falls_back) {
                return Err(Event::Failed);
            }
            self.draft.warnings.push(WITHOUT_MODEL.to_owned());
            self.chosen.planner = Arc::clone(&self.parts.planner);
            self.chosen.answerer = Arc::clone(&self.parts.answerer);
            self.chosen.model_answers = false;
        }
    }

    /// Asks the user what a model wants to know.
    fn ask_back(&mut self, question: &str) -> Event {
        let bundle = ContextBundle::of(&self.plan_request(), &self.cycle.call_ids, &self.parts.contexts);
        self.draft.question = Some(clarification::check(question, &bundle, &self.plan_request()));
        Event::Question
    }
}
