//! The certificate by which this process proves itself to a server that asks for one.

use std::{fmt, path::Path, sync::Arc};

use reqwest::{ClientBuilder, Identity};
use rustls::{
    crypto::ring,
    pki_types::{PrivateKeyDer, pem::PemObject},
    sign::CertifiedKey,
};

use crate::{
    PemError,
    authorities::{certificates, read},
};

/// A certificate and its private key. Cheap to clone, and shown without either.
#[derive(Clone)]
pub struct ClientCertificate(Arc<Pair>);

struct Pair {
    certificate: Vec<u8>,
    key: Vec<u8>,
    identity: Identity,
}

/// Two files are no certificate and key that belong together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClientCertificateError {
    #[error("client_cert {0}")]
    Certificate(PemError),
    #[error("client_key {0}")]
    Key(PemError),
    /// In words that show nothing of the key.
    #[error("client_key holds no private key in PEM")]
    NoKey,
    #[error("client_key is not the key of client_cert")]
    OtherKey,
    #[error("client_cert and client_key cannot be used: {0}")]
    Unusable(String),
}

impl ClientCertificate {
    /// Reads the PEM files of a certificate, with those between it and its authority, and of its key.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, ClientCertificateError> {
        let certificate = read(certificate).map_err(ClientCertificateError::Certificate)?;
        let key = read(key).map_err(ClientCertificateError::Key)?;
        let chain = certificates(&certificate).map_err(ClientCertificateError::Certificate)?;
        let private = PrivateKeyDer::from_pem_slice(&key).map_err(|_| ClientCertificateError::NoKey)?;
        match CertifiedKey::from_der(chain, private, &ring::default_provider()) {
            Ok(_) => {}
            Err(rustls::Error::InconsistentKeys(_)) => return Err(ClientCertificateError::OtherKey),
            Err(error) => return Err(ClientCertificateError::Unusable(error.to_string())),
        }
        let identity = Identity::from_pem(&[&key, &b"\n"[..], &certificate].concat()).map_err(|_| {
            ClientCertificateError::Unusable("they hold more than a certificate and a key".to_owned())
        })?;
        Ok(Self(Arc::new(Pair { certificate, key, identity })))
    }

    /// The client that presents it to a server that asks.
    pub(crate) fn present(&self, builder: ClientBuilder) -> ClientBuilder {
        builder.identity(self.0.identity.clone())
    }

    /// The certificate and the key, as they stood in their files.
    pub fn as_pem(&self) -> (&[u8], &[u8]) {
        (&self.0.certificate, &self.0.key)
    }
}

impl fmt::Debug for ClientCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ClientCertificate").finish_non_exhaustive()
    }
}
