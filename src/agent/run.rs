//! Carries out each state of a turn (`turn`), from the first plan to the reply.

mod answering;
mod clarification;
mod consent;
mod correction;
pub(super) mod events;
mod planning;
mod unread_parts;

use std::mem;

use futures_util::future::BoxFuture;
use tokio::time::Instant;

use super::{
    Mode, Parts, TurnRequest,
    cycle::{Caller, Cycle, StepOutcome},
    draft::Draft,
    log::Log,
    long_work::migrate_if_long,
    memory::{Checkpoint, Ending, Memory, Pending, Remembered, StoredExecution},
    prompt_view,
    proposal::Proposal,
    reply,
    turn::{self, Event, Outcome, State},
    turn_models::TurnModels,
};
use toolwire_base::clock;
use toolwire_contract::{Refusal, proto::agent::v1::turn_event::Event as LogEvent};
use toolwire_db::StoreError;
use toolwire_planner::{Exchange, ExecutedCall, Offer, PlanRequest, PlannedCall};
use toolwire_sources::upstream::source_status::SourceBudget;
use toolwire_telemetry::metric;
use toolwire_tool::context::{Ledger, ToolContext};

/// The warning of a turn that goes on without its model.
const WITHOUT_MODEL: &str = "the model failed; this was made without it";

#[derive(Debug)]
pub(super) struct Turn<'a> {
    parts: &'a Parts,
    request: &'a TurnRequest,
    log: &'a Log,
    memory: &'a dyn Memory,
    /// The context of the calls.
    context: ToolContext,
    ledger: Ledger,
    offer: Offer,
    history: Vec<Exchange>,
    cycle: Cycle,
    /// The calls of the next step, until they are made.
    next_calls: NextCalls,
    /// The proposal of the turn before.
    proposed: Option<Proposal>,
    /// Whether the message answers that proposal with neither yes nor no, which drops it.
    drops_proposal: bool,
    /// From then on nothing is planned or called: the rest of the time is for the answer.
    until: Instant,
    /// The budget of one user at each source.
    budgets: Vec<SourceBudget>,
    /// The planner and the answerer.
    chosen: TurnModels,
    draft: Draft,
}

/// The calls that a step makes.
#[derive(Debug)]
enum NextCalls {
    /// Those of the last plan.
    Planned(Vec<PlannedCall>),
    /// Those that waited for persons, or for the user's yes.
    Pending(Vec<Pending>),
}

impl Default for NextCalls {
    fn default() -> Self {
        Self::Planned(Vec::new())
    }
}

/// The parts of a new [`Turn`].
pub(super) struct Beginning<'a> {
    pub(super) parts: &'a Parts,
    pub(super) request: &'a TurnRequest,
    pub(super) log: &'a Log,
    pub(super) memory: &'a dyn Memory,
    pub(super) offer: Offer,
    pub(super) remembered: Remembered,
    pub(super) until: Instant,
}

impl<'a> Turn<'a> {
    pub(super) fn new(beginning: Beginning<'a>) -> Self {
        let Beginning { parts, request, log, memory, offer, remembered, until } = beginning;
        let ledger = Ledger::default();
        let context = ToolContext { ledger: Some(ledger.clone()), ..request.context.clone() };
        let Remembered { history, tainted, proposal } = remembered;
        let mut draft = Draft::default();
        let (mut cycle, mut next_calls) = (Cycle::new(request.budget), NextCalls::default());
        if let Some(mut checkpoint) = request.checkpoint.clone() {
            if !checkpoint.pending.is_empty() {
                next_calls = NextCalls::Pending(mem::take(&mut checkpoint.pending));
            }
            draft.proposal = checkpoint.proposal.take();
            draft.confidence = checkpoint.confidence;
            cycle = Cycle::resume_from(checkpoint, request.was_tainted, &offer);
        }
        cycle.tainted |= tainted;
        let budgets = parts.limits.budgets();
        let chosen = TurnModels::of(parts, request, &budgets);
        Self {
            parts,
            request,
            log,
            memory,
            context,
            ledger,
            offer,
            history,
            cycle,
            next_calls,
            proposed: proposal,
            drops_proposal: false,
            until,
            budgets,
            chosen,
            draft,
        }
    }

