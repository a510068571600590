//! Exporters of metrics: the admin endpoint, for scrapers, and OTLP, where the `OTEL_*` variables say so.
//!
//! A scrape reads what has been counted, and OTLP is sent by a thread of its own: a slow or absent reader costs calls
//! nothing.

use opentelemetry_sdk::{
    Resource,
    error::OTelSdkError,
    metrics::{PeriodicReader, SdkMeterProvider},
};
use prometheus::{Registry, TextEncoder};

use super::install;
use crate::{
    otlp,
    setup::{Settings, SetupError},
};

/// The media type of [`Scrape::text`].
pub const TEXT_FORMAT: &str = prometheus::TEXT_FORMAT;

/// Reads the metrics in Prometheus's text form. Cheap to clone; clones share state.
#[derive(Clone, Debug)]
pub struct Scrape(Registry);

impl Scrape {
    /// Everything counted so far.
    pub fn text(&self) -> Result<String, prometheus::Error> {
        TextEncoder::new().encode_to_string(&self.0.gather())
    }
}

/// Starts counting if metrics have a consumer. Must run within a Tokio runtime, which the exporter uses.
pub(crate) fn start(
    settings: &Settings,
    resource: Resource,
) -> Result<(Option<SdkMeterProvider>, Option<Scrape>), SetupError> {
    if !settings.prometheus && settings.metrics.is_none() {
        return Ok((None, None));
    }
    let mut builder = SdkMeterProvider::builder().with_resource(resource);
    let mut scrape = None;
    if settings.prometheus {
        let registry = Registry::new();
        builder = builder.with_reader(reader(&registry)?);
        scrape = Some(Scrape(registry));
    }
    if let Some(otlp) = &settings.metrics {
        let reader =
            PeriodicReader::builder(otlp::metrics(otlp, &settings.egress)?).with_interval(settings.interval);
        builder = builder.with_reader(reader.build());
    }
    let provider = builder.build();
    install(&provider);
    Ok((Some(provider), scrape))
}

fn reader(registry: &Registry) -> Result<opentelemetry_prometheus::PrometheusExporter, OTelSdkError> {
    opentelemetry_prometheus::exporter().with_registry(registry.clone()).scope_info_enabled(false).build()
}

/// Metrics of one test.
#[cfg(test)]
pub(super) fn prometheus_alone(registry: &Registry) -> SdkMeterProvider {
    SdkMeterProvider::builder().with_reader(reader(registry).unwrap()).build()
}
