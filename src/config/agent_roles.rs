//! The agents that work on tasks, by role: `[agent.roles.NAME]`. They are set in the file only.
//!
//! Not here: the prompts of a role's agent (`toolwire_agent::prompts`), and the models (`models`).

use super::{Models, ToolPattern, fields::Fields, reader::Reader, value::Value};
use toolwire_contract::{ToolName, near::did_you_mean};

/// The agents that work on tasks, sorted by role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentRoles(pub Vec<AgentRole>);

/// The agent that works on tasks of a role: `[agent.roles.NAME]`, where NAME is the role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentRole {
    pub name: String,
    /// Its prompt: `prompt`, the NAME of `prompts/roles/NAME.md`. Default the role, if there is such a file.
    pub prompt: Option<String>,
    /// What it may call of what the user may: `tools`, names or patterns such as `get_*`. Handing off is always among
    /// it. Default everything.
    pub tools: Option<Vec<ToolPattern>>,
    /// Its model: `model`, the NAME of a model. Default `agent.model`.
    pub model: Option<String>,
}

impl AgentRoles {
    /// Reads the roles. `model` is the one that works on tasks without them.
    pub(super) fn read(reader: &mut Reader, models: &Models, model: Option<&str>) -> Self {
        let mut roles = Vec::new();
        for (name, mut entry) in reader.tables("agent.roles") {
            let role = AgentRole::read(name, &mut entry, models);
            if reader.end(entry) {
                reader.show_entry(&format!("[agent.roles.{}]", role.name), &role.to_pairs());
                roles.push(role);
            }
        }
        if model.is_none() && !roles.is_empty() {
            reader.warn("agent.roles", "has no effect: no model works on tasks; set agent.model");
        }
        Self(roles)
    }

    pub fn prompts(&self) -> Vec<String> {
        self.0.iter().filter_map(|role| role.prompt.clone()).collect()
    }
}

impl AgentRole {
    fn read(name: String, entry: &mut Fields, models: &Models) -> Self {
        let is_name = |name: &str| name.parse::<ToolName>().is_ok();
        if !is_name(&name) {
            entry.problem("a role's name is of a-z, 0-9 and _, and begins with a letter");
        }
        let prompt = entry.optional::<String>("prompt");
        if prompt.as_deref().is_some_and(|prompt| !is_name(prompt)) {
            entry.problem(
                "prompt must be the name of a file of prompts/roles/ without .md, of a-z, 0-9 and _",
            );
        }
        let tools = entry.optional("tools");
        let model = entry.optional::<String>("model");
        if let Some(name) = model.as_ref().filter(|name| models.get(name).is_none()) {
            let near = did_you_mean(name, models.0.iter().map(|model| model.name.as_str()));
            entry.problem(format!("model: there is no model [models.{name}]{near}"));
        }
        Self { name, prompt, tools, model }
    }

    fn to_pairs(&self) -> Vec<(&'static str, String)> {
        let shown = [
            ("prompt", self.prompt.as_ref().map(Value::to_toml)),
            ("tools", self.tools.as_ref().map(Value::to_toml)),
            ("model", self.model.as_ref().map(Value::to_toml)),
        ];
        shown.into_iter().filter_map(|(key, shown)| Some((key, shown?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Flags, Loaded, testing::load_text};

    const MODELS: &str = "[models.big]\nprovider = \"ollama\"\nmodel = \"x\"\n\
                          [models.small]\nprovider = \"ollama\"\nmodel = \"y\"\n[agent]\nmodel = \"big\"\n";

    fn of(roles: &str) -> Result<Loaded, String> {
        load_text(&format!("{MODELS}{roles}"), &[], Flags::default(), &[]).map_err(|error| error.to_string())
    }

    #[test]
    fn a_role_says_what_its_agent_is_told_what_it_may_call_and_who_it_is() {
        let said = "[agent.roles.analyst]\nprompt = \"careful\"\ntools = [\"get_*\", \"write_file\"]\n\
                    model = \"small\"\n[agent.roles.clerk]\n";
        let read = of(said).unwrap();
        let [analyst, clerk] = read.config.agent_roles.0.as_slice() else { panic!("two roles") };
        assert_eq!((analyst.prompt.as_deref(), analyst.model.as_deref()), (Some("careful"), Some("small")));
        assert!(analyst.tools.as_ref().unwrap().iter().any(|tools| tools.matches("get_quotes")));
        let nothing = AgentRole { name: "clerk".to_owned(), prompt: None, tools: None, model: None };
        assert_eq!((clerk, read.config.agent_roles.prompts()), (&nothing, vec!["careful".to_owned()]));
        let printed = crate::print(&read);
        assert!(
            printed.contains("[agent.roles.analyst]\nprompt = \"careful\"\ntools = [\"get_*\""),
            "{printed}"
        );
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (said, words) in [
            ("[agent.roles.Analyst]\n", "a role's name is of a-z"),
            ("[agent.roles.analyst]\nprompt = \"../x\"", "prompt must be the name of a file"),
            ("[agent.roles.analyst]\nmodel = \"smal\"", "no model [models.smal]. Did you mean small?"),
            ("[agent.roles.analyst]\ntools = [\"get quotes\"]", "a pattern such as get_*"),
            ("[agent.roles.analyst]\ntool = []", "tool"),
            ("roles = 3\n", "expected tables [agent.roles.NAME]"),
        ] {
            let error = of(said).expect_err(said);
            assert!(error.contains(words), "{said}: {error}");
        }
    }

    #[test]
    fn without_a_model_roles_have_no_effect() {
        let read = load_text("[agent.roles.analyst]\n", &[], Flags::default(), &[]).unwrap();
        assert!(read.warnings.iter().any(|it| it.to_string().contains("set agent.model")));
    }
}
