//! Wires the agent: its planner and its answerer, or the model in their place, and what the domains say of their tools.

use std::sync::Arc;

use super::answers::Answers;
use crate::{
    Agent, Mode, ModelParts, Parts,
    prompts::Prompts,
    service::{
        jobs::{self, Jobs},
        runs::{self, Role, Roles, Runs},
        turns::{self, Turns},
        upkeep::Rows,
    },
};
use toolwire_base::files::{Problem, Problems};
use toolwire_config::{AgentAnswerer, AgentPlanner, AgentRole, AgentRoles, Config, ToolPattern};
use toolwire_planner::embedded::Embedded as Planner;
use toolwire_server::domain::{Attached, Attaching, Cancel, SettingPattern};
use toolwire_sources::models::{Model, genai::Remote};
use toolwire_state::cancellations::Subject;
use toolwire_tool::context::Services;

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
    Ok(Some(Arc::new(Remote::new(configured, &config.egress).map_err(unusable)?)))
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

/// The patterns of the tools of roles.
fn patterns(roles: &AgentRoles) -> Vec<SettingPattern> {
    let of_role = |role: &AgentRole| -> Vec<_> {
        let pattern = |pattern: &ToolPattern| SettingPattern {
            setting: format!("agent.roles.{}: tools", role.name),
            of: format!("the role {}", role.name),
            pattern: pattern.clone(),
        };
        role.tools.iter().flatten().map(pattern).collect()
    };
    roles.0.iter().flat_map(of_role).collect()
}

const fn mode(planner: AgentPlanner) -> Mode {
    match planner {
        AgentPlanner::Embedded => Mode::Embedded,
        AgentPlanner::Prompted => Mode::Plan,
        AgentPlanner::Native => Mode::Native,
    }
}

/// The turns of conversations, and the work of the same agent on jobs and tasks.
pub(super) fn attach(answers: Answers, attaching: &Attaching<'_>) -> Result<Attached, Problems> {
    let &Attaching { config, state, tasks, confirmations, .. } = attaching;
    let agent = agent(answers, attaching)?;
    let model = agent.parts().model_parts.as_ref().map(|it| Arc::clone(&it.model));
    let store = Arc::clone(state);
    let jobs = Jobs::new(jobs::Parts { agent: agent.clone(), store, model: model.clone() });
    let (tasks, roles) = (tasks.clone(), roles(config)?);
    let runs = Runs::new(runs::Parts { agent: agent.clone(), tasks, model, roles });
    let (store, confirmations) = (Arc::clone(state), confirmations.clone());
    let turns = Turns::new(turns::Parts { agent, store, confirmations });
    Ok(Attached {
        drain: Some(Arc::new(jobs.clone())),
        cancel: cancel(&turns, &jobs),
        upkeep: Some(Arc::new(Rows(Arc::clone(state)))),
        patterns: patterns(&config.agent_roles),
        parts: Services::default()
            .with(Arc::new(turns))
            .with(Arc::new(jobs.starter()))
            .with(Arc::new(jobs))
            .with(Arc::new(runs)),
    })
}

/// What cancels turns and jobs that this process carries out.
fn cancel(turns: &Turns, jobs: &Jobs) -> Vec<(&'static str, Cancel)> {
    let (turns, jobs) = (turns.clone(), jobs.clone());
    let of_turns: Cancel = Arc::new(move |user, subject| turns.cancel_here(user, subject));
    let of_jobs: Cancel = Arc::new(move |user, subject| match subject {
        Subject::Job(id) => jobs.cancel_here(user, *id),
        _ => false,
    });
    vec![("turn", Arc::clone(&of_turns)), ("session", of_turns), ("job", of_jobs)]
}

fn agent(answers: Answers, attaching: &Attaching<'_>) -> Result<Agent, Problems> {
    let &Attaching { config, registry, pipeline, policy, state, limits, services, .. } = attaching;
    let (answerer, offers) = (answers.answerer(), answers.offers(services)?);
    let Answers { contexts, fuller_tools, prompts, .. } = answers;
    let model_parts = model_parts(config)?;
    let model = model_parts.as_ref().map_or(Mode::Embedded.into_str(), |it| it.model.id()).to_owned();
    Ok(Agent::new(Parts {
        pipeline: Arc::clone(pipeline),
        registry: Arc::clone(registry),
        policy: Arc::clone(policy),
        offers,
        contexts,
        fuller_tools,
        mode: mode(config.agent_model.planner),
        model,
        planner: Arc::new(Planner),
        answerer: Arc::clone(&answerer) as _,
        embedded: answerer,
        model_parts,
        prompts: prompts.unwrap_or_else(|| Arc::new(Prompts::built_in())),
        sessions: Arc::clone(state),
        settings: config.agent,
        limits: Arc::clone(limits),
        log_arguments: config.log.arguments,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_patterns_of_a_role_are_named_with_it() {
        let tools = ["get_new", "get_*"].map(|text| ToolPattern::try_from(text.to_owned()).unwrap());
        let role = |name: &str, tools| AgentRole { name: name.to_owned(), prompt: None, tools, model: None };
        let roles = AgentRoles(vec![role("analyst", Some(tools.into())), role("clerk", None)]);
        let found: Vec<_> = patterns(&roles)
            .into_iter()
            .map(|it| (it.setting, it.of, it.pattern.as_str().to_owned()))
            .collect();
        let expected = |pattern: &str| {
            ("agent.roles.analyst: tools".to_owned(), "the role analyst".to_owned(), pattern.to_owned())
        };
        assert_eq!(found, [expected("get_new"), expected("get_*")]);
    }
}
