//! The definition of a tool: the checked, complete form of its manifest, which callers see.

mod wire;

use std::time::Duration;

use serde_json::{Map, Value};

use self::wire::Wire;
use super::{
    manifest::Manifest,
    words::{CacheScope, CacheTier, Category, ConsequenceLevel, ToolType},
};
use crate::contract::proto::v1;

/// A tool as callers see it (spec 001 ToolDefinition).
#[derive(Clone, Debug)]
pub struct Definition {
    /// The manifest's file, relative to the data directory.
    pub file: String,
    /// The name: `^[a-z][a-z0-9_]{0,63}$`.
    pub name: String,
    /// A short name for people. Empty if the manifest gives none.
    pub title: String,
    /// The routing contract.
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
    /// Domain tags.
    pub tags: Vec<String>,
    /// Intents that route here.
    pub intents: Vec<String>,
    /// Sentences of users that the tool answers.
    pub utterances: Vec<String>,
    /// Worked calls.
    pub examples: Vec<Example>,
    /// Tools that this tool calls.
    pub depends_on: Vec<String>,
    /// What it reads from.
    pub source: Option<Source>,
    /// How results may be cached, if they may.
    pub cache: Option<CachePolicy>,
    /// Whether results contain text that people outside wrote.
    pub untrusted: bool,
    /// Lines for a system prompt.
    pub guidance: Vec<String>,
    /// What is said while it runs, such as `Browsing ValuePickr for ideas` (spec 004 §8.3). Empty if nothing is.
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
    pub input_schema: Value,
    /// JSON Schema of the result's data.
    pub output_schema: Value,
    /// SHA-256, in hex, over the RFC 8785 form of the wire form's ProtoJSON without `digest` and `status`.
    pub digest: String,
    /// Whether the tool can be called now.
    pub status: Status,
    wire: Wire,
}

/// A worked call.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// What it shows.
    pub description: String,
    /// Arguments that satisfy the input schema.
    pub arguments: Map<String, Value>,
}

/// The source a tool reads from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its name, such as `brokerage`.
    pub name: String,
    /// The parts of it that the tool needs.
    pub sections: Vec<String>,
}

/// How results may be cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CachePolicy {
    /// How long a result is fresh.
    pub ttl: Duration,
    /// The store.
    pub tier: CacheTier,
    /// Whom a result may answer.
    pub scope: CacheScope,
}

/// Whether a tool can be called now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// It can.
    #[default]
    Ready,
    /// It can, but calls will fail for this reason.
    Degraded(String),
    /// It cannot, for this reason.
    Disabled(String),
}

/// What the messages of a tool add to its manifest.
pub(super) struct Derived {
    pub(super) input_schema: Value,
    pub(super) output_schema: Value,
    pub(super) typed_method: Option<String>,
}

impl Definition {
    pub(super) fn new(manifest: Manifest, derived: Derived) -> Self {
        let mut definition = Self {
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
            guidance: manifest.guidance,
            progress: manifest.progress,
            summary: manifest.summary,
            input_message: manifest.input,
            output_message: manifest.output,
            typed_method: derived.typed_method,
            input_schema: derived.input_schema,
            output_schema: derived.output_schema,
            digest: String::new(),
            status: Status::Ready,
            wire: Wire::default(),
        };
        definition.digest = wire::digest(&definition);
        definition.wire = Wire::new(&definition);
        definition
    }

    /// The same definition in another status.
    pub(super) fn with_status(&self, status: Status) -> Self {
        let mut definition = Self { status, ..self.clone() };
        definition.wire = Wire::new(&definition);
        definition
    }

    /// The wire form, built once.
    pub fn wire(&self, view: v1::ToolView) -> &v1::ToolDefinition {
        self.wire.view(view)
    }
}
