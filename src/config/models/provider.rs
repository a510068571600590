//! Who provides models.

use std::fmt;

use toolwire_contract::near::did_you_mean;

/// Who provides a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    Gemini,
    Anthropic,
    /// `OpenAI`.
    Openai,
    /// Ollama, as a rule on this machine.
    Ollama,
    /// A server that speaks as `OpenAI` does.
    Compatible,
}

impl Provider {
    pub const ALL: [Self; 5] = [Self::Gemini, Self::Anthropic, Self::Openai, Self::Ollama, Self::Compatible];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Gemini => "gemini",
            Self::Anthropic => "anthropic",
            Self::Openai => "openai",
            Self::Ollama => "ollama",
            Self::Compatible => "compatible",
        }
    }

    /// Whether it refuses whoever shows nothing.
    pub(super) const fn wants_credentials(self) -> bool {
        matches!(self, Self::Gemini | Self::Anthropic | Self::Openai)
    }

    pub(super) fn of(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|provider| provider.name() == name);
        let names = Self::ALL.map(Self::name);
        found.ok_or_else(|| {
            let shown: String = name.chars().take(64).collect();
            let hint = did_you_mean(&shown, names.into_iter());
            format!("provider must be one of {}, but is {shown:?}{hint}", names.join(", "))
        })
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
