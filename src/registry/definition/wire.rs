//! A definition on the wire, and its digest.

use bytes::Bytes;
use prost::Message;
use prost_reflect::ReflectMessage;

use super::{
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
    /// Without its status.
    unchanging: Bytes,
    whole: Bytes,
}

impl Form {
    fn new(definition: &v1::ToolDefinition) -> Self {
        Self::with_status(definition.encode_to_vec().into(), &Status::Ready)
    }

    /// Fields may come in any order, so the status comes last.
    fn with_status(unchanging: Bytes, of_tool: &Status) -> Self {
        let status = v1::ToolDefinition { status: Some(status(of_tool)), ..v1::ToolDefinition::default() };
        let whole = [&*unchanging, &status.encode_to_vec()].concat().into();
        Self { unchanging, whole }
    }
}

impl Wire {
    /// The forms of a tool that is ready.
    pub(super) fn new(manifest: &Manifest, derived: &Derived) -> Self {
        let described = described(manifest, derived);
        let digest = digest_of(&described);
        let both = v1::ToolDefinition { digest: digest.to_string(), ..described };
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
        let [full, full_json, basic] = [full, full_json, basic].map(|form| Form::new(&form));
        Self { full, full_json, basic, digest }
    }

    /// The same forms in another status.
    pub(super) fn with_status(&self, of_tool: &Status) -> Self {
        let with_status = |form: &Form| Form::with_status(form.unchanging.clone(), of_tool);
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

/// The digest of a definition, schemas in both forms.
fn digest_of(described: &v1::ToolDefinition) -> Digest {
    let message = described.transcode_to_dynamic();
    let canonical = serde_json_canonicalizer::to_vec(&message).expect("ProtoJSON of a definition has a form");
    Digest::of_bytes(&canonical)
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
