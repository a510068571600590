//! Exports definitions in the formats in which model providers and MCP declare tools. The functions are pure and
//! deterministic, so that a provider's prompt cache hits.
//!
//! What a format cannot express goes into the description; differences that a reader of the export should know go into
//! the notes. Not here: which tools a user may call (`toolwire_server::service`), and calls themselves.

mod anthropic;
mod gemini;
mod json;
mod mcp;
mod openai;
mod schema;

use std::collections::BTreeSet;

pub use self::schema::{append_sentences, describe_keyword};

use crate::registry::{Definition, Status};

#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "kebab-case", const_into_str)]
pub enum Format {
    /// Gemini, with JSON Schema.
    Gemini,
    /// Gemini, with the schemas of `OpenAPI`.
    GeminiOpenapi,
    /// `OpenAI`'s chat completions.
    Openai,
    /// `OpenAI`'s responses.
    OpenaiResponses,
    Anthropic,
    /// The answer to `tools/list` of MCP.
    Mcp,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether to use the strict form, if the format has one.
    pub strict: bool,
    /// Names of the sources that are on the network.
    pub on_network: BTreeSet<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    pub json: String,
    /// Differences from the definitions, in sentences.
    pub notes: Vec<String>,
}

impl Format {
    const fn has_strict_form(self) -> bool {
        matches!(self, Self::Openai | Self::OpenaiResponses)
    }
}

/// Declares tools, in the given order. Disabled tools are omitted and noted.
pub fn export(format: Format, tools: &[&Definition], options: &Options) -> Export {
    let mut notes = Vec::new();
    if options.strict && !format.has_strict_form() {
        notes.push(format!(
            "strict changes nothing here: {} has no strict form in exports",
            format.into_str()
        ));
    }
    let callable: Vec<&Definition> = tools.iter().copied().filter(|it| is_callable(it, &mut notes)).collect();
    let json = match format {
        Format::Gemini => gemini::with_json_schema(&callable),
        Format::GeminiOpenapi => gemini::with_openapi(&callable, &mut notes),
        Format::Openai => openai::for_chat(&callable, options.strict, &mut notes),
        Format::OpenaiResponses => openai::for_responses(&callable, options.strict, &mut notes),
        Format::Anthropic => anthropic::declare(&callable),
        Format::Mcp => mcp::list(&callable, &options.on_network),
    };
    Export { json, notes }
}

fn is_callable(tool: &Definition, notes: &mut Vec<String>) -> bool {
    let Status::Disabled(reason) = &tool.status else { return true };
    notes.push(format!("{}: left out, since it cannot be called: {reason}", tool.name));
    false
}
