//! Who works on a task of a role: what it is told, what it may call, who it is. Not here: where that is set
//! (`toolwire-config`).

use std::{collections::BTreeMap, sync::Arc};

use toolwire_config::ToolPattern;
use toolwire_engine::registry::{Definition, ToolType};
use toolwire_sources::models::Model;

/// Who works on tasks of a role.
#[derive(Clone, Debug, Default)]
pub struct Role {
    /// What it is told: the name of a role's prompt. `None`: the one that is named like the role, if there is one.
    pub prompt: Option<String>,
    /// What it may call of what the user may. `None`: everything.
    pub tools: Option<Vec<ToolPattern>>,
    /// Who it is. `None`: whoever works on tasks without a role.
    pub model: Option<Arc<dyn Model>>,
}

/// Who works on tasks of which role.
#[derive(Clone, Debug, Default)]
pub struct Roles(BTreeMap<String, Role>);

impl Roles {
    /// Who works on tasks of a role. One of which nothing is said is as any other.
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
    /// Whether it may call a tool. It may always hand off: without that nobody would get what it did.
    pub(super) fn may_call(&self, definition: &Definition) -> bool {
        let Some(tools) = &self.tools else { return true };
        definition.kind == ToolType::Handoff || tools.iter().any(|tools| tools.matches(&definition.name))
    }
}
