//! OTLP: the exporters of spans and of metrics, over gRPC or `http/protobuf`, with TLS for `https://`.
//!
//! The exporters read their compression and temporality from the standard `OTEL_*` variables by themselves. Not here:
//! whether a signal is exported at all, and how, which the configuration says.

mod http;
mod outage_logger;

use std::{fs, path::PathBuf, time::Duration};

use ::http::{HeaderName, HeaderValue};

use opentelemetry_otlp::{
    ExporterBuildError, MetricExporter, Protocol as Wire, SpanExporter, WithExportConfig, WithHttpConfig,
    WithTonicConfig,
};
use tonic::{
    metadata::MetadataMap,
    transport::{Certificate, ClientTlsConfig},
};

use self::{http::Client, outage_logger::OutageLogger};
use toolwire_base::words::bytes_without_bom;

/// How one signal is exported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Otlp {
    /// The protocol of the collector.
    pub protocol: Protocol,
    /// URL of the collector, over HTTP with the path of the signal.
    pub endpoint: String,
    /// Headers of every request.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Maximum duration of one request.
    pub timeout: Duration,
    /// Whether the connection uses TLS.
    pub encrypted: bool,
    /// A PEM file of the authorities to trust; without one, those of the platform.
    pub ca: Option<PathBuf>,
}

/// The protocol that a collector speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// gRPC, on port 4317 by convention.
    #[default]
    Grpc,
    /// Protobuf over HTTP/1.1, on port 4318 by convention.
    Http,
}

impl Otlp {
    /// The default of [`timeout`](Self::timeout).
    pub const TIMEOUT: Duration = Duration::from_secs(10);
}

pub(super) fn spans(otlp: &Otlp) -> Result<OutageLogger<SpanExporter>, ExporterBuildError> {
    let exporter = match otlp.protocol {
        Protocol::Grpc => with_channel(SpanExporter::builder().with_tonic(), otlp)?.build()?,
        Protocol::Http => with_client(SpanExporter::builder().with_http(), otlp)?.build()?,
    };
    Ok(OutageLogger::new(exporter, "traces"))
}

pub(super) fn metrics(otlp: &Otlp) -> Result<OutageLogger<MetricExporter>, ExporterBuildError> {
    let exporter = match otlp.protocol {
        Protocol::Grpc => with_channel(MetricExporter::builder().with_tonic(), otlp)?.build()?,
        Protocol::Http => with_client(MetricExporter::builder().with_http(), otlp)?.build()?,
    };
    Ok(OutageLogger::new(exporter, "metrics"))
}

fn with_channel<B: WithTonicConfig + WithExportConfig>(
    builder: B,
    otlp: &Otlp,
) -> Result<B, ExporterBuildError> {
    let metadata = MetadataMap::from_headers(otlp.headers.iter().cloned().collect());
    let builder = builder.with_endpoint(&otlp.endpoint).with_timeout(otlp.timeout).with_metadata(metadata);
    if !otlp.encrypted {
        return Ok(builder);
    }
    let tls = ClientTlsConfig::new();
    Ok(builder.with_tls_config(match authorities(otlp)? {
        Some(pem) => tls.ca_certificate(Certificate::from_pem(pem)),
        None => tls.with_native_roots(),
    }))
}

fn with_client<B: WithHttpConfig + WithExportConfig>(
    builder: B,
    otlp: &Otlp,
) -> Result<B, ExporterBuildError> {
    let client = Client::new(otlp.encrypted, authorities(otlp)?.as_deref())
        .map_err(|error| invalid(format!("the HTTP client cannot be made: {error}")))?;
    let text = |value: &HeaderValue| value.to_str().map(str::to_owned);
    let headers = otlp.headers.iter().filter_map(|(name, value)| Some((name.to_string(), text(value).ok()?)));
    let builder = builder.with_endpoint(&otlp.endpoint).with_timeout(otlp.timeout);
    Ok(builder.with_headers(headers.collect()).with_http_client(client).with_protocol(Wire::HttpBinary))
}

fn authorities(otlp: &Otlp) -> Result<Option<Vec<u8>>, ExporterBuildError> {
    let Some(file) = &otlp.ca else { return Ok(None) };
    let read =
        fs::read(file).map_err(|error| invalid(format!("{} cannot be read: {error}", file.display())))?;
    Ok(Some(bytes_without_bom(&read).to_vec()))
}

fn invalid(what: String) -> ExporterBuildError {
    ExporterBuildError::InvalidConfiguration(what)
}
