//! Spans over TLS, by gRPC and by HTTP, to a collector whose authority is named.

use std::{fs, net::SocketAddr, path::Path, sync::Arc};

use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio_rustls::TlsAcceptor;
use toolwire::contract::proto::v1::{GetLimitsRequest, tool_service_client::ToolServiceClient};

use crate::support::{
    authority::Authority,
    collector::{Collector, Wire},
    program::Program,
};

#[tokio::test]
async fn spans_go_over_tls_by_either_protocol() {
    let authority = Authority::new();
    authority.sign("localhost");
    for (wire, protocol, alpn) in [(Wire::Grpc, "grpc", "h2"), (Wire::Http, "http/protobuf", "http/1.1")] {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let (collector, address) = Collector::at(any, wire, Some(acceptor(&authority, alpn))).await;
        let (endpoint, ca) = (format!("https://localhost:{}", address.port()), authority.file("ca.pem"));
        let variables = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", protocol),
            ("OTEL_EXPORTER_OTLP_CERTIFICATE", ca.to_str().unwrap()),
            ("OTEL_METRICS_EXPORTER", "none"),
            ("OTEL_BSP_SCHEDULE_DELAY", "50"),
        ];
        let program = Program::start(Path::new("."), &[], &variables).await;
        let mut client = ToolServiceClient::new(program.channel().await);
        client.get_limits(GetLimitsRequest::default()).await.unwrap();
        collector.any().await;
    }
}

fn acceptor(authority: &Authority, alpn: &str) -> TlsAcceptor {
    let chain = CertificateDer::pem_file_iter(authority.file("cert.pem")).unwrap().collect::<Result<_, _>>();
    let key = PrivateKeyDer::from_pem_slice(&fs::read(authority.file("key.pem")).unwrap()).unwrap();
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain.unwrap(), key)
        .unwrap();
    config.alpn_protocols = vec![alpn.as_bytes().to_vec()];
    TlsAcceptor::from(Arc::new(config))
}
