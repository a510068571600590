//! Wires the agent: its planner and its answerer, or the model in their place, and what the domains say of their tools.

use std::sync::Arc;

use super::answers::Answers;
use crate::service::{
    confirmations::Confirmations,
    jobs::{self, Jobs},
    runs::{self, Role, Roles, Runs},
    tasks::Tasks,
    turns::{self, Turns},
};
use toolwire_agent::{Agent, Mode, ModelParts, Parts, prompts::Prompts};
use toolwire_base::files::{Problem, Problems};
use toolwire_config::{AgentAnswerer, AgentPlanner, AgentRole, Config};
use toolwire_engine::{
    pipeline::{Pipeline, Policy},
    registry::Registry,
};
use toolwire_planner::{Offers, embedded::Embedded as Planner};
use toolwire_sources::{
    models::{Model, genai::Remote},
    upstream::source_status::SourceLimits,
};
use toolwire_store::Store;

pub(super) struct Wiring<'a> {
    pub(super) config: &'a Config,
    pub(super) answers: Answers,
    pub(super) offers: Arc<Offers>,
    pub(super) state: &'a Arc<Store>,
    pub(super) registry: &'a Arc<Registry>,
    pub(super) policy: &'a Arc<dyn Policy>,
    pub(super) pipeline: &'a Arc<Pipeline>,
    pub(super) confirmations: &'a Confirmations,
    pub(super) limits: &'a Arc<dyn SourceLimits>,
}

/// What the agent asks its model with, if it asks one.
fn model_parts(config: &Config) -> Result<Option<ModelParts>, Problems> {
    let asked = &config.agent_model;
    let Some(model) = asked.model.as_deref().filter(|_| asked.asks()) else { return Ok(None) };
    let Some(model) = remote(config, model)? else { return Ok(None) };
    Ok(Some(ModelParts { model, answers: asked.answerer == AgentAnswerer::Model, fallback: asked.fallback }))
}

/// A model by its name in the settings. Nothing is connected to yet.
fn remote(config: &Config, name: &str) -> Result<Option<Arc<dyn Model>>, Problems> {
    let Some(configured) = config.models.get(name) else { return Ok(None) };
    let unusable = |error| {
        let what = format!("the model [models.{name}] cannot be asked: {error}");
        Problems(vec![Problem::new("toolwire.toml", "unusable-model", what)])
    };
    Ok(Some(Arc::new(Remote::new(configured).map_err(unusable)?)))
}

/// The agents that work on tasks, by role.
fn roles(config: &Config) -> Result<Roles, Problems> {
    let role = |role: &AgentRole| {
        let model = role.model.as_deref().map(|name| remote(config, name)).transpose()?.flatten();
        let made = Role { prompt: role.prompt.clone(), tools: role.tools.clone(), model };
        Ok((role.name.clone(), made))
    };
    config.agent_roles.0.iter().map(role).collect()
}

const fn mode(planner: AgentPlanner) -> Mode {
    match planner {
        AgentPlanner::Embedded => Mode::Embedded,
        AgentPlanner::Prompted => Mode::Plan,
        AgentPlanner::Native => Mode::Native,
    }
}

pub(super) fn turns(wiring: Wiring<'_>) -> Result<Turns, Problems> {
    let Answers { answerer, contexts, in_full, prompts } = wiring.answers;
    let model_parts = model_parts(wiring.config)?;
    let model = model_parts.as_ref().map_or(Mode::Embedded.into_str(), |it| it.model.id()).to_owned();
    let agent = Agent::new(Parts {
        pipeline: Arc::clone(wiring.pipeline),
        registry: Arc::clone(wiring.registry),
        policy: Arc::clone(wiring.policy),
        offers: wiring.offers,
        contexts,
        in_full,
        mode: mode(wiring.config.agent_model.planner),
        model,
        planner: Arc::new(Planner),
        answerer: Arc::clone(&answerer) as _,
        embedded: answerer,
        model_parts,
        prompts: prompts.unwrap_or_else(|| Arc::new(Prompts::built_in())),
        sessions: Arc::clone(wiring.state),
        settings: wiring.config.agent,
        limits: Arc::clone(wiring.limits),
        log_arguments: wiring.config.log.arguments,
    });
    Ok(Turns::new(turns::Parts {
        agent,
        store: Arc::clone(wiring.state),
        confirmations: wiring.confirmations.clone(),
    }))
}

/// Work in the background, by the same agent.
pub(super) fn jobs(turns: &Turns, state: &Arc<Store>) -> Jobs {
    let agent = turns.agent().clone();
    let model = agent.parts().model_parts.as_ref().map(|it| Arc::clone(&it.model));
    Jobs::new(jobs::Parts { agent, store: Arc::clone(state), model })
}

/// Tasks that the same agent works on.
pub(super) fn runs(turns: &Turns, tasks: &Tasks, config: &Config) -> Result<Runs, Problems> {
    let agent = turns.agent().clone();
    let model = agent.parts().model_parts.as_ref().map(|it| Arc::clone(&it.model));
    Ok(Runs::new(runs::Parts { agent, tasks: tasks.clone(), model, roles: roles(config)? }))
}
