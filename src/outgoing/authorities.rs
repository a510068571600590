//! Authorities whose certificates are trusted, as a PEM file holds them.

use std::{fs, path::Path, sync::Arc};

use reqwest::Certificate;
use rustls::{
    RootCertStore,
    pki_types::{CertificateDer, pem::PemObject},
};
use toolwire_base::words::bytes_without_bom;

/// Authorities whose certificates are trusted. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorities(Arc<[u8]>);

/// A file does not hold the certificates that it should.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PemError {
    #[error("cannot be read: {0}")]
    Unreadable(String),
    #[error("holds no certificate in PEM (-----BEGIN CERTIFICATE-----)")]
    NoCertificate,
    #[error("certificate {number} in it cannot be used: {why}")]
    Unusable { number: usize, why: String },
}

impl Authorities {
    /// Reads a PEM file, and checks that each of its certificates can be trusted.
    pub fn read(file: &Path) -> Result<Self, PemError> {
        let pem = read(file)?;
        let mut roots = RootCertStore::empty();
        for (index, certificate) in certificates(&pem)?.into_iter().enumerate() {
            let unusable =
                |error: rustls::Error| PemError::Unusable { number: index + 1, why: error.to_string() };
            roots.add(certificate).map_err(unusable)?;
        }
        Ok(Self(pem.into()))
    }

    /// As they stood in the file.
    pub fn as_pem(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn certificates(&self) -> Vec<Certificate> {
        Certificate::from_pem_bundle(&self.0).expect("checked when it was read")
    }
}

/// The bytes of a PEM file, without the byte order mark that some editors put before them.
pub(crate) fn read(file: &Path) -> Result<Vec<u8>, PemError> {
    let bytes = fs::read(file).map_err(|error| PemError::Unreadable(error.to_string()))?;
    Ok(bytes_without_bom(&bytes).to_vec())
}

/// The certificates of a PEM file, at least one.
pub(crate) fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, PemError> {
    let mut found = Vec::new();
    for read in CertificateDer::pem_slice_iter(pem) {
        let number = found.len() + 1;
        found.push(read.map_err(|error| PemError::Unusable { number, why: error.to_string() })?);
    }
    if found.is_empty() { Err(PemError::NoCertificate) } else { Ok(found) }
}
