//! The agent: answers a message by calling tools, with citations that are checked.
//!
//! It is a caller like any other: it has no way to a tool but the pipeline, and no rights but its user's. The messages
//! of `toolwire.agent.v1` are what a turn says, whichever face it came in by; data in them is JSON text here. Not here:
//! what domains say of themselves for conversations (`toolwire_agent_api`).

pub mod active_turns;
pub mod answer;
mod cycle;
mod domain;
mod draft;
pub mod faces;
pub mod fuller_tools;
pub mod ground;
mod help;
pub mod job;
pub mod log;
mod long_work;
pub mod memory;
mod meter;
mod metered_model;
mod parts;
pub mod planners;
mod prompt_view;
pub mod prompts;
pub mod proposal;
mod reply;
mod run;
pub mod service;
mod source_counts;
pub mod stored_call;
pub mod turn;
mod turn_models;
mod turn_request;

use std::{sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use tokio::{select, time::sleep_until};
use tokio_util::sync::CancellationToken;

pub use self::{
    domain::domain,
    parts::{Mode, ModelParts, Parts},
    turn_request::{Budget, TurnRequest},
};
use self::{
    log::Log,
    long_work::migrate_if_long,
    memory::{Ending, Memory, Remembered, Session},
    run::{Beginning, Turn, unavailable},
};
use toolwire_base::{clock, offload};
use toolwire_config::Agent as Settings;
use toolwire_contract::{
    Refusal, TurnRefusal,
    convert::timestamp,
    proto::agent::v1::{TurnStarted, turn_event::Event},
    status,
};
use toolwire_engine::{
    model::READ_RESULT,
    registry::{Category, RegisteredTool, Status, ToolType},
};
use toolwire_planner::Offer;
use toolwire_telemetry::metric;
use toolwire_tool::context::{RequestId, User};

/// Names a turn: the idempotency key of its request.
pub type TurnId = RequestId;

/// Upper bound on the part of a turn's time that is reserved for its answer.
const RESERVED: Duration = Duration::from_secs(10);

/// The agent. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Agent(Arc<Parts>);

impl Agent {
    /// The agent of these parts.
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    /// What it is made of.
    pub fn parts(&self) -> &Parts {
        &self.0
    }

    /// What turns may spend.
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// Carries a turn out until it ends, is cancelled, or loses its last reader. Returns the last event, which is
    /// stored but not yet sent.
    pub fn carry_out<'a>(
        &'a self,
        request: &'a TurnRequest,
        log: &'a Log,
        cancelled: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Event, Refusal>> {
        Box::pin(self.run(request, log, cancelled))
    }

    async fn run(
        &self,
        request: &TurnRequest,
        log: &Log,
        cancelled: &CancellationToken,
    ) -> Result<Event, Refusal> {
        let began = clock::now();
        let memory = self.memory(request);
        let end = select! {
            // The deadline wins a tie.
            biased;
            () = sleep_until(request.context.deadline.at()) => Err(Refusal::DeadlineExceeded),
            () = cancelled.cancelled() => Err(TurnRefusal::Cancelled.into()),
            () = log.abandoned() => Err(Refusal::CallerGone),
            end = self.turn(request, log, &memory) => end,
            never = log.keep_talking() => match never {},
        };
        let outcome = end.as_ref().map_or_else(status::reason_of, |(_, outcome)| outcome);
        self.report(request, outcome, clock::now() - began);
        // A turn that was resumed can be resumed again, unless its user cancelled it.
        let is_over = request.checkpoint.is_none() || matches!(end, Err(Refusal::Turn(_)));
        if end.is_err()
            && is_over
            && let Err(error) = memory.end(&Ending::Cancelled, &[], false).await
        {
            tracing::error!(%error, "a cancelled turn cannot be kept");
        }
        end.map(|(event, _)| event)
    }

    /// Records the end of a turn in metrics and in the log.
    fn report(&self, request: &TurnRequest, outcome: &'static str, duration: Duration) {
        metric::turn_ended(self.0.mode.into_str(), outcome, duration);
        tracing::info!(
            target: "toolwire::agent",
            user_id = %request.context.user.id,
            turn_id = %request.turn_id,
            session_digest = %request.session.digest(),
            outcome,
            "turn"
        );
    }

    fn memory(&self, request: &TurnRequest) -> Session {
        Session {
            store: Arc::clone(&self.0.sessions),
            user: request.context.user.id.clone(),
            session: request.session.clone(),
            turn_id: request.turn_id,
            message: request.message.clone(),
            account: request.account.clone(),
            created_at: request.created_at,
        }
    }

    /// Carries a turn out to its end. Returns the last event, and its outcome for metrics.
    async fn turn(
        &self,
        request: &TurnRequest,
        log: &Log,
        memory: &dyn Memory,
    ) -> Result<(Event, &'static str), Refusal> {
        let parts = &*self.0;
        let remembered = memory.messages().await.map_err(|error| unavailable(&error))?;
        let remembered = remembered.after_callers_history(&request.before);
        if !parts.offers.is_indexed(&parts.registry.snapshot()) {
            offload::migrate().await;
        }
        migrate_if_long(&request.message, &remembered.history, &[]).await;
        let offer = self.offer(request, &remembered);
        log.tell(Event::Started(TurnStarted {
            session_id: request.session.to_string(),
            mode: parts.mode.into_str().to_owned(),
            model: parts.model.clone(),
            tools_offered: u32::try_from(offer.tools().len()).unwrap_or(u32::MAX),
            deadline: Some(timestamp(clock::wall_at(request.context.deadline.at()))),
        }));
        let left = request.context.remaining();
        let until = request.context.deadline.at() - (left / 5).min(RESERVED);
        let beginning = Beginning { parts, request, log, memory, offer, remembered, until };
        Turn::new(beginning).run().await
    }

    /// The tools of a job: functions that the user may call, that only read, and that need no documents of a task.
    pub(crate) fn reads(&self, user: &User) -> Offer {
        let is_offered = |tool: &RegisteredTool| {
            let definition = &tool.definition;
            definition.kind == ToolType::Function
                && definition.category == Category::Read
                && !matches!(definition.status, Status::Disabled(_))
                // A conversation has no documents.
                && !tool.works_on_documents()
                && self.0.policy.may_call(user, definition.rule_target())
        };
        self.0.offers.of(&self.0.registry.snapshot(), &user.id, is_offered)
    }

    /// The tools of a turn: functions that the user may call and that need no documents of a task. A model can ask the
    /// user too, and read on in long results, and is offered no more tools than it can choose from.
    fn offer(&self, request: &TurnRequest, remembered: &Remembered) -> Offer {
        let user = &request.context.user;
        let plans_by_model = self.0.mode != Mode::Embedded;
        let is_offered = |tool: &RegisteredTool| {
            let definition = &tool.definition;
            let is_for_models =
                definition.kind == ToolType::AskMaster || definition.name.as_str() == READ_RESULT;
            (plans_by_model || !is_for_models)
                && matches!(definition.kind, ToolType::Function | ToolType::AskMaster)
                && !matches!(definition.status, Status::Disabled(_))
                // A conversation has no documents.
                && !tool.works_on_documents()
                && request.tags.iter().all(|tag| definition.tags.contains(tag))
                && self.0.policy.may_call(user, definition.rule_target())
        };
        let offer = self.0.offers.of(&self.0.registry.snapshot(), &user.id, is_offered);
        if !plans_by_model {
            return offer;
        }
        let called = remembered.history.iter().flat_map(|exchange| &exchange.calls);
        offer.narrow(&request.message, called.map(|call| call.tool.as_str()).chain([READ_RESULT]))
    }
}
