//! What the agent is made of. Not here: making it, which the composition root does.

use std::sync::Arc;

use super::{answer::Answerer, ground::contexts::Contexts, in_full::InFull, prompts::Prompts};
use toolwire_config::Agent as Settings;
use toolwire_engine::{
    pipeline::{Pipeline, Policy},
    registry::Registry,
};
use toolwire_planner::{Offers, Planner};
use toolwire_sources::{models::Model, upstream::source_status::SourceLimits};
use toolwire_store::Store;

/// How tools are picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Mode {
    /// Without a model.
    Embedded,
    /// By a model's plans (spec 003).
    Plan,
    /// By a model's own calls (specs 002, 004).
    Native,
}

/// What the agent asks a model with.
#[derive(Clone, Debug)]
pub struct ModelParts {
    pub model: Arc<dyn Model>,
    /// Whether it writes the answers.
    pub answers: bool,
    /// Whether turns go on without it where it fails.
    pub fallback: bool,
}

/// What the agent is made of.
#[derive(Clone, Debug)]
pub struct Parts {
    pub pipeline: Arc<Pipeline>,
    pub registry: Arc<Registry>,
    /// Which user may call what.
    pub policy: Arc<dyn Policy>,
    /// Makes what a turn may call.
    pub offers: Arc<Offers>,
    /// The typed contexts of all domains.
    pub contexts: Contexts,
    /// Tools that are called in the place of others.
    pub in_full: InFull,
    /// How tools are picked.
    pub mode: Mode,
    /// What picks them: `embedded`, or `provider/name`.
    pub model: String,
    /// Picks them where no model does.
    pub planner: Arc<dyn Planner>,
    /// Makes answers where no model does.
    pub answerer: Arc<dyn Answerer>,
    /// Makes answers without a model: whatever the other one does, its own stand in the results.
    pub embedded: Arc<dyn Answerer>,
    /// What a model is asked with, if one is.
    pub model_parts: Option<ModelParts>,
    /// The prompts for models.
    pub prompts: Arc<Prompts>,
    pub sessions: Arc<Store>,
    /// What turns may spend.
    pub settings: Settings,
    /// How often each source may be asked.
    pub limits: Arc<dyn SourceLimits>,
    /// Whether the log shows arguments.
    pub log_arguments: bool,
}