    /// Carries the turn out to its end. Returns the last event, which is stored but not yet sent, and its outcome for
    /// metrics.
    pub(super) fn run(self) -> BoxFuture<'a, Result<(LogEvent, &'static str), Refusal>> {
        Box::pin(self.steps())
    }

    async fn steps(mut self) -> Result<(LogEvent, &'static str), Refusal> {
        let mut state = match self.next_calls {
            NextCalls::Planned(_) => State::Plan,
            NextCalls::Pending(_) => State::Execute,
        };
        loop {
            migrate_if_long(&self.request.message, &self.history, &self.cycle.made).await;
            let event = match state {
                State::Plan => self.plan().await,
                State::Execute => self.execute().await,
                State::Answer(outcome, attempt) => self.answer(outcome, attempt).await,
                State::Validate(_, attempt) => self.validate(attempt),
                State::Paused => return self.pause().await,
                State::Done(outcome) => return self.finish(outcome).await,
            };
            // An event that the table does not have is a defect of the planner or the answerer: the turn ends.
            state = turn::next(state, event).unwrap_or(State::Done(Outcome::ModelFailed));
        }
    }

    fn plan_request(&self) -> PlanRequest<'_> {
        PlanRequest {
            message: &self.request.message,
            account: Some(self.request.account.as_str()).filter(|account| !account.is_empty()),
            history: &self.history,
            made: &self.cycle.made,
            offer: &self.offer,
            today: chrono::DateTime::<chrono::Utc>::from(clock::wall()).date_naive(),
        }
    }

    async fn execute(&mut self) -> Event {
        let made_before = self.cycle.made.len();
        let caller = Caller {
            pipeline: &self.parts.pipeline,
            context: &self.context,
            turn_id: self.request.turn_id,
            offer: &self.offer,
            log: self.log,
            step: self.cycle.steps,
            tainted: self.is_tainted(),
            until: self.until,
            concurrency: self.parts.settings.concurrency as usize,
            budgets: &self.budgets,
            log_arguments: self.parts.log_arguments,
            result_tokens: (self.parts.mode != Mode::Embedded)
                .then(|| prompt_view::result_tokens(self.chosen.meter.most())),
        };
        let stepped = match mem::take(&mut self.next_calls) {
            NextCalls::Planned(calls) => self.cycle.step(&caller, calls).await,
            NextCalls::Pending(calls) => self.cycle.resume(&caller, calls).await,
        };
        match stepped {
            StepOutcome::Results => {
                self.correction_question(made_before).map_or(Event::Results, |question| {
                    self.draft.question = Some(question);
                    Event::Question
                })
            }
            StepOutcome::Awaits => Event::Confirmation,
            StepOutcome::Stopped(tool, error) => {
                self.log.tell(LogEvent::Alert(events::alert(&self.offer, &tool, &error)));
                Event::Stop
            }
            StepOutcome::Spent => Event::Spent,
        }
    }

    /// Whether text from outside may have decided what is called: never without a model, which alone reads results.
    fn is_tainted(&self) -> bool {
        self.cycle.tainted && self.parts.mode != Mode::Embedded
    }

    /// The question for the user if no model can correct the arguments and every call of the step failed by them.
    fn correction_question(&self, made_before: usize) -> Option<String> {
        let new = &self.cycle.made[made_before..];
        let broken = |made: &ExecutedCall| made.result.outcome.as_ref().is_err_and(correction::may_help);
        if self.parts.mode != Mode::Embedded || new.is_empty() || !new.iter().all(broken) {
            return None;
        }
        let errors = new.iter().filter_map(|made| made.result.outcome.as_ref().err());
        Some(correction::question(errors))
    }

    async fn pause(self) -> Result<(LogEvent, &'static str), Refusal> {
        let (paused, pending) = events::pause(&self.cycle.pending);
        let (budget, usage) = (self.cycle.budget(), self.chosen.meter.usage());
        let kept = self.cycle.made.iter().zip(&self.cycle.call_ids);
        let checkpoint = Checkpoint {
            tags: self.request.tags.clone(),
            unread: self.request.unread.clone(),
            steps: self.cycle.steps,
            calls: self.cycle.calls,
            position: self.cycle.position(),
            confidence: self.draft.confidence,
            bounds: [budget.max_steps, budget.max_calls, budget.max_tokens],
            tokens: [usage.input_tokens, usage.output_tokens],
            made: kept.map(|(made, call_id)| StoredExecution::of(made, call_id)).collect(),
            pending,
            proposal: self.draft.proposal.clone(),
        };
        let ending = Ending::Paused(Box::new(paused.clone()), Box::new(checkpoint));
        self.keep(&ending).await?;
        Ok((LogEvent::Paused(paused), "PAUSED"))
    }

    async fn finish(mut self, outcome: Outcome) -> Result<(LogEvent, &'static str), Refusal> {
        // In the order of the reply: the question about the proposal is its last sentence, which a yes answers.
        self.fill_empty_answer(outcome);
        self.name_unread_parts();
        self.tell_dropped_proposal();
        self.ask_about_proposal();
        let reply = reply::reply(&reply::Parts {
            request: self.request,
            model: &self.parts.model,
            fuller_tools: &self.parts.fuller_tools,
            usage: self.chosen.meter.usage(),
            offer: &self.offer,
            cycle: &self.cycle,
            ledger: &self.ledger,
            draft: &self.draft,
            outcome,
        });
        if !self.draft.citations.is_empty() {
            self.log.tell(LogEvent::Citations(reply::citations(&reply)));
        }
        // Stored before the final event is sent: a turn that its caller has seen end is remembered by the next one.
        self.keep(&Ending::Ended(Box::new(reply.clone()), self.draft.proposal.clone())).await?;
        metric::cycle_ended("turn", self.cycle.calls);
        Ok((LogEvent::Final(reply), outcome.into_str()))
    }

    async fn keep(&self, ending: &Ending) -> Result<(), Refusal> {
        let kept = self.memory.end(ending, &self.cycle.planned, self.cycle.tainted).await;
        kept.map_err(|error| unavailable(&error))
    }
}

/// Logs why the state is unavailable, and refuses the turn with a time to retry.
pub(super) fn unavailable(error: &StoreError) -> Refusal {
    tracing::error!(%error, "a conversation cannot be read or kept");
    Refusal::StateUnavailable { retry_after: std::time::Duration::from_secs(5) }
}
