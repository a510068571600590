//! The dependencies of runs. Not here: making them, which the composition root does.

use std::sync::Arc;

use super::role::Roles;
use crate::Agent;
use toolwire_server::service::tasks::Tasks;
use toolwire_sources::models::Model;

/// The parts that runs need.
#[derive(Clone, Debug)]
pub struct Parts {
    /// Policy and budgets.
    pub agent: Agent,
    pub tasks: Tasks,
    /// The default model; `None` without one.
    pub model: Option<Arc<dyn Model>>,
    /// The agents that work on tasks, by role.
    pub roles: Roles,
}
