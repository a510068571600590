//! Records of the audit as log records over OTLP, beside the state, which has all of them.
//!
//! A record waits in a bounded queue for a thread of its own and is dropped when that is full, so that no call waits
//! for a collector. While none are sent, a record costs one load of a pointer. Not here: what is recorded.

use std::{
    sync::OnceLock,
    time::{Duration, SystemTime},
};

use opentelemetry::{
    SpanId, TraceId,
    logs::{AnyValue, LogRecord, Logger, LoggerProvider, Severity},
};
use opentelemetry_otlp::ExporterBuildError;
use opentelemetry_sdk::{
    Resource,
    logs::{BatchConfigBuilder, BatchLogProcessor, LogExporter, SdkLogger, SdkLoggerProvider},
};

use crate::{
    Settings,
    otlp::{self, Otlp},
};

/// The instrumentation scope of the records.
const SCOPE: &str = "toolwire.audit";
/// Maximum number of records that wait; further ones are dropped, which the log says.
const QUEUE: usize = 4_096;
/// Maximum number of records in one request.
const BATCH: usize = 512;
/// Maximum time that a record waits for others.
const DELAY: Duration = Duration::from_secs(1);

/// What takes the records of this process.
static LOGGER: OnceLock<SdkLogger> = OnceLock::new();

/// A record of the audit.
#[derive(Clone, Debug)]
pub struct AuditEvent {
    /// What kind of record it is, such as `toolwire.audit.write`.
    pub name: &'static str,
    pub at: SystemTime,
    pub severity: Severity,
    /// A sentence for people.
    pub text: String,
    /// The trace, by its digits; empty if there is none.
    pub trace_id: String,
    /// Its fields, by the names of attributes.
    pub fields: Vec<(&'static str, AnyValue)>,
}

/// Whether records are sent.
pub fn is_sent() -> bool {
    LOGGER.get().is_some()
}

/// Sends a record, if records are sent. It never waits.
pub fn send(event: AuditEvent) {
    if let Some(logger) = LOGGER.get() {
        emit(logger, event);
    }
}

/// Sends the records from now on. Must run within a Tokio runtime, which the exporter uses.
pub(super) fn start(
    otlp: &Otlp,
    settings: &Settings,
    resource: Resource,
) -> Result<SdkLoggerProvider, ExporterBuildError> {
    let provider = provider(otlp::audit(otlp, &settings.egress)?, resource);
    // Only the first of a process counts.
    let _ = LOGGER.set(provider.logger(SCOPE));
    Ok(provider)
}

fn provider(exporter: impl LogExporter + 'static, resource: Resource) -> SdkLoggerProvider {
    let config = BatchConfigBuilder::default()
        .with_max_queue_size(QUEUE)
        .with_max_export_batch_size(BATCH)
        .with_scheduled_delay(DELAY)
        .build();
    let processor = BatchLogProcessor::builder(exporter).with_batch_config(config).build();
    SdkLoggerProvider::builder().with_log_processor(processor).with_resource(resource).build()
}

fn emit(logger: &SdkLogger, event: AuditEvent) {
    let AuditEvent { name, at, severity, text, trace_id, fields } = event;
    let mut record = logger.create_log_record();
    record.set_event_name(name);
    record.set_timestamp(at);
    record.set_severity_number(severity);
    record.set_severity_text(severity.name());
    record.set_body(text.into());
    if let Ok(trace_id) = TraceId::from_hex(&trace_id) {
        // Of the span nothing is recorded.
        record.set_trace_context(trace_id, SpanId::INVALID, None);
    }
    record.add_attributes(fields);
    logger.emit(record);
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc, Mutex,
        mpsc::{Receiver, channel},
    };

    use opentelemetry_sdk::{error::OTelSdkResult, logs::LogBatch};

    use super::*;

    /// Hands over what it is given, once it may.
    #[derive(Debug)]
    struct Kept {
        seen: Arc<Mutex<Vec<String>>>,
        gate: Mutex<Receiver<()>>,
    }

    impl LogExporter for Kept {
        async fn export(&self, batch: LogBatch<'_>) -> OTelSdkResult {
            let _ = self.gate.lock().unwrap().recv();
            self.seen.lock().unwrap().extend(batch.iter().map(|(record, _)| format!("{record:?}")));
            Ok(())
        }
    }

    fn event(number: usize) -> AuditEvent {
        AuditEvent {
            name: "toolwire.audit.write",
            at: SystemTime::UNIX_EPOCH,
            severity: Severity::Info,
            text: format!("record {number}"),
            trace_id: "0af7651916cd43dd8448eb211c80319c".to_owned(),
            fields: vec![("toolwire.audit.tool", "refund".into())],
        }
    }

    #[test]
    fn a_record_never_waits_for_a_collector_that_takes_nothing() {
        let seen = Arc::<Mutex<Vec<String>>>::default();
        let (open, gate) = channel();
        let kept = Kept { seen: Arc::clone(&seen), gate: Mutex::new(gate) };
        let provider = provider(kept, Resource::builder_empty().build());
        let logger = provider.logger(SCOPE);
        // More than wait, while the first batch is not taken: the rest is dropped, and this goes on.
        for number in 0..2 * (QUEUE + BATCH) {
            emit(&logger, event(number));
        }
        assert!(seen.lock().unwrap().is_empty());
        drop(open);
        provider.force_flush().unwrap();
        let seen = seen.lock().unwrap();
        assert!((BATCH..=QUEUE + BATCH).contains(&seen.len()), "{}", seen.len());
        for part in ["record 0", "refund", "toolwire.audit.write", "0af7651916cd43dd8448eb211c80319c"] {
            assert!(seen[0].contains(part), "{part}: {}", seen[0]);
        }
    }
}
