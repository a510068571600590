//! The definition of a tool: the checked, complete form of its manifest, which callers see.

mod canonical;
mod schema_forms;
mod wire;

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use bytes::Bytes;
use prost::Message;
use serde_json::Value;

pub(super) use self::schema_forms::SchemaForms;
use self::wire::Wire;
use super::{
    manifest::Manifest,
    words::{Category, ConsequenceLevel, MemoryScope, ToolType},
};
use crate::registry::parts::{CachePolicy, Example, Source, Status};
use toolwire_base::{digest::Digest, words::one_line};
use toolwire_contract::{ToolName, proto::v1};

/// A tool as callers see it (spec 001 ToolDefinition).
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "a key of the manifest each")]
pub struct Definition {
    /// The manifest's file, relative to the data directory.
    pub file: String,
    pub name: ToolName,
    /// A short name for people. Empty if the manifest gives none.
    pub title: String,
    pub description: String,
    /// How a call is carried out.
    pub kind: ToolType,
    /// What a call may change.
    pub category: Category,
    /// The impact of a call on the real world.
    pub consequence_level: ConsequenceLevel,
    /// Whether a person must approve each call.
    pub requires_confirmation: bool,
    /// The bound on one execution.
    pub timeout: Duration,
    /// Semantic version. Empty if the manifest gives none.
    pub version: String,
    pub tags: Vec<String>,
    /// Intents that route here.
    pub intents: Vec<String>,
    /// Sentences of users that the tool answers.
    pub utterances: Vec<String>,
    pub examples: Vec<Example>,
    /// Tools that this tool calls.
    pub depends_on: Vec<String>,
    /// What it reads from.
    pub source: Option<Source>,
    /// How results may be cached, if they may.
    pub cache: Option<CachePolicy>,
    /// Whether results contain text that people outside wrote.
    pub untrusted: bool,
    /// Whether a call that is carried out again, with the same arguments, changes nothing more.
    pub idempotent: bool,
    /// Whether everything that a call changes stays within the tree of its task.
    pub contained: bool,
    /// The role of the agent that calls are delegated to, if they are.
    pub agent: Option<String>,
    /// For whom calls are remembered, which are only logged.
    pub memory: Option<MemoryScope>,
    /// Lines for a system prompt.
    pub guidance: Vec<String>,
    /// What is said while it runs, such as `Browsing the forum for ideas` (spec 004 §8.3). Empty if nothing is.
    pub progress: String,
    /// What is said of its result (spec 004 §8.3). Empty if nothing is.
    pub summary: String,
    /// Full name of the input message, if there is one.
    pub input_message: Option<String>,
    /// Full name of the output message, if there is one.
    pub output_message: Option<String>,
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

impl Definition {
    pub(super) fn new(
        manifest: Manifest,
        input: &SchemaForms,
        output: &SchemaForms,
        typed_method: Option<String>,
    ) -> Self {
        let wire = Wire::new(&manifest, input, output, typed_method.as_deref());
        let searched = searched(&manifest).into();
        let line = format!("- {}: {}", manifest.name, one_line(&manifest.description)).into();
        Self {
            file: manifest.file,
            name: manifest.name,
            title: manifest.title,
            description: manifest.description,
            kind: manifest.kind,
            category: manifest.category,
            consequence_level: manifest.consequence_level,
            requires_confirmation: manifest.requires_confirmation,
            timeout: manifest.timeout,
            version: manifest.version,
            tags: manifest.tags,
            intents: manifest.intents,
            utterances: manifest.utterances,
            examples: manifest.examples,
            depends_on: manifest.depends_on,
            source: manifest.source,
            cache: manifest.cache,
            untrusted: manifest.untrusted,
            idempotent: manifest.idempotent,
            contained: manifest.contained,
            agent: manifest.agent,
            memory: manifest.memory,
            guidance: manifest.guidance,
            progress: manifest.progress,
            summary: manifest.summary,
            input_message: manifest.input,
            output_message: manifest.output,
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
