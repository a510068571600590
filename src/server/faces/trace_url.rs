//! Where the trace of a call is shown: `telemetry.trace_url`.

use std::sync::Arc;

/// What stands for the trace in the address.
const PLACE: &str = "{trace_id}";

/// The address of traces, if one is configured. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct TraceUrl(Option<Arc<str>>);

impl TraceUrl {
    /// `address` has `{trace_id}` in the place of the trace.
    pub fn new(address: Option<&str>) -> Self {
        Self(address.map(Into::into))
    }

    /// The address of a trace; empty without a trace or a configured address.
    pub fn of(&self, trace_id: &str) -> String {
        match &self.0 {
            Some(address) if !trace_id.is_empty() => address.replace(PLACE, trace_id),
            _ => String::new(),
        }
    }
}
