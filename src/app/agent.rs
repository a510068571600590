//! The agent: its planner and its answerer, with what the domains say of their tools.

use std::sync::Arc;

use super::answers::Answers;
use crate::{
    agent::{
        Agent, Mode, Parts,
        plan::{Offers, embedded::Embedded as Planner},
    },
    config::Config,
    pipeline::{Pipeline, Policy},
    registry::Registry,
    service::{
        confirmations::Confirmations,
        turns::{self, Turns},
    },
    store::Sqlite,
    upstream::source_status::SourceLimits,
};

/// What the agent is wired with.
pub(super) struct Wiring<'a> {
    pub(super) config: &'a Config,
    pub(super) answers: Answers,
    pub(super) offers: Arc<Offers>,
    pub(super) state: &'a Arc<Sqlite>,
    pub(super) registry: &'a Arc<Registry>,
    pub(super) policy: &'a Arc<dyn Policy>,
    pub(super) pipeline: &'a Arc<Pipeline>,
    pub(super) confirmations: &'a Confirmations,
    pub(super) limits: &'a Arc<dyn SourceLimits>,
}

/// Conversations.
pub(super) fn turns(wiring: Wiring<'_>) -> Turns {
    let Answers { answerer, contexts } = wiring.answers;
    let agent = Agent::new(Parts {
        pipeline: Arc::clone(wiring.pipeline),
        registry: Arc::clone(wiring.registry),
        policy: Arc::clone(wiring.policy),
        offers: wiring.offers,
        contexts,
        mode: Mode::Embedded,
        model: Mode::Embedded.word().to_owned(),
        planner: Arc::new(Planner),
        answerer: Arc::clone(&answerer) as _,
        embedded: answerer,
        sessions: Arc::clone(wiring.state) as _,
        settings: wiring.config.agent,
        limits: Arc::clone(wiring.limits),
        log_arguments: wiring.config.log.arguments,
    });
    Turns::new(turns::Parts {
        agent,
        store: Arc::clone(wiring.state) as _,
        confirmations: wiring.confirmations.clone(),
    })
}
