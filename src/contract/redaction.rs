//! The mask of values that are not shown, and the `Debug` form of messages whose proto marks fields with
//! `debug_redact`: every field, without the values of marked ones.
//!
//! `toolwire-build` writes the `Debug` that calls this, for such messages alone.

use std::fmt;

use prost_reflect::{FieldDescriptor, ReflectMessage, Value};
use serde_json::Value as Json;

/// Shown in place of a value that is not for people, logs or timelines, whether it is set or not.
pub const REDACTED: &str = "[redacted]";

/// Whether a part of a value is masked, so that the value is not the one that was given.
pub fn is_masked(value: &Json) -> bool {
    match value {
        Json::String(text) => text == REDACTED,
        Json::Array(elements) => elements.iter().any(is_masked),
        Json::Object(members) => members.values().any(is_masked),
        Json::Null | Json::Bool(_) | Json::Number(_) => false,
    }
}

/// Shows a message without the values of its redacted fields.
pub fn fmt<M: ReflectMessage>(message: &M, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let message = message.transcode_to_dynamic();
    let descriptor = message.descriptor();
    let mut output = f.debug_struct(descriptor.name());
    for field in descriptor.fields() {
        if is_redacted(&field) {
            output.field(field.name(), &format_args!("{REDACTED}"));
        } else {
            output.field(field.name(), &message.get_field(&field));
        }
    }
    output.finish()
}

fn is_redacted(field: &FieldDescriptor) -> bool {
    field.options().get_field_by_name("debug_redact").as_deref().and_then(Value::as_bool).unwrap_or(false)
}
