//! The agent: answers a message by calling tools, with citations that are checked (specs 000, 003, 004 §5.3).
//!
//! It is a caller like any other: it has no way to a tool but the pipeline, and no rights but its user's. The messages
//! of `toolwire.agent.v1` are what a turn says, whichever face it came in by; data in them is JSON text here. Not here:
//! which turns may begin, and whose they are (`service`).

pub mod answer;
mod asking;
mod cycle;
mod draft;
pub mod ground;
pub mod log;
pub mod memory;
mod parts;
pub mod plan;
pub mod policy;
mod reply;
mod run;
pub mod running;
pub mod turn;

use std::{sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use tokio::{select, time::sleep_until};
use tokio_util::sync::CancellationToken;

pub use self::{
    asking::{Asking, Budget, TurnId},
    parts::{Mode, Parts},
};
use self::{
    log::Log,
    memory::{Ending, Memory, Session},
    plan::Offer,
    run::{Beginning, Turn, unavailable},
};
use crate::{
    clock,
    config::Agent as Settings,
    contract::{
        Refusal, TurnRefusal,
        convert::timestamp,
        proto::agent::v1::{TurnStarted, turn_event::Event},
        status,
    },
    registry::{RegisteredTool, Status, ToolType},
    telemetry::metric,
};

/// At most so much of a turn's time is kept for its answer.
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

    /// Carries a turn out, as long as somebody reads what it says and nobody cancels it. Its end, which is kept and yet
    /// to be told.
    pub fn carry_out<'a>(
        &'a self,
        asking: &'a Asking,
        log: &'a Log,
        cancelled: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Event, Refusal>> {
        Box::pin(self.carried_out(asking, log, cancelled))
    }

    async fn carried_out(
        &self,
        asking: &Asking,
        log: &Log,
        cancelled: &CancellationToken,
    ) -> Result<Event, Refusal> {
        let began = clock::now();
        let memory = self.memory(asking);
        let end = select! {
            // The deadline wins a tie.
            biased;
            () = sleep_until(asking.context.deadline.at()) => Err(Refusal::DeadlineExceeded),
            () = cancelled.cancelled() => Err(TurnRefusal::Cancelled.into()),
            () = log.abandoned() => Err(Refusal::CallerGone),
            end = self.turn(asking, log, &memory) => end,
            never = log.keep_talking() => match never {},
        };
        let outcome = end.as_ref().map_or_else(status::reason_of, |(_, outcome)| outcome);
        metric::turn_ended(self.0.mode.word(), outcome, clock::now() - began);
        tracing::info!(
            target: "toolwire::agent",
            user_id = %asking.context.user.id,
            turn_id = %asking.turn_id,
            session_id = %asking.session,
            outcome,
            "turn"
        );
        // One that goes on from where it paused can do so again, unless somebody wants it no more.
        let is_over = asking.standing.is_none() || matches!(end, Err(Refusal::Turn(_)));
        if end.is_err()
            && is_over
            && let Err(error) = memory.end(&Ending::Cancelled, &[], false).await
        {
            tracing::error!(%error, "a cancelled turn cannot be kept");
        }
        end.map(|(event, _)| event)
    }

    fn memory(&self, asking: &Asking) -> Session {
        Session {
            store: Arc::clone(&self.0.sessions),
            user: asking.context.user.id.clone(),
            session: asking.session.clone(),
            turn_id: asking.turn_id,
            message: asking.message.clone(),
            account: asking.account.clone(),
            created_at: asking.created_at,
        }
    }

    /// Carries a turn out to its end: the event that tells it, and the word for it.
    async fn turn(
        &self,
        asking: &Asking,
        log: &Log,
        memory: &dyn Memory,
    ) -> Result<(Event, &'static str), Refusal> {
        let parts = &*self.0;
        let offer = self.offer(asking);
        log.tell(Event::Started(TurnStarted {
            session_id: asking.session.to_string(),
            mode: parts.mode.word().to_owned(),
            model: parts.model.clone(),
            tools_offered: u32::try_from(offer.tools().len()).unwrap_or(u32::MAX),
            deadline: Some(timestamp(clock::wall_at(asking.context.deadline.at()))),
        }));
        let remembered = memory.messages().await.map_err(|error| unavailable(&error))?;
        let left = asking.context.remaining();
        let until = asking.context.deadline.at() - (left / 5).min(RESERVED);
        let beginning = Beginning { parts, asking, log, memory, offer, remembered, until };
        Turn::new(beginning).run().await
    }

    /// What the turn may call: functions that the user may call and that need no documents of a task.
    fn offer(&self, asking: &Asking) -> Offer {
        let user = &asking.context.user;
        let is_offered = |tool: &RegisteredTool| {
            let definition = &tool.definition;
            definition.kind == ToolType::Function
                && !matches!(definition.status, Status::Disabled(_))
                && !needs_task(tool)
                && asking.tags.iter().all(|tag| definition.tags.contains(tag))
                && self.0.policy.may_call(user, &definition.name)
        };
        self.0.offers.of(&self.0.registry.snapshot(), &user.id, is_offered)
    }
}

/// Whether a tool works on the documents of a task, of which a conversation has none.
fn needs_task(tool: &RegisteredTool) -> bool {
    let services = tool.executor.as_ref().map(|executor| executor.services());
    services.is_some_and(|services| services.needs::<crate::workspace::Workspace>())
}
