//! Settings of the audit.

use super::settings::settings;

settings! {
    /// Where the audit goes besides the state: `[audit]`.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Audit in "audit" {
        /// Whether each record is sent over OTLP as a log record too, to where the `OTEL_EXPORTER_OTLP_*` variables
        /// say.
        otlp: bool = false, "TOOLWIRE_AUDIT_OTLP";
    }
}
