//! The definition of a tool: the checked, complete form of its manifest, which callers see.

mod canonical;
mod schema_forms;
mod wire;

use std::{
    ops::Deref,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;
use prost::Message;
use serde_json::Value;

pub(super) use self::schema_forms::SchemaForms;
use self::wire::Wire;
use super::manifest::Manifest;
use crate::registry::parts::Status;
use toolwire_base::{digest::Digest, words::one_line};
use toolwire_contract::proto::v1;

/// A tool as callers see it (spec 001 ToolDefinition): what its manifest says, and what is derived of it.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The manifest's file, relative to the data directory.
    pub file: String,
    manifest: Arc<Manifest>,
    /// The typed RPC that calls the same tool, as `package.Service/Method`, if there is one.
    pub typed_method: Option<String>,
    /// JSON Schema of the arguments.
    pub input_schema: Arc<Value>,
    /// JSON Schema of the result's data.
    pub output_schema: Arc<Value>,
    /// SHA-256 over the RFC 8785 form of the wire form's ProtoJSON without `digest` and `status`.
    pub digest: Digest,
    /// Whether the tool can be called now.
    pub status: Status,
    wire: Wire,
    /// What a planner reads. Made once, as the next is.
    line: Arc<str>,
    /// What a search looks at, in lower case. Made once: a search passes every definition.
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
        typed_method: Option<String>,
    ) -> Self {
        let wire = Wire::new(&manifest, input, output, typed_method.as_deref());
        let searched = searched(&manifest).into();
        let line = format!("- {}: {}", manifest.name, one_line(&manifest.description)).into();
        // The schemas say the same, and there may be ten thousand definitions.
        let manifest = Manifest { parameters: Vec::new(), returns: Vec::new(), ..manifest };
        Self {
            file: file.to_owned(),
            manifest: Arc::new(manifest),
            typed_method,
            input_schema: Arc::clone(input.value()),
            output_schema: Arc::clone(output.value()),
            digest: wire.digest(),
            status: Status::Ready,
            wire,
            line,
            searched,
        }
    }

    /// The same definition in another status.
    pub(super) fn with_status(&self, status: Status) -> Self {
        Self { wire: self.wire.with_status(&status), status, ..self.clone() }
    }

    /// Whether the name, the title, the description, a tag or an utterance has a word, given in lower case.
    pub fn mentions(&self, word: &str) -> bool {
        self.searched.contains(word)
    }

    /// `- name: description`, on one line.
    pub(super) fn line(&self) -> &str {
        &self.line
    }

    /// The encoded `toolwire.v1.ToolDefinition`, made once.
    pub fn encoded(&self, view: v1::ToolView) -> &Bytes {
        self.wire.view(view)
    }

    /// Where the JSON of a view is kept for as long as the definition is. Who spells it says what it is: nobody here
    /// knows the words of a face.
    pub fn json(&self, view: v1::ToolView) -> &OnceLock<Bytes> {
        self.wire.json(view)
    }

    pub fn wire(&self, view: v1::ToolView) -> v1::ToolDefinition {
        v1::ToolDefinition::decode(&**self.encoded(view)).expect("it was encoded here")
    }
}

fn searched(manifest: &Manifest) -> String {
    let Manifest { name, title, description, tags, utterances, .. } = manifest;
    let text = format!("{name}\n{title}\n{description}\n{}\n{}", tags.join("\n"), utterances.join("\n"));
    text.to_lowercase()
}
