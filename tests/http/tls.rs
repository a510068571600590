//! HTTP under TLS: what is negotiated is spoken, and who comes without is told.

use std::{fs, sync::Arc};

use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, ServerName},
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_rustls::{TlsConnector, client::TlsStream};
use toolwire::config::Tls;

use crate::{
    http::{
        raw::Raw,
        toys::{READY, Toys},
    },
    support::server::config_with_http,
};

/// A server with a certificate of its own making, and what trusts it.
struct Secured {
    toys: Toys,
    roots: RootCertStore,
    _files: TempDir,
}

impl Secured {
    fn start() -> Self {
        let (files, key) = (tempfile::tempdir().unwrap(), KeyPair::generate().unwrap());
        let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        (params.not_before, params.not_after) = (date_time_ymd(2000, 1, 1), date_time_ymd(2100, 1, 1));
        let cert = params.self_signed(&key).unwrap();
        let (cert_file, key_file) = (files.path().join("cert.pem"), files.path().join("key.pem"));
        fs::write(&cert_file, cert.pem()).unwrap();
        fs::write(&key_file, key.serialize_pem()).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from(cert.der().to_vec())).unwrap();
        let mut config = config_with_http();
        config.server.tls = Tls { cert: Some(cert_file), key: Some(key_file), ..Tls::default() };
        Self { toys: Toys::with(config), roots, _files: files }
    }

    async fn connect(&self, protocols: &[&[u8]]) -> TlsStream<TcpStream> {
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(self.roots.clone())
            .with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        let stream = TcpStream::connect(self.toys.http).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap()
    }
}

#[tokio::test]
async fn both_versions_are_negotiated_and_http_2_is_preferred() {
    let secured = Secured::start();
    let stream = secured.connect(&[b"http/1.1", b"h2"]).await;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let (sender, connection) = h2::client::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    let request = http::Request::get(format!("https://localhost{READY}")).body(()).unwrap();
    let (answer, _) = sender.ready().await.unwrap().send_request(request, true).unwrap();
    assert_eq!(answer.await.unwrap().status(), 200);
}

#[tokio::test]
async fn http_1_is_spoken_with_and_without_negotiation() {
    let secured = Secured::start();
    for protocols in [&[&b"http/1.1"[..]][..], &[]] {
        let mut stream = secured.connect(protocols).await;
        // The page of this server over TLS is its own.
        let head = "host: localhost\r\norigin: https://localhost\r\nconnection: close";
        stream.write_all(format!("GET {READY} HTTP/1.1\r\n{head}\r\n\r\n").as_bytes()).await.unwrap();
        let mut told = String::new();
        stream.read_to_string(&mut told).await.unwrap();
        assert!(told.starts_with("HTTP/1.1 200 ") && told.ends_with("\"ready\""), "{told}");
    }
}

#[tokio::test]
async fn plain_text_is_told_to_come_with_tls() {
    let secured = Secured::start();
    let mut raw = Raw::connect(secured.toys.http).await;
    raw.ask("GET", READY, &[], "").await;
    let told = raw.rest().await;
    assert!(told.starts_with("HTTP/1.1 400 ") && told.ends_with("use https://."), "{told}");
}
