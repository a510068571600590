//! The tools that a client is made of, as every language reads them.

use serde_json::Value;

use toolwire_base::digest::Digest;
use toolwire_contract::proto::v1;

/// A tool, as a module of any language needs it.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) description: String,
    /// When a call raises that a person must approve it, in a sentence.
    pub(super) approval: Option<&'static str>,
    pub(super) input: Value,
    pub(super) output: Value,
}

/// The tools in order of name, and what a module of them is known by.
#[derive(Debug)]
pub(super) struct Catalogue {
    pub(super) tools: Vec<Tool>,
    /// The command that makes the module, without its file, which may be another for everybody.
    pub(super) command: String,
    /// Of the definitions.
    pub(super) digest: String,
}

impl Catalogue {
    /// Of definitions whose schemas are JSON texts. A problem is a sentence.
    pub(super) fn read(mut definitions: Vec<v1::ToolDefinition>, command: String) -> Result<Self, String> {
        definitions.sort_by(|one, other| one.name.cmp(&other.name));
        let digests: Vec<_> =
            definitions.iter().map(|it| [&*it.name, " ", &*it.digest, "\n"].concat()).collect();
        let tools = definitions.into_iter().map(Tool::read).collect::<Result<_, _>>()?;
        Ok(Self { tools, command, digest: Digest::of_bytes(digests.concat().as_bytes()).to_string() })
    }
}

impl Tool {
    fn read(definition: v1::ToolDefinition) -> Result<Self, String> {
        let v1::ToolDefinition { name, description, requires_confirmation, approve_unless, .. } = definition;
        let schema = |text: &str| match text {
            "" => Ok(Value::Bool(true)),
            text => {
                serde_json::from_str(text).map_err(|error| format!("a schema of {name} is no JSON: {error}"))
            }
        };
        let (input, output) =
            (schema(&definition.input_schema_json)?, schema(&definition.output_schema_json)?);
        let approval = match (requires_confirmation, approve_unless.is_empty()) {
            (true, _) => Some("A person must approve each call: ConfirmationRequired."),
            (false, false) => Some("A person must approve some calls: ConfirmationRequired."),
            (false, true) => None,
        };
        Ok(Self { name, description, approval, input, output })
    }
}
