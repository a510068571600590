//! The names of span attributes, by the OpenTelemetry semantic conventions where they have one.

/// Renames a span.
pub const OTEL_NAME: &str = "otel.name";
/// The status of a span: `OK` or `ERROR`.
pub const OTEL_STATUS_CODE: &str = "otel.status_code";
/// What kind of failure ended the operation.
pub const ERROR_TYPE: &str = "error.type";
/// The call that made this one.
pub const PARENT_CALL_ID: &str = "toolwire.parent_call.id";
