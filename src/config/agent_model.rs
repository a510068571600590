//! What plans and what answers in conversations: a model, or the embedded planner and answerer. `[agent]`.
//!
//! Not here: what turns may spend (`agent`), and the models (`models`).

use super::{
    models::{Models, Provider},
    reader::Reader,
    setting::Setting,
};
use toolwire_contract::near::did_you_mean;

/// What plans and what answers: `[agent]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentModel {
    /// The model, by its name in `[models.NAME]`. `model`, `TOOLWIRE_AGENT_MODEL`, default none.
    pub model: Option<String>,
    /// The planner. `planner`, `TOOLWIRE_AGENT_PLANNER`, default `native` with a model, `prompted` with one of a
    /// compatible server, `embedded` without.
    pub planner: AgentPlanner,
    /// The answerer. `answerer`, `TOOLWIRE_AGENT_ANSWERER`, default `model` with a model, `embedded` without.
    pub answerer: AgentAnswerer,
    /// Whether turns go on without a model that fails. `fallback`, `TOOLWIRE_AGENT_FALLBACK`, default `false`.
    pub fallback: bool,
}

#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, strum::Display, strum::EnumString, strum::IntoStaticStr,
)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum AgentPlanner {
    /// No model.
    #[default]
    Embedded,
    /// A model that writes each plan as JSON.
    Prompted,
    /// A model by its own calls of tools.
    Native,
}

#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, strum::Display, strum::EnumString, strum::IntoStaticStr,
)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum AgentAnswerer {
    /// No model.
    #[default]
    Embedded,
    Model,
}

impl AgentModel {
    pub(super) fn read(reader: &mut Reader, models: &Models) -> Self {
        let setting = Setting::new("agent.model", "TOOLWIRE_AGENT_MODEL");
        let model: Option<String> = reader.optional(setting, None);
        let provider = model.as_ref().and_then(|model| models.get(model)).map(|model| model.provider);
        if let Some(name) = model.as_ref().filter(|_| provider.is_none()) {
            let near = did_you_mean(name, models.0.iter().map(|model| model.name.as_str()));
            reader.problem("agent.model", format!("there is no model [models.{name}]{near}"));
        }
        let usual = match provider {
            None => (AgentPlanner::Embedded, AgentAnswerer::Embedded),
            Some(Provider::Compatible) => (AgentPlanner::Prompted, AgentAnswerer::Model),
            Some(_) => (AgentPlanner::Native, AgentAnswerer::Model),
        };
        let planner = Setting::new("agent.planner", "TOOLWIRE_AGENT_PLANNER");
        let planner = reader.text(planner, usual.0, AgentPlanner::of);
        let answerer = Setting::new("agent.answerer", "TOOLWIRE_AGENT_ANSWERER");
        let answerer = reader.text(answerer, usual.1, AgentAnswerer::of);
        let fallback = reader.value(Setting::new("agent.fallback", "TOOLWIRE_AGENT_FALLBACK"), false);
        if model.is_none() {
            let needed = "needs a model: set agent.model to the NAME of a table [models.NAME]";
            if planner != AgentPlanner::Embedded {
                reader.problem("agent.planner", format!("{planner} {needed}"));
            }
            if answerer != AgentAnswerer::Embedded {
                reader.problem("agent.answerer", format!("{answerer} {needed}"));
            }
        } else if (planner, answerer) == (AgentPlanner::Embedded, AgentAnswerer::Embedded) {
            reader.warn("agent.model", "has no effect: neither the planner nor the answerer asks a model");
        }
        Self { model, planner, answerer, fallback }
    }

    /// Whether anything is asked of a model.
    pub fn asks(&self) -> bool {
        self.planner != AgentPlanner::Embedded || self.answerer != AgentAnswerer::Embedded
    }
}

impl AgentPlanner {
    fn of(name: &str) -> Result<Self, String> {
        name.parse().map_err(|_| format!("expected embedded, prompted or native, but found {}", short(name)))
    }
}

impl AgentAnswerer {
    fn of(name: &str) -> Result<Self, String> {
        name.parse().map_err(|_| format!("expected embedded or model, but found {}", short(name)))
    }
}

fn short(name: &str) -> String {
    format!("{:?}", name.chars().take(64).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Flags, Loaded, testing::load_text};

    const MODELS: &str = "[models.a]\nprovider = \"ollama\"\nmodel = \"x\"\n\
                          [models.b]\nprovider = \"compatible\"\nmodel = \"x\"\nendpoint = \"http://localhost:1\"\n";

    fn of(agent: &str) -> Result<Loaded, String> {
        let file = format!("{MODELS}[agent]\n{agent}");
        load_text(&file, &[], Flags::default(), &[]).map_err(|error| error.to_string())
    }

    #[test]
    fn without_a_word_no_model_is_asked() {
        let agent_model = of("").unwrap().config.agent_model;
        assert_eq!(agent_model, AgentModel::default());
        assert!(!agent_model.asks());
    }

    #[test]
    fn a_model_plans_in_the_way_that_its_provider_is_good_at_and_answers() {
        for (said, planner, answerer) in [
            ("model = \"a\"", AgentPlanner::Native, AgentAnswerer::Model),
            ("model = \"b\"", AgentPlanner::Prompted, AgentAnswerer::Model),
            ("model = \"a\"\nplanner = \"prompted\"", AgentPlanner::Prompted, AgentAnswerer::Model),
            ("model = \"a\"\nplanner = \"embedded\"", AgentPlanner::Embedded, AgentAnswerer::Model),
            ("model = \"b\"\nanswerer = \"embedded\"", AgentPlanner::Prompted, AgentAnswerer::Embedded),
        ] {
            let read = of(said).unwrap().config.agent_model;
            assert_eq!((read.planner, read.answerer, read.asks()), (planner, answerer, true), "{said}");
        }
        let none = of("model = \"a\"\nplanner = \"embedded\"\nanswerer = \"embedded\"").unwrap();
        assert!(none.warnings.iter().any(|it| it.to_string().contains("has no effect")));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (said, words) in [
            ("model = \"c\"", "agent.model: there is no model [models.c]"),
            ("planner = \"native\"", "native needs a model: set agent.model"),
            ("answerer = \"model\"", "model needs a model: set agent.model"),
            ("model = \"a\"\nplanner = \"plan\"", "expected embedded, prompted or native"),
            ("model = \"a\"\nanswerer = \"me\"", "expected embedded or model"),
            ("model = \"a\"\nfallback = 3", "expected true or false"),
        ] {
            let error = of(said).expect_err(said);
            assert!(error.contains(words), "{said}: {error}");
        }
    }
}
