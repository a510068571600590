//! The definition of a tool: the validated and completed manifest that callers see.

mod canonical;
mod linkage;
mod schema_forms;
mod wire;

use std::{
    ops::Deref,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;
use prost::Message;
use serde_json::{Map, Value};

pub use self::linkage::OfDomain;
use self::wire::Wire;
pub(super) use self::{linkage::Linkage, schema_forms::SchemaForms};
use super::manifest::Manifest;
use crate::registry::{
    parts::Status,
    words::{Category, ConsequenceLevel},
};
use toolwire_base::{digest::Digest, words::one_line};
use toolwire_config::{Consequence, RuleTarget, TargetFacts, ToolCategory};
use toolwire_contract::proto::v1;

/// A tool as callers see it: its manifest, and what is derived from it.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The manifest's file, relative to the data directory.
    pub file: String,
    manifest: Arc<Manifest>,
    linkage: Linkage,
    /// JSON Schema of the arguments.
    pub input_schema: Arc<Value>,
    /// JSON Schema of the result's data.
    pub output_schema: Arc<Value>,
    /// SHA-256 over the canonical form (RFC 8785) of the definition's ProtoJSON, as `ToolDefinition.digest` says.
    pub digest: Digest,
    pub status: Status,
    wire: Wire,
    /// The line in a planner's prompt. Computed once, since prompts contain every definition.
    line: Arc<str>,
    /// The searched text in lower case. Computed once, since a search visits every definition.
    searched: Arc<str>,
}

impl Deref for Definition {
    type Target = Manifest;

    fn deref(&self) -> &Manifest {
        &self.manifest
    }
}

impl Definition {
    pub(super) fn new(
        file: &str,
        manifest: Manifest,
        input: &SchemaForms,
        output: &SchemaForms,
        linkage: Linkage,
    ) -> Self {
        let wire = Wire::new(&manifest, input, output, &linkage);
        let searched = search_text(&manifest).into();
        let line = format!("- {}: {}", manifest.name, one_line(&manifest.description)).into();
        // Dropped to save memory, except hidden parameters: the schemas contain the others, and there may be ten
        // thousand definitions.
        let mut parameters = manifest.parameters;
        parameters.retain(|it| it.hiding.keys().next().is_some());
        let manifest = Manifest { parameters, returns: Vec::new(), ..manifest };
        Self {
            file: file.to_owned(),
            manifest: Arc::new(manifest),
            linkage,
            input_schema: Arc::clone(input.value()),
            output_schema: Arc::clone(output.value()),
            digest: wire.digest(),
            status: Status::Ready,
            wire,
            line,
            searched,
        }
    }

    /// The typed RPC that calls the same tool, as `package.Service/Method`, if there is one.
    pub fn typed_method(&self) -> Option<&str> {
        self.linkage.typed_method.as_deref()
    }

    /// The provider that executes the tool in another process, if one does.
    pub fn provider(&self) -> Option<&str> {
        self.linkage.provider.as_deref()
    }

    /// The tool as rules see it.
    pub fn rule_target(&self) -> RuleTarget<'_> {
        let category = match self.category {
            Category::Read => ToolCategory::Read,
            Category::Write => ToolCategory::Write,
            Category::Delete => ToolCategory::Delete,
            Category::SideEffect => ToolCategory::SideEffect,
        };
        let consequence = match self.consequence_level {
            ConsequenceLevel::Low => Consequence::Low,
            ConsequenceLevel::Medium => Consequence::Medium,
            ConsequenceLevel::High => Consequence::High,
        };
        RuleTarget { name: &self.name, facts: Some(TargetFacts { tags: &self.tags, category, consequence }) }
    }

    /// Replaces the status.
    pub(super) fn with_status(&self, status: Status) -> Self {
        Self { wire: self.wire.with_status(&status), status, ..self.clone() }
    }

    /// The definition of a file's tool that is executed as it was offered: with these conditions, with the results of
    /// the offer if the file declares none, and ready.
    pub(super) fn with_offer(&self, approve_unless: Option<Map<String, Value>>, output: &Value) -> Self {
        let own = &*self.output_schema;
        let declares_none = own["properties"].as_object().is_none_or(Map::is_empty);
        let output = if declares_none { output } else { own };
        let [input, output] = [&*self.input_schema, output].map(|it| SchemaForms::new(it.clone()));
        let manifest = Manifest { approve_unless, ..(*self.manifest).clone() };
        Self::new(&self.file, manifest, &input, &output, self.linkage.clone())
    }

    /// Whether name, title, description, tags or utterances contain a word, given in lower case.
    pub fn mentions(&self, word: &str) -> bool {
        self.searched.contains(word)
    }

    /// `- name: description`, on one line.
    pub(super) fn line(&self) -> &str {
        &self.line
    }

    /// The encoded `toolwire.v1.ToolDefinition`, computed once.
    pub fn encoded(&self, view: v1::ToolView) -> &Bytes {
        self.wire.view(view)
    }

    /// A cell for the JSON of a view, with the lifetime of the definition. The face that renders the JSON fills it.
    pub fn json(&self, view: v1::ToolView) -> &OnceLock<Bytes> {
        self.wire.json(view)
    }

    pub fn wire(&self, view: v1::ToolView) -> v1::ToolDefinition {
        v1::ToolDefinition::decode(&**self.encoded(view)).expect("it was encoded here")
    }
}

fn search_text(manifest: &Manifest) -> String {
    let Manifest { name, title, description, tags, utterances, .. } = manifest;
    let text = format!("{name}\n{title}\n{description}\n{}\n{}", tags.join("\n"), utterances.join("\n"));
    text.to_lowercase()
}
