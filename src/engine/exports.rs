//! Definitions in the form that a provider of models or MCP declares tools in: pure functions, the same to the byte
//! each time, so that a provider's cache of prompts holds.
//!
//! What a form cannot say goes into the description, and what a reader of the export should know into the notes. Not
//! here: which tools somebody may call (`toolwire_server::service`), and calls themselves.

mod anthropic;
mod gemini;
mod json;
mod mcp;
mod openai;
mod schema;

use std::collections::BTreeSet;

use crate::registry::{Definition, Status};

/// What tools can be declared for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "kebab-case", const_into_str)]
pub enum Format {
    /// Gemini, with JSON Schema.
    Gemini,
    /// Gemini, with the schemas of `OpenAPI` (spec 004 appendix A).
    GeminiOpenapi,
    /// `OpenAI`'s chat completions.
    Openai,
    /// `OpenAI`'s responses.
    OpenaiResponses,
    Anthropic,
    /// The answer to `tools/list` of MCP.
    Mcp,
}

/// How tools are to be declared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// In the strict form, where the format has one.
    pub strict: bool,
    /// The sources that are on the network.
    pub on_network: BTreeSet<String>,
}

/// Tools as a provider takes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    pub json: String,
    /// What differs from the definitions, in sentences.
    pub notes: Vec<String>,
}

impl Format {
    const fn has_strict_form(self) -> bool {
        matches!(self, Self::Openai | Self::OpenaiResponses)
    }
}

/// Declares tools, in the order given. Those that cannot be called as things are set are left out and noted.
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
        Format::Anthropic => anthropic::declared(&callable),
        Format::Mcp => mcp::listed(&callable, &options.on_network),
    };
    Export { json, notes }
}

fn is_callable(tool: &Definition, notes: &mut Vec<String>) -> bool {
    let Status::Disabled(reason) = &tool.status else { return true };
    notes.push(format!("{}: left out, since it cannot be called: {reason}", tool.name));
    false
}
