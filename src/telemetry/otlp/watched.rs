//! Reports a collector that is down: one warning, silence until it is back, one line then.
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
    metrics::{Temporality, data::ResourceMetrics, exporter::PushMetricExporter},
    trace::{SpanData, SpanExporter},
};

/// An exporter whose failures are logged once.
pub(crate) struct Watched<E> {
    exporter: E,
    signal: &'static str,
    is_down: AtomicBool,
}

/// What is worth a line of the log.
#[derive(Debug, PartialEq, Eq)]
enum Change {
    /// It took what it was sent until now.
    Down,
    /// It takes what it is sent again.
    Back,
}

impl<E> Watched<E> {
    pub(super) fn new(exporter: E, signal: &'static str) -> Self {
        Self { exporter, signal, is_down: AtomicBool::new(false) }
    }

    /// Logs a change. The SDK would log every failure, so it gets none of them.
    fn tell(&self, result: &OTelSdkResult) {
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

    fn change(&self, is_taken: bool) -> Option<Change> {
        match (self.is_down.swap(!is_taken, Ordering::Relaxed), is_taken) {
            (false, false) => Some(Change::Down),
            (true, true) => Some(Change::Back),
            _ => None,
        }
    }
}

impl<E: SpanExporter> SpanExporter for Watched<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        self.tell(&self.exporter.export(batch).await);
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

impl<E: PushMetricExporter> PushMetricExporter for Watched<E> {
    async fn export(&self, metrics: &ResourceMetrics) -> OTelSdkResult {
        self.tell(&self.exporter.export(metrics).await);
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

impl<E> fmt::Debug for Watched<E> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Watched").field("signal", &self.signal).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changes_are_told() {
        let watched = Watched::new((), "traces");
        let told = [true, false, false, true, true, false].map(|is_taken| watched.change(is_taken));
        let (down, back) = (|| Some(Change::Down), || Some(Change::Back));
        assert_eq!(told, [None, down(), None, back(), None, down()]);
    }
}
