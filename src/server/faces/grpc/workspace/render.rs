//! Documents and their versions as messages.

use prost_types::Struct;
use serde_json::Value;

use toolwire_contract::{convert::timestamp, json, proto::workspace::v1};
use toolwire_state::documents::{Document, Version};

/// Maximum number of versions that have their reasons.
const MAX_REASONS: usize = 100;

/// A document without versions and content.
pub(super) fn document(document: Document) -> v1::Document {
    let deleted = document.is_deleted();
    let content = document.content;
    v1::Document {
        root_id: document.root.to_string(),
        path: document.path,
        content_json: None,
        created_by: document.created_by,
        created_at: Some(timestamp(document.created_at)),
        updated_by: document.updated_by,
        updated_at: Some(timestamp(document.updated_at)),
        mime_type: content.mime_type,
        size_bytes: content.size,
        token_count: content.tokens,
        token_count_estimated: content.tokens_estimated,
        auto_summary: content.summary,
        description: document.description,
        tags: document.tags,
        versions: Vec::new(),
        version: document.version,
        etag: document.etag,
        digest: content.digest.map(|digest| digest.to_string()).unwrap_or_default(),
        untrusted: content.untrusted,
        deleted,
    }
}

/// A document with the version that it has now.
pub(super) fn with_last_version(document: Document) -> v1::Document {
    let content = document.content.clone();
    let document = self::document(document);
    let last = v1::DocumentVersion {
        version: document.version,
        digest: document.digest.clone(),
        size_bytes: content.size,
        mime_type: content.mime_type,
        written_by: document.updated_by.clone(),
        written_at: document.updated_at,
        why: String::new(),
        call_id: String::new(),
        deleted: document.deleted,
    };
    v1::Document { versions: vec![last], ..document }
}

pub(super) fn version(version: Version) -> v1::DocumentVersion {
    let content = version.content;
    v1::DocumentVersion {
        version: version.version,
        deleted: content.digest.is_none(),
        digest: content.digest.map(|digest| digest.to_string()).unwrap_or_default(),
        size_bytes: content.size,
        mime_type: content.mime_type,
        written_by: version.written_by,
        written_at: Some(timestamp(version.written_at)),
        why: version.why,
        call_id: version.call_id,
    }
}

/// The versions of a document, the oldest first. The reasons of many would not fit into a message: `ListVersions` has
/// them.
pub(super) fn versions(versions: Vec<Version>) -> Vec<v1::DocumentVersion> {
    let has_reasons = versions.len() <= MAX_REASONS;
    let mut versions: Vec<_> = versions.into_iter().rev().map(version).collect();
    if !has_reasons {
        for version in &mut versions {
            version.why.clear();
        }
    }
    versions
}

/// The blocks of a document that has some.
pub(super) fn structure(blocks: Value) -> Option<Struct> {
    match blocks {
        Value::Object(object) => json::to_exact_struct(&object),
        _ => None,
    }
}
