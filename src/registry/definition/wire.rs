//! A definition on the wire, and its digest.

use std::mem;

use bytes::Bytes;
use prost::Message;

use super::{
    canonical::canonical,
    derived::Derived,
    parts::{CachePolicy, Example, Source, Status},
};
use crate::{
    contract::{convert, json, proto::v1},
    digest::Digest,
    registry::manifest::Manifest,
};

/// The wire forms of a definition, one a view, encoded: made once and sent often. Each has a schema once at most.
#[derive(Clone, Debug)]
pub(super) struct Wire {
    full: Form,
    full_json: Form,
    basic: Form,
    digest: Digest,
}

/// A definition as bytes.
#[derive(Clone, Debug)]
struct Form {
    whole: Bytes,
    /// Where the status begins: fields may come in any order, so it comes last.
    status: usize,
}

impl Form {
    fn new(parts: &[&[u8]]) -> Self {
        Self::with_status(parts, &Status::Ready)
    }

    fn with_status(parts: &[&[u8]], of_tool: &Status) -> Self {
        let status = v1::ToolDefinition { status: Some(status(of_tool)), ..v1::ToolDefinition::default() };
        let before = parts.iter().map(|part| part.len()).sum();
        let mut whole = Vec::with_capacity(before + status.encoded_len());
        for part in parts {
            whole.extend_from_slice(part);
        }
        status.encode(&mut whole).expect("a vector has room");
        Self { whole: whole.into(), status: before }
    }
}

impl Wire {
    /// The forms of a tool that is ready.
    pub(super) fn new(manifest: &Manifest, derived: &Derived) -> Self {
        let mut described = described(manifest, derived);
        let digest = Digest::of_bytes(&canonical(&described));
        // Encoded message parts one after the other are the encoded message.
        let schemas = v1::ToolDefinition {
            input_schema: described.input_schema.take(),
            output_schema: described.output_schema.take(),
            ..v1::ToolDefinition::default()
        };
        let schemas_json = v1::ToolDefinition {
            input_schema_json: mem::take(&mut described.input_schema_json),
            output_schema_json: mem::take(&mut described.output_schema_json),
            ..v1::ToolDefinition::default()
        };
        let shown = v1::ToolDefinition {
            examples: mem::take(&mut described.examples),
            utterances: mem::take(&mut described.utterances),
            ..v1::ToolDefinition::default()
        };
        described.digest = digest.to_string();
        let [basic, shown, schemas, schemas_json] =
            [described, shown, schemas, schemas_json].map(|part| part.encode_to_vec());
        Self {
            full: Form::new(&[&basic, &shown, &schemas]),
            full_json: Form::new(&[&basic, &shown, &schemas_json]),
            basic: Form::new(&[&basic]),
            digest,
        }
    }

    /// The same forms in another status.
    pub(super) fn with_status(&self, of_tool: &Status) -> Self {
        let with_status = |form: &Form| Form::with_status(&[&form.whole[..form.status]], of_tool);
        Self {
            full: with_status(&self.full),
            full_json: with_status(&self.full_json),
            basic: with_status(&self.basic),
            digest: self.digest,
        }
    }

    /// The digest: the same for the same definition, whatever its status.
    pub(super) fn digest(&self) -> Digest {
        self.digest
    }

    pub(super) fn view(&self, view: v1::ToolView) -> &Bytes {
        match view {
            v1::ToolView::Basic => &self.basic.whole,
            v1::ToolView::Full | v1::ToolView::Unspecified => &self.full.whole,
            v1::ToolView::FullJson => &self.full_json.whole,
        }
    }
}

/// Everything but digest and status.
fn described(manifest: &Manifest, derived: &Derived) -> v1::ToolDefinition {
    v1::ToolDefinition {
        name: manifest.name.to_string(),
        title: manifest.title.clone(),
        description: manifest.description.clone(),
        r#type: v1::ToolType::from(manifest.kind).into(),
        category: v1::ToolCategory::from(manifest.category).into(),
        consequence_level: v1::ConsequenceLevel::from(manifest.consequence_level).into(),
        requires_confirmation: manifest.requires_confirmation,
        timeout: Some(convert::duration(manifest.timeout)),
        input_schema: derived.input_schema.as_object().map(json::to_struct),
        output_schema: derived.output_schema.as_object().map(json::to_struct),
        input_schema_json: derived.input_schema.to_string(),
        output_schema_json: derived.output_schema.to_string(),
        input_message: manifest.input.clone().unwrap_or_default(),
        output_message: manifest.output.clone().unwrap_or_default(),
        typed_method: derived.typed_method.clone().unwrap_or_default(),
        tags: manifest.tags.clone(),
        version: manifest.version.clone(),
        depends_on: manifest.depends_on.clone(),
        intents: manifest.intents.clone(),
        utterances: manifest.utterances.clone(),
        examples: manifest.examples.iter().map(example).collect(),
        source: manifest.source.as_ref().map(source),
        cache: manifest.cache.map(cache),
        untrusted: manifest.untrusted,
        guidance: manifest.guidance.clone(),
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

fn source(source: &Source) -> v1::ToolSource {
    v1::ToolSource { name: source.name.clone(), sections: source.sections.clone() }
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
