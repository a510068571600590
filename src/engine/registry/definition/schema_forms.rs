//! A schema in all forms that definitions contain.

use std::sync::Arc;

use bytes::Bytes;
use prost::Message;
use serde_json::Value;

use super::canonical;
use toolwire_contract::json;

/// The schema of a closed object, serialised once and shared by all definitions with the same schema.
#[derive(Debug)]
pub(in crate::registry) struct SchemaForms {
    value: Arc<Value>,
    pub(super) text: Bytes,
    /// As an encoded `google.protobuf.Struct`.
    pub(super) structure: Bytes,
    /// The canonical form, for digests.
    pub(super) canonical: canonical::Schema,
}

impl SchemaForms {
    pub(in crate::registry) fn new(schema: Value) -> Self {
        let structure = schema.as_object().map(json::to_struct).unwrap_or_default();
        let text = schema.to_string();
        Self {
            canonical: canonical::Schema::new(&structure, &text),
            structure: structure.encode_to_vec().into(),
            text: text.into(),
            value: Arc::new(schema),
        }
    }

    pub(in crate::registry) fn value(&self) -> &Arc<Value> {
        &self.value
    }
}
