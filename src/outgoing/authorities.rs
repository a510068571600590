//! Authorities whose certificates are trusted, as a PEM file holds them.

use std::sync::Arc;

use reqwest::Certificate;
use rustls::{
    RootCertStore,
    pki_types::{CertificateDer, pem::PemObject},
};

/// Authorities whose certificates are trusted. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorities(Arc<[u8]>);

/// A file does not hold the certificates that it should.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PemError {
    #[error("holds no certificate in PEM")]
    NoCertificate,
    #[error("certificate {number} in it cannot be used: {why}")]
    Unusable { number: usize, why: String },
}

impl Authorities {
    /// The authorities of a PEM file, each checked to be one.
    pub fn from_pem(pem: &[u8]) -> Result<Self, PemError> {
        let mut roots = RootCertStore::empty();
        for (index, certificate) in certificates(pem)?.into_iter().enumerate() {
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

/// The certificates of a PEM file, at least one.
pub(crate) fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, PemError> {
    let mut found = Vec::new();
    for read in CertificateDer::pem_slice_iter(pem) {
        let number = found.len() + 1;
        found.push(read.map_err(|error| PemError::Unusable { number, why: error.to_string() })?);
    }
    if found.is_empty() { Err(PemError::NoCertificate) } else { Ok(found) }
}
