//! The models that give a second opinion. Not here: the list of models, which is configured.

use std::sync::Arc;

use toolwire_config::{ConfiguredModel, Models, Provider};
use toolwire_outgoing::Egress;
use toolwire_sources::models::{Model, ModelError, genai::Remote};

/// Which models may be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adviser {
    Gpt,
    Claude,
}

/// Those that are configured.
#[derive(Clone, Debug, Default)]
pub struct Advisers {
    gpt: Option<Arc<dyn Model>>,
    claude: Option<Arc<dyn Model>>,
}

impl Adviser {
    pub const ALL: [Self; 2] = [Self::Claude, Self::Gpt];

    pub const fn tool(self) -> &'static str {
        match self {
            Self::Gpt => "ask_gpt",
            Self::Claude => "ask_claude",
        }
    }

    /// The model meant by the adviser's name at any provider, and the provider all of whose models are meant.
    const fn model_name(self) -> (&'static str, Provider) {
        match self {
            Self::Gpt => ("gpt", Provider::Openai),
            Self::Claude => ("claude", Provider::Anthropic),
        }
    }

    /// The configured model that is asked: the one of its name, or else the first of its provider in order of name.
    pub fn configured(self, models: &Models) -> Option<&ConfiguredModel> {
        let (name, provider) = self.model_name();
        models.get(name).or_else(|| models.0.iter().find(|model| model.provider == provider))
    }

    /// Why no model is available.
    pub fn reason(self) -> String {
        let (name, provider) = self.model_name();
        format!(
            "no model is configured for it: add [models.{name}] with provider = \"{provider}\" (docs/MODELS.md)"
        )
    }
}

impl Advisers {
    /// Those that are configured. Nothing is asked yet.
    pub fn of(models: &Models, egress: &Egress) -> Result<Self, ModelError> {
        let made = |adviser: Adviser| {
            let configured = adviser.configured(models);
            configured.map(|it| Remote::new(it, egress).map(|it| Arc::new(it) as Arc<dyn Model>)).transpose()
        };
        Ok(Self { gpt: made(Adviser::Gpt)?, claude: made(Adviser::Claude)? })
    }

    pub fn get(&self, adviser: Adviser) -> Option<&Arc<dyn Model>> {
        match adviser {
            Adviser::Gpt => self.gpt.as_ref(),
            Adviser::Claude => self.claude.as_ref(),
        }
    }
}
