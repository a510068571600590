//! Certificates of a test: an authority of its own, and what it signs.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{fs, path::PathBuf, sync::Arc};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, SanType, date_time_ymd};
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tempfile::TempDir;
use toolwire::config::{Config, Tls};

use super::server::config;

/// An authority, and a directory of the files it makes.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    directory: TempDir,
}

impl Authority {
    pub fn new() -> Self {
        Self::until(4096)
    }

    /// One that is valid until the first day of a year.
    pub fn until(year: i32) -> Self {
        let (directory, key) = (tempfile::tempdir().unwrap(), KeyPair::generate().unwrap());
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.not_after = date_time_ymd(year, 1, 1);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let cert = params.self_signed(&key).unwrap();
        fs::write(directory.path().join("ca.pem"), cert.pem()).unwrap();
        Self { issuer: Issuer::new(params, key), directory }
    }

    /// The file of a name, `ca.pem`, `cert.pem` or `key.pem`.
    pub fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn pem(&self) -> String {
        fs::read_to_string(self.file("ca.pem")).unwrap()
    }

    /// Signs a certificate for a name and writes it and its key.
    pub fn sign(&self, name: &str) {
        self.sign_until(name, 2100);
    }

    /// The same, valid until the first day of a year.
    pub fn sign_until(&self, name: &str, year: i32) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(year, 1, 1);
        let cert = params.signed_by(&key, &self.issuer).unwrap();
        fs::write(self.file("cert.pem"), cert.pem()).unwrap();
        fs::write(self.file("key.pem"), key.serialize_pem()).unwrap();
    }

    /// Signs a certificate of a client with these URIs, valid until the first day of a year: its PEM and that of its
    /// key.
    pub fn sign_client(&self, uris: &[&str], year: i32) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.subject_alt_names = uris.iter().map(|&uri| SanType::URI(uri.try_into().unwrap())).collect();
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(year, 1, 1);
        (params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }

    /// A client that trusts this authority, with a certificate and its key, both as PEM, if it has one.
    pub fn client(&self, certificate: Option<&(String, String)>) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.pem().as_bytes()).unwrap()).unwrap();
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let Some((cert, key)) = certificate else { return builder.with_no_client_auth() };
        let chain = vec![CertificateDer::from_pem_slice(cert.as_bytes()).unwrap()];
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
        builder.with_client_auth_cert(chain, key).unwrap()
    }

    /// The usual configuration, with what was signed last.
    pub fn config(&self) -> Config {
        let mut config = config();
        config.server.tls =
            Tls { cert: Some(self.file("cert.pem")), key: Some(self.file("key.pem")), ..Tls::default() };
        config
    }
}
