//! The agent: its planner and its answerer, or the model that is asked instead, with what the domains say of their
//! tools.

use std::sync::Arc;

use super::answers::Answers;
use crate::{
    agent::{
        Agent, Mode, ModelParts, Parts,
        plan::{Offers, embedded::Embedded as Planner},
        prompts::Prompts,
    },
    config::{AgentAnswerer, AgentPlanner, Config},
    files::{Problem, Problems},
    models::{Model, genai::Remote},
    pipeline::{Pipeline, Policy},
    registry::Registry,
    service::{
        confirmations::Confirmations,
        jobs::{self, Jobs},
        runs::{self, Runs},
        tasks::Tasks,
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

/// What the agent asks its model with. Nothing is connected to yet.
fn model_parts(config: &Config, prompts: Option<&Arc<Prompts>>) -> Result<Option<ModelParts>, Problems> {
    let asked = &config.agent_model;
    let configured = asked.model.as_ref().and_then(|name| config.models.get(name));
    let (Some(prompts), Some(configured)) = (prompts, configured) else { return Ok(None) };
    let unusable = |error| {
        let what = format!("the model [models.{}] cannot be asked: {error}", configured.name);
        Problems(vec![Problem::new("toolwire.toml", "unusable-model", what)])
    };
    let model = Arc::new(Remote::new(configured).map_err(unusable)?) as Arc<dyn Model>;
    Ok(Some(ModelParts {
        model,
        prompts: Arc::clone(prompts),
        answers: asked.answerer == AgentAnswerer::Model,
        fallback: asked.fallback,
    }))
}

const fn mode(planner: AgentPlanner) -> Mode {
    match planner {
        AgentPlanner::Embedded => Mode::Embedded,
        AgentPlanner::Prompted => Mode::Plan,
        AgentPlanner::Native => Mode::Native,
    }
}

/// Conversations.
pub(super) fn turns(wiring: Wiring<'_>) -> Result<Turns, Problems> {
    let Answers { answerer, contexts, prompts } = wiring.answers;
    let model_parts = model_parts(wiring.config, prompts.as_ref())?;
    let model = model_parts.as_ref().map_or(Mode::Embedded.word(), |it| it.model.id()).to_owned();
    let agent = Agent::new(Parts {
        pipeline: Arc::clone(wiring.pipeline),
        registry: Arc::clone(wiring.registry),
        policy: Arc::clone(wiring.policy),
        offers: wiring.offers,
        contexts,
        mode: mode(wiring.config.agent_model.planner),
        model,
        planner: Arc::new(Planner),
        answerer: Arc::clone(&answerer) as _,
        embedded: answerer,
        model_parts,
        sessions: Arc::clone(wiring.state) as _,
        settings: wiring.config.agent,
        limits: Arc::clone(wiring.limits),
        log_arguments: wiring.config.log.arguments,
    });
    Ok(Turns::new(turns::Parts {
        agent,
        store: Arc::clone(wiring.state) as _,
        confirmations: wiring.confirmations.clone(),
    }))
}

/// Work in the background, by the same agent.
pub(super) fn jobs(turns: &Turns, state: &Arc<Sqlite>) -> Jobs {
    let agent = turns.agent().clone();
    let model = agent.parts().model_parts.as_ref().map(|it| Arc::clone(&it.model));
    Jobs::new(jobs::Parts { agent, store: Arc::clone(state) as _, model })
}

/// Tasks that the same agent works on.
pub(super) fn runs(turns: &Turns, tasks: &Tasks) -> Runs {
    let agent = turns.agent().clone();
    let model = agent.parts().model_parts.as_ref().map(|it| Arc::clone(&it.model));
    Runs::new(runs::Parts { agent, tasks: tasks.clone(), model })
}
