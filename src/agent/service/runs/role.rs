//! The agent that works on tasks of a role: its prompt, its tools, its model. Not here: the settings of roles
//! (`toolwire-config`).

use std::{collections::BTreeMap, sync::Arc};

use toolwire_config::ToolPattern;
use toolwire_engine::registry::{Definition, ToolType};
use toolwire_sources::models::Model;

/// The agent that works on tasks of a role.
#[derive(Clone, Debug, Default)]
pub struct Role {
    /// The name of its prompt. `None`: the prompt that has the name of the role, if there is one.
    pub prompt: Option<String>,
    /// The tools that it may call, of those that its user may call. `None`: all of them.
    pub tools: Option<Vec<ToolPattern>>,
    /// `None`: the model of tasks without a role.
    pub model: Option<Arc<dyn Model>>,
}

/// The agents of all roles.
#[derive(Clone, Debug, Default)]
pub struct Roles(BTreeMap<String, Role>);

impl Roles {
    /// The agent of a role, or the default of one that is not configured.
    pub(super) fn of(&self, role: &str) -> Role {
        self.0.get(role).cloned().unwrap_or_default()
    }

    /// The same, where a role's agent is this model.
    pub(super) fn with_model(&self, role: &str, model: Arc<dyn Model>) -> Self {
        let mut roles = self.clone();
        roles.0.entry(role.to_owned()).or_default().model = Some(model);
        roles
    }
}

impl FromIterator<(String, Role)> for Roles {
    fn from_iter<T: IntoIterator<Item = (String, Role)>>(roles: T) -> Self {
        Self(roles.into_iter().collect())
    }
}

impl Role {
    /// Whether it may call a tool. It may always hand off: otherwise its result would reach no other task.
    pub(super) fn may_call(&self, definition: &Definition) -> bool {
        let Some(tools) = &self.tools else { return true };
        definition.kind == ToolType::Handoff || tools.iter().any(|tools| tools.matches(&definition.name))
    }
}
