//! OTLP: the exporters of spans, of metrics and of the audit, over gRPC or `http/protobuf`, with TLS for `https://`.
//!
//! The exporters read their compression and temporality from the standard `OTEL_*` variables by themselves. Not here:
//! whether a signal is exported at all, and how, which the configuration says.

mod http;
mod outage_logger;

use std::{path::PathBuf, time::Duration};

use ::http::{HeaderName, HeaderValue};

use opentelemetry_otlp::{
    ExporterBuildError, LogExporter, MetricExporter, Protocol as Wire, SpanExporter, WithExportConfig,
    WithHttpConfig, WithTonicConfig,
};
use tonic::{
    metadata::MetadataMap,
    transport::{Certificate, ClientTlsConfig, Endpoint, Identity},
};

use self::outage_logger::OutageLogger;
use toolwire_outgoing::{Authorities, ClientCertificate, Egress, Trust};

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
    /// The PEM files of the certificate and of the key that are presented to a collector which asks for them.
    pub client: Option<(PathBuf, PathBuf)>,
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

pub(super) fn spans(otlp: &Otlp, egress: &Egress) -> Result<OutageLogger<SpanExporter>, ExporterBuildError> {
    let exporter = match otlp.protocol {
        Protocol::Grpc => with_channel(SpanExporter::builder().with_tonic(), otlp, egress)?.build()?,
        Protocol::Http => with_client(SpanExporter::builder().with_http(), otlp, egress)?.build()?,
    };
    Ok(OutageLogger::new(exporter, "traces"))
}

pub(super) fn metrics(
    otlp: &Otlp,
    egress: &Egress,
) -> Result<OutageLogger<MetricExporter>, ExporterBuildError> {
    let exporter = match otlp.protocol {
        Protocol::Grpc => with_channel(MetricExporter::builder().with_tonic(), otlp, egress)?.build()?,
        Protocol::Http => with_client(MetricExporter::builder().with_http(), otlp, egress)?.build()?,
    };
    Ok(OutageLogger::new(exporter, "metrics"))
}

pub(super) fn audit(otlp: &Otlp, egress: &Egress) -> Result<OutageLogger<LogExporter>, ExporterBuildError> {
    let exporter = match otlp.protocol {
        Protocol::Grpc => with_channel(LogExporter::builder().with_tonic(), otlp, egress)?.build()?,
        Protocol::Http => with_client(LogExporter::builder().with_http(), otlp, egress)?.build()?,
    };
    Ok(OutageLogger::new(exporter, "audit"))
}

fn with_channel<B: WithTonicConfig + WithExportConfig>(
    builder: B,
    otlp: &Otlp,
    egress: &Egress,
) -> Result<B, ExporterBuildError> {
    let metadata = MetadataMap::from_headers(otlp.headers.iter().cloned().collect());
    let builder = builder.with_endpoint(&otlp.endpoint).with_timeout(otlp.timeout).with_metadata(metadata);
    // The exporter itself connects to a socket of this machine.
    if otlp.endpoint.starts_with("unix:") {
        return Ok(builder);
    }
    let endpoint = Endpoint::from_shared(otlp.endpoint.clone())
        .map_err(|error| invalid(format!("the endpoint cannot be used: {error}")))?
        .timeout(otlp.timeout)
        .connect_timeout(otlp.timeout);
    let endpoint = if otlp.encrypted {
        let tls = endpoint.tls_config(tls(otlp, egress)?);
        tls.map_err(|error| invalid(format!("TLS cannot be used: {error:?}")))?
    } else {
        endpoint
    };
    Ok(builder.with_channel(endpoint.connect_with_connector_lazy(egress.connector())))
}

/// The authorities of the signal alone, or else those of the platform and of all connections.
fn tls(otlp: &Otlp, egress: &Egress) -> Result<ClientTlsConfig, ExporterBuildError> {
    let tls = match (authorities(otlp)?, egress.authorities()) {
        (Some(own), _) => ClientTlsConfig::new().ca_certificate(Certificate::from_pem(own.as_pem())),
        (None, None) => ClientTlsConfig::new().with_native_roots(),
        (None, Some(also)) => {
            let also = Certificate::from_pem(also.as_pem());
            ClientTlsConfig::new().with_native_roots().ca_certificate(also)
        }
    };
    Ok(match client_certificate(otlp)? {
        Some(own) => {
            let (certificate, key) = own.as_pem();
            tls.identity(Identity::from_pem(certificate, key))
        }
        None => tls,
    })
}

fn with_client<B: WithHttpConfig + WithExportConfig>(
    builder: B,
    otlp: &Otlp,
    egress: &Egress,
) -> Result<B, ExporterBuildError> {
    let trust = authorities(otlp)?.map_or_else(|| Trust::for_secure(otlp.encrypted), Trust::Only);
    let client = egress.builder_presenting(trust, client_certificate(otlp)?.as_ref()).build();
    let client = client.map_err(|error| invalid(format!("the HTTP client cannot be made: {error}")))?;
    let text = |value: &HeaderValue| value.to_str().map(str::to_owned);
    let headers = otlp.headers.iter().filter_map(|(name, value)| Some((name.to_string(), text(value).ok()?)));
    let builder = builder.with_endpoint(&otlp.endpoint).with_timeout(otlp.timeout);
    let client = http::Client::new(client);
    Ok(builder.with_headers(headers.collect()).with_http_client(client).with_protocol(Wire::HttpBinary))
}

fn authorities(otlp: &Otlp) -> Result<Option<Authorities>, ExporterBuildError> {
    let Some(file) = &otlp.ca else { return Ok(None) };
    let unusable = |what| invalid(format!("{} {what}", file.display()));
    Authorities::read(file).map(Some).map_err(unusable)
}

fn client_certificate(otlp: &Otlp) -> Result<Option<ClientCertificate>, ExporterBuildError> {
    let Some((certificate, key)) = &otlp.client else { return Ok(None) };
    let unusable = |what| invalid(format!("{} and {}: {what}", certificate.display(), key.display()));
    ClientCertificate::read(certificate, key).map(Some).map_err(unusable)
}

fn invalid(what: String) -> ExporterBuildError {
    ExporterBuildError::InvalidConfiguration(what)
}
