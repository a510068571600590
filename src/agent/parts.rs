//! The parts of the agent. Not here: building them, which the composition root does.

use std::sync::Arc;

use super::{answer::Answerer, fuller_tools::FullerTools, ground::contexts::Contexts, prompts::Prompts};
use toolwire_config::Agent as Settings;
use toolwire_engine::{
    pipeline::{Pipeline, Policy},
    registry::Registry,
};
use toolwire_planner::{Offers, Planner};
use toolwire_sources::{models::Model, upstream::source_status::SourceLimits};
use toolwire_state::Store;

/// How tools are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Mode {
    /// Tools are chosen without a model.
    Embedded,
    /// A model writes plans as JSON.
    Plan,
    /// A model calls the tools by its own mechanism.
    Native,
}

/// The model of the agent, and its role.
#[derive(Clone, Debug)]
pub struct ModelParts {
    pub model: Arc<dyn Model>,
    /// Whether it writes the answers.
    pub answers: bool,
    /// Whether turns go on without it if it fails.
    pub fallback: bool,
}

/// The parts of the agent.
#[derive(Clone, Debug)]
pub struct Parts {
    pub pipeline: Arc<Pipeline>,
    pub registry: Arc<Registry>,
    /// Which user may call what.
    pub policy: Arc<dyn Policy>,
    /// Builds the offer of each turn.
    pub offers: Arc<Offers>,
    /// The typed contexts of all domains.
    pub contexts: Contexts,
    /// Tools that are called in the place of others.
    pub fuller_tools: FullerTools,
    /// How tools are chosen.
    pub mode: Mode,
    /// The name of what chooses them: `embedded`, or `provider/name`.
    pub model: String,
    /// The planner of turns without a model.
    pub planner: Arc<dyn Planner>,
    /// The answerer of turns without a model.
    pub answerer: Arc<dyn Answerer>,
    /// The answerer of last resort: its answers always pass the check.
    pub embedded: Arc<dyn Answerer>,
    pub model_parts: Option<ModelParts>,
    /// The prompts for models.
    pub prompts: Arc<Prompts>,
    pub sessions: Arc<Store>,
    /// What turns may spend.
    pub settings: Settings,
    /// The budgets of the sources.
    pub limits: Arc<dyn SourceLimits>,
    /// Whether the log shows arguments.
    pub log_arguments: bool,
}
