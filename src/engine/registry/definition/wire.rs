//! The wire forms of a definition, and its digest.

use std::{mem, sync::OnceLock};

use bytes::Bytes;
use prost::Message;

use super::{canonical::canonical, linkage::Linkage, schema_forms::SchemaForms};
use crate::registry::{
    manifest::Manifest,
    parts::{CachePolicy, Example, Source, Status},
};
use toolwire_base::digest::Digest;
use toolwire_contract::{convert, json, proto::v1};

/// The encoded wire forms of a definition, one per view. They are encoded once, since they are sent often.
#[derive(Clone, Debug)]
pub(super) struct Wire {
    full: Form,
    full_json: Form,
    basic: Form,
    digest: Digest,
}

/// The schemas of a definition, already encoded, under the field numbers of `ToolDefinition`.
#[derive(Clone, PartialEq, Message)]
struct Schemas {
    #[prost(bytes = "bytes", tag = "9")]
    input_schema: Bytes,
    #[prost(bytes = "bytes", tag = "10")]
    output_schema: Bytes,
    #[prost(bytes = "bytes", tag = "11")]
    input_schema_json: Bytes,
    #[prost(bytes = "bytes", tag = "12")]
    output_schema_json: Bytes,
}

/// An encoded definition.
#[derive(Clone, Debug)]
struct Form {
    whole: Bytes,
    /// The offset of the status. It is the last field, which protobuf permits, so that it can be replaced alone.
    status: usize,
    /// As JSON, rendered on first use.
    json: OnceLock<Bytes>,
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
        Self { whole: whole.into(), status: before, json: OnceLock::new() }
    }
}

impl Wire {
    /// Encodes the definition of a tool that is ready.
    pub(super) fn new(
        manifest: &Manifest,
        input: &SchemaForms,
        output: &SchemaForms,
        linkage: &Linkage,
    ) -> Self {
        let mut described = describe(manifest, linkage);
        let digest = Digest::of_bytes(&canonical(&described, &input.canonical, &output.canonical));
        let shown = v1::ToolDefinition {
            examples: mem::take(&mut described.examples),
            utterances: mem::take(&mut described.utterances),
            ..v1::ToolDefinition::default()
        };
        described.digest = digest.to_string();
        let [basic, shown] = [described, shown].map(|part| part.encode_to_vec());
        let schemas = Schemas {
            input_schema: input.structure.clone(),
            output_schema: output.structure.clone(),
            ..Schemas::default()
        };
        let schemas_json = Schemas {
            input_schema_json: input.text.clone(),
            output_schema_json: output.text.clone(),
            ..Schemas::default()
        };
        let [schemas, schemas_json] = [schemas, schemas_json].map(|part| part.encode_to_vec());
        // The concatenation of encoded parts of a protobuf message is the encoding of the whole message.
        Self {
            full: Form::new(&[&basic, &shown, &schemas]),
            full_json: Form::new(&[&basic, &shown, &schemas_json]),
            basic: Form::new(&[&basic]),
            digest,
        }
    }

    /// Replaces the status.
    pub(super) fn with_status(&self, of_tool: &Status) -> Self {
        let with_status = |form: &Form| Form::with_status(&[&form.whole[..form.status]], of_tool);
        Self {
            full: with_status(&self.full),
            full_json: with_status(&self.full_json),
            basic: with_status(&self.basic),
            digest: self.digest,
        }
    }

    /// The digest, which does not depend on the status.
    pub(super) fn digest(&self) -> Digest {
        self.digest
    }

    pub(super) fn view(&self, view: v1::ToolView) -> &Bytes {
        &self.form(view).whole
    }

    pub(super) fn json(&self, view: v1::ToolView) -> &OnceLock<Bytes> {
        &self.form(view).json
    }

    fn form(&self, view: v1::ToolView) -> &Form {
        match view {
            v1::ToolView::Basic => &self.basic,
            v1::ToolView::Full | v1::ToolView::Unspecified => &self.full,
            v1::ToolView::FullJson => &self.full_json,
        }
    }
}

/// The definition without schemas, digest and status.
fn describe(manifest: &Manifest, linkage: &Linkage) -> v1::ToolDefinition {
    v1::ToolDefinition {
        name: manifest.name.to_string(),
        title: manifest.title.clone(),
        description: manifest.description.clone(),
        r#type: v1::ToolType::from(manifest.kind).into(),
        category: v1::ToolCategory::from(manifest.category).into(),
        consequence_level: v1::ConsequenceLevel::from(manifest.consequence_level).into(),
        requires_confirmation: manifest.requires_confirmation,
        timeout: Some(convert::duration(manifest.timeout)),
        input_message: manifest.input_message.clone().unwrap_or_default(),
        output_message: manifest.output_message.clone().unwrap_or_default(),
        typed_method: linkage.typed_method.clone().unwrap_or_default(),
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
        provider: linkage.provider.as_deref().unwrap_or_default().to_owned(),
        idempotent: manifest.idempotent,
        contained: manifest.contained,
        agent: manifest.agent.clone().unwrap_or_default(),
        approve_unless: manifest.approve_unless.as_ref().map(json::canonical).unwrap_or_default(),
        domain: linkage.domain.as_ref().map(|it| it.name.to_owned()).unwrap_or_default(),
        sample: linkage.domain.as_ref().is_some_and(|it| it.is_sample),
        ..v1::ToolDefinition::default()
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
        tier: cache.tier.into_str().to_owned(),
        scope: cache.scope.into_str().to_owned(),
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
