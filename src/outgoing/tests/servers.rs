//! A proxy, and a server over TLS for the name `upstream.test`, which the proxy alone knows.

use std::{
    io::Write,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::{
    RootCertStore, ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::WebPkiClientVerifier,
};
use tempfile::NamedTempFile;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy_bidirectional},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::TlsAcceptor;

use crate::{Authorities, ClientCertificate, Egress, ProxyAddress};

pub(super) const NAME: &str = "upstream.test";

pub(super) struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// What a proxy does once it has read a request.
#[derive(Clone, Copy)]
pub(super) enum Conduct {
    /// Connects to this server, whatever name was asked for.
    Tunnel(SocketAddr),
    /// Answers with this line and no more.
    Answer(&'static str),
    Close,
    Hang,
}

/// A proxy that writes down what it is asked for.
pub(super) struct Proxy {
    pub(super) address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

pub(super) fn pem_file(pem: &str) -> NamedTempFile {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(pem.as_bytes()).unwrap();
    file
}

impl Authority {
    pub(super) fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // Of two authorities of one name only the signatures would differ.
        let name = format!("{:x?}", &key.public_key_raw()[..16]);
        params.distinguished_name.push(DnType::CommonName, name);
        let pem = params.self_signed(&key).unwrap().pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    pub(super) fn authorities(&self) -> Authorities {
        Authorities::read(pem_file(&self.pem).path()).unwrap()
    }

    /// A certificate for a name, and its key.
    pub(super) fn sign(&self, name: &str) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        (params.not_before, params.not_after) = (date_time_ymd(2000, 1, 1), date_time_ymd(2100, 1, 1));
        (params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }

    pub(super) fn client_certificate(&self) -> ClientCertificate {
        let (certificate, key) = self.sign("toolwire");
        ClientCertificate::read(pem_file(&certificate).path(), pem_file(&key).path()).unwrap()
    }

    /// A server with a certificate of this authority, which demands one of it if `demands`.
    pub(super) async fn serve(&self, demands: bool) -> SocketAddr {
        let provider = Arc::new(ring::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.pem.as_bytes()).unwrap()).unwrap();
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
        let config =
            ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config = if demands {
            config.with_client_cert_verifier(verifier.build().unwrap())
        } else {
            config.with_no_client_auth()
        };
        let (certificate, key) = self.sign(NAME);
        let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config.with_single_cert(chain, key).unwrap()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    if let Ok(mut stream) = acceptor.accept(socket).await {
                        head(&mut stream).await;
                        answer(&mut stream, "200 OK").await;
                    }
                });
            }
        });
        address
    }
}

impl Proxy {
    pub(super) async fn start(conduct: Conduct) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let heard = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let heard = Arc::clone(&heard);
                tokio::spawn(async move {
                    let asked = head(&mut socket).await;
                    heard.lock().unwrap().push(asked);
                    match conduct {
                        Conduct::Tunnel(server) => {
                            let mut server = TcpStream::connect(server).await.unwrap();
                            socket.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await.unwrap();
                            let _ = copy_bidirectional(&mut socket, &mut server).await;
                        }
                        Conduct::Answer(status) => answer(&mut socket, status).await,
                        Conduct::Close => {}
                        Conduct::Hang => std::future::pending().await,
                    }
                });
            }
        });
        Self { address, asked }
    }

    /// What goes out by it, with a name and a password.
    pub(super) fn egress(&self) -> Egress {
        let address: ProxyAddress = format!("http://riley:s3cret@{}", self.address).parse().unwrap();
        Egress::default().with_proxy(address, &["direct.test".parse().unwrap()])
    }

    /// The heads of all requests that it got.
    pub(super) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

async fn head(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut read = Vec::new();
    while !read.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => read.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8(read).unwrap()
}

async fn answer(stream: &mut (impl AsyncWrite + Unpin), status: &str) {
    let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok");
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}
