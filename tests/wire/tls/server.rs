//! What a client of the server's port gets: with TLS, without it, too slowly, and after the certificate has changed.

use std::{fs, net::SocketAddr, sync::Arc, time::Duration};

use h2::Reason;
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::{TlsConnector, client::TlsStream};
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use toolwire::{
    contract::proto::v1::{GetLimitsRequest, tool_service_client::ToolServiceClient},
    server::faces::grpc,
};

use crate::support::{
    authority::Authority,
    server::{Server, config},
};

#[tokio::test]
async fn a_client_that_trusts_the_authority_calls_over_tls() {
    let authority = Authority::new();
    authority.sign("localhost");
    let server = Server::with(authority.config());
    let channel = channel(&server, &authority).await;
    ToolServiceClient::new(channel).get_limits(GetLimitsRequest::default()).await.unwrap();
}

#[tokio::test]
async fn only_http_2_is_negotiated() {
    let authority = Authority::new();
    authority.sign("localhost");
    let server = Server::with(authority.config());
    let stream = handshake(server.address, &authority, &[b"http/1.1", b"h2"]).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let error = handshake(server.address, &authority, &[b"http/1.1"]).await.unwrap_err();
    assert!(error.to_string().contains("NoApplicationProtocol"), "{error}");
}

#[tokio::test]
async fn plain_text_is_told_to_come_with_tls() {
    let authority = Authority::new();
    authority.sign("localhost");
    let server = Server::with(authority.config());

    let mut http1 = TcpStream::connect(server.address).await.unwrap();
    http1.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let mut told = String::new();
    http1.read_to_string(&mut told).await.unwrap();
    assert!(told.starts_with("HTTP/1.1 400 ") && told.ends_with("use https://."), "{told}");

    let http2 = TcpStream::connect(server.address).await.unwrap();
    let (_sender, connection) = h2::client::handshake(http2).await.unwrap();
    let error = connection.await.unwrap_err();
    assert!(error.is_go_away() && error.reason() == Some(Reason::INADEQUATE_SECURITY), "{error:?}");
}

#[tokio::test]
async fn a_handshake_takes_a_place_and_is_bounded() {
    let authority = Authority::new();
    authority.sign("localhost");
    let mut config = authority.config();
    config.server.limits.max_connections = 1;
    config.server.limits.preface_timeout = Duration::from_millis(300);
    let server = Server::with(config);
    // Says nothing after the beginning of a handshake, and holds the only place.
    let mut silent = TcpStream::connect(server.address).await.unwrap();
    silent.write_all(&[0x16, 3, 1]).await.unwrap();
    let next = handshake(server.address, &authority, &[b"h2"]);
    let mut rest = [0; 64];
    let (ended, next) = tokio::join!(silent.read(&mut rest), timeout(Duration::from_secs(20), next));
    assert!(matches!(ended, Ok(0) | Err(_)), "{ended:?}");
    next.expect("the place was never given back").unwrap();
}

#[tokio::test]
async fn a_new_certificate_is_served_without_a_restart_and_a_broken_one_is_not() {
    let authority = Authority::new();
    authority.sign("localhost");
    let server = Server::with(authority.config());
    let first = certificate(&server, &authority).await;

    fs::write(authority.file("key.pem"), "broken").unwrap();
    authority.sign("localhost");
    let second = CertificateDer::from_pem_file(authority.file("cert.pem")).unwrap();
    assert_ne!(first, second);
    let renewed = async { while certificate(&server, &authority).await != second {} };
    timeout(Duration::from_secs(20), renewed).await.expect("the new certificate is never renewed");
}

#[tokio::test]
async fn a_server_does_not_start_with_a_pair_that_does_not_match() {
    let authority = Authority::new();
    authority.sign("localhost");
    let key = fs::read(authority.file("key.pem")).unwrap();
    authority.sign("localhost");
    fs::write(authority.file("key.pem"), key).unwrap();
    let error = grpc::bind(&authority.config().server).unwrap_err().to_string();
    assert!(error.contains("key.pem: is not the key of the certificate in"), "{error}");
}

#[tokio::test]
async fn a_tls_client_of_a_plain_port_is_told_so() {
    let authority = Authority::new();
    let server = Server::with(config());
    let error = handshake(server.address, &authority, &[b"h2"]).await.unwrap_err();
    assert!(error.to_string().contains("InvalidContentType"), "{error}");
}

async fn channel(server: &Server, authority: &Authority) -> Channel {
    let tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(authority.pem()));
    let endpoint = Endpoint::from_shared(format!("https://localhost:{}", server.address.port())).unwrap();
    endpoint.tls_config(tls).unwrap().connect().await.unwrap()
}

/// What a new connection is shown.
async fn certificate(server: &Server, authority: &Authority) -> CertificateDer<'static> {
    let stream = handshake(server.address, authority, &[b"h2"]).await.unwrap();
    stream.get_ref().1.peer_certificates().unwrap()[0].clone().into_owned()
}

async fn handshake(
    address: SocketAddr,
    authority: &Authority,
    alpn: &[&[u8]],
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(authority.pem().as_bytes()).unwrap()).unwrap();
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
    let stream = TcpStream::connect(address).await?;
    TlsConnector::from(Arc::new(config)).connect(ServerName::try_from("localhost").unwrap(), stream).await
}
