//! Providers of models.

use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use toolwire_contract::near::did_you_mean;

/// A provider of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Provider {
    Gemini,
    Anthropic,
    Openai,
    /// Ollama, as a rule on this machine.
    Ollama,
    /// A server that speaks as `OpenAI` does.
    Compatible,
}

impl Provider {
    /// Whether it refuses requests without credentials.
    pub(super) const fn wants_credentials(self) -> bool {
        matches!(self, Self::Gemini | Self::Anthropic | Self::Openai)
    }

    pub(super) fn of(name: &str) -> Result<Self, String> {
        name.parse().map_err(|_| {
            let shown: String = name.chars().take(64).collect();
            let names: Vec<_> = Self::VARIANTS.iter().map(Self::into_str).collect();
            let hint = did_you_mean(&shown, names.iter().copied());
            format!("provider must be one of {}, but is {shown:?}{hint}", names.join(", "))
        })
    }
}
