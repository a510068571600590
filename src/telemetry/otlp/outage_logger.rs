//! Logs the outage of a collector once, and its return once.
//!
//! What could not be sent is lost: the SDK keeps no more than its bounded queue, and calls never wait for it.

use std::{
    fmt,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    logs::{LogBatch, LogExporter},
    metrics::{Temporality, data::ResourceMetrics, exporter::PushMetricExporter},
    trace::{SpanData, SpanExporter},
};

/// An exporter whose failures are logged once.
pub(crate) struct OutageLogger<E> {
    exporter: E,
    signal: &'static str,
    is_down: AtomicBool,
}

/// A change of the collector's state, which is logged.
#[derive(Debug, PartialEq, Eq)]
enum Change {
    /// The first export that failed.
    Down,
    /// The first export that succeeds after a failure.
    Back,
}

impl<E> OutageLogger<E> {
    pub(super) fn new(exporter: E, signal: &'static str) -> Self {
        Self { exporter, signal, is_down: AtomicBool::new(false) }
    }

    /// Logs a change. The caller then hides the result from the SDK, which would log every failure.
    fn log_change(&self, result: &OTelSdkResult) {
        let signal = self.signal;
        match (self.change(result.is_ok()), result) {
            (Some(Change::Down), Err(error)) => tracing::warn!(
                signal,
                %error,
                "the OTLP collector does not take what is sent; it is lost until the collector is back, which will be said"
            ),
            (Some(Change::Back), _) => tracing::info!(signal, "the OTLP collector is back"),
            _ => {}
        }
    }

    fn change(&self, is_ok: bool) -> Option<Change> {
        match (self.is_down.swap(!is_ok, Ordering::Relaxed), is_ok) {
            (false, false) => Some(Change::Down),
            (true, true) => Some(Change::Back),
            _ => None,
        }
    }
}

impl<E: SpanExporter> SpanExporter for OutageLogger<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        self.log_change(&self.exporter.export(batch).await);
        Ok(())
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

impl<E: LogExporter> LogExporter for OutageLogger<E> {
    async fn export(&self, batch: LogBatch<'_>) -> OTelSdkResult {
        self.log_change(&self.exporter.export(batch).await);
        Ok(())
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

impl<E: PushMetricExporter> PushMetricExporter for OutageLogger<E> {
    async fn export(&self, metrics: &ResourceMetrics) -> OTelSdkResult {
        self.log_change(&self.exporter.export(metrics).await);
        Ok(())
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn temporality(&self) -> Temporality {
        self.exporter.temporality()
    }
}

impl<E> fmt::Debug for OutageLogger<E> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("OutageLogger").field("signal", &self.signal).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changes_are_logged() {
        let logger = OutageLogger::new((), "traces");
        let changes = [true, false, false, true, true, false].map(|is_ok| logger.change(is_ok));
        let (down, back) = (|| Some(Change::Down), || Some(Change::Back));
        assert_eq!(changes, [None, down(), None, back(), None, down()]);
    }
}
