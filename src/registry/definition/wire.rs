//! A definition on the wire, and its digest.

use prost_reflect::ReflectMessage;

use super::{CachePolicy, Definition, Example, Source, Status};
use crate::{
    contract::{convert, json, proto::v1},
    registry::digest,
};

/// The wire forms of a definition, one a view: each has a schema once at most.
#[derive(Clone, Debug, Default)]
pub(super) struct Wire {
    full: v1::ToolDefinition,
    full_json: v1::ToolDefinition,
    basic: v1::ToolDefinition,
}

impl Wire {
    pub(super) fn new(definition: &Definition) -> Self {
        let both = v1::ToolDefinition {
            digest: definition.digest.clone(),
            status: Some(status(&definition.status)),
            ..described(definition)
        };
        let full_json = v1::ToolDefinition { input_schema: None, output_schema: None, ..both.clone() };
        let full = v1::ToolDefinition {
            input_schema_json: String::new(),
            output_schema_json: String::new(),
            ..both
        };
        let basic = v1::ToolDefinition {
            input_schema: None,
            output_schema: None,
            examples: Vec::new(),
            utterances: Vec::new(),
            ..full.clone()
        };
        Self { full, full_json, basic }
    }

    pub(super) fn view(&self, view: v1::ToolView) -> &v1::ToolDefinition {
        match view {
            v1::ToolView::Basic => &self.basic,
            v1::ToolView::Full | v1::ToolView::Unspecified => &self.full,
            v1::ToolView::FullJson => &self.full_json,
        }
    }
}

/// The digest of a definition, schemas in both forms: the same for the same definition, whatever its status.
pub(super) fn digest(definition: &Definition) -> String {
    let message = described(definition).transcode_to_dynamic();
    let canonical = serde_json_canonicalizer::to_vec(&message).expect("ProtoJSON of a definition has a form");
    digest::of_bytes(&canonical)
}

/// Everything but digest and status.
fn described(definition: &Definition) -> v1::ToolDefinition {
    let definition = definition.clone();
    v1::ToolDefinition {
        name: definition.name,
        title: definition.title,
        description: definition.description,
        r#type: v1::ToolType::from(definition.kind).into(),
        category: v1::ToolCategory::from(definition.category).into(),
        consequence_level: v1::ConsequenceLevel::from(definition.consequence_level).into(),
        requires_confirmation: definition.requires_confirmation,
        timeout: Some(convert::duration(definition.timeout)),
        input_schema: definition.input_schema.as_object().map(json::to_struct),
        output_schema: definition.output_schema.as_object().map(json::to_struct),
        input_schema_json: definition.input_schema.to_string(),
        output_schema_json: definition.output_schema.to_string(),
        input_message: definition.input_message.unwrap_or_default(),
        output_message: definition.output_message.unwrap_or_default(),
        typed_method: definition.typed_method.unwrap_or_default(),
        tags: definition.tags,
        version: definition.version,
        depends_on: definition.depends_on,
        intents: definition.intents,
        utterances: definition.utterances,
        examples: definition.examples.iter().map(example).collect(),
        source: definition.source.map(source),
        cache: definition.cache.map(cache),
        untrusted: definition.untrusted,
        guidance: definition.guidance,
        digest: String::new(),
        status: None,
    }
}

fn example(example: &Example) -> v1::ToolExample {
    v1::ToolExample {
        description: example.description.clone(),
        arguments: Some(json::to_struct(&example.arguments)),
    }
}

fn source(source: Source) -> v1::ToolSource {
    v1::ToolSource { name: source.name, sections: source.sections }
}

fn cache(cache: CachePolicy) -> v1::CachePolicy {
    v1::CachePolicy {
        ttl: Some(convert::duration(cache.ttl)),
        tier: cache.tier.word().to_owned(),
        scope: cache.scope.word().to_owned(),
    }
}

fn status(status: &Status) -> v1::ToolStatus {
    let (state, reason) = match status {
        Status::Ready => (v1::ToolState::Ready, ""),
        Status::Degraded(reason) => (v1::ToolState::Degraded, reason.as_str()),
        Status::Disabled(reason) => (v1::ToolState::Disabled, reason.as_str()),
    };
    v1::ToolStatus { state: state.into(), reason: reason.to_owned() }
}
