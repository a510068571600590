//! What tasks are worked on with. Not here: making it, which the composition root does.

use std::sync::Arc;

use super::role::Roles;
use crate::service::tasks::Tasks;
use toolwire_agent::Agent;
use toolwire_sources::models::Model;

/// What tasks are worked on with.
#[derive(Clone, Debug)]
pub struct Parts {
    /// Who may call what, and what may be spent.
    pub agent: Agent,
    pub tasks: Tasks,
    /// Who is asked; `None` without a model.
    pub model: Option<Arc<dyn Model>>,
    /// Who works on tasks of a role.
    pub roles: Roles,
}
