//! The server's certificate and private key: read from PEM files, and reloaded when these change.
//!
//! A changed pair is tried once it was the same in two consecutive checks, so that the two files can be replaced one
//! after the other. An unusable pair is logged, and the previous one stays in use. Not here: whether clients trust the
//! certificate.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use arc_swap::ArcSwap;
use rustls::{
    self, InconsistentKeys,
    crypto::ring,
    pki_types::{
        CertificateDer, PrivateKeyDer,
        pem::{self, PemObject},
    },
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};

use toolwire_base::{digest::Digest, words::bytes_without_bom};

/// The PEM files of a certificate and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// The certificate, followed by its intermediate certificates.
    pub cert: PathBuf,
    /// The private key: PKCS#8, PKCS#1 or SEC1, not encrypted.
    pub key: PathBuf,
}

/// The error of an unusable pair: the file and the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {what}")]
pub struct CertificateError {
    file: String,
    what: String,
}

/// The pair in use, and its files.
pub(super) struct Certificate {
    files: Files,
    served: ArcSwap<CertifiedKey>,
    versions: Mutex<Versions>,
}

/// Digests of the files: at the last check, and at the last attempt to use them.
struct Versions {
    last: Digest,
    tried: Digest,
}

impl Certificate {
    pub(super) fn open(files: Files) -> Result<Self, CertificateError> {
        let digest = digest(&files);
        let served = ArcSwap::from_pointee(read(&files)?);
        Ok(Self { files, served, versions: Mutex::new(Versions { last: digest, tried: digest }) })
    }

    /// Checks the files, and uses their pair if it is new and valid.
    pub(super) fn reload(&self) {
        if !self.is_due() {
            return;
        }
        let cert = self.files.cert.display();
        match read(&self.files) {
            Ok(pair) => {
                self.served.store(Arc::new(pair));
                tracing::info!(%cert, "a new certificate is served from now on");
            }
            Err(error) => {
                tracing::error!(%error, "the new certificate cannot be used; the one before is served on");
            }
        }
    }

    /// Whether the files are unchanged since the last check and were not tried yet.
    fn is_due(&self) -> bool {
        let now = digest(&self.files);
        let mut versions = self.versions.lock().expect("no holder of the lock panics");
        let is_settled = std::mem::replace(&mut versions.last, now) == now;
        is_settled && std::mem::replace(&mut versions.tried, now) != now
    }
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.served.load_full())
    }
}

impl fmt::Debug for Certificate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Certificate").field("files", &self.files).finish_non_exhaustive()
    }
}

impl CertificateError {
    fn new(file: &Path, what: impl Into<String>) -> Self {
        Self { file: file.display().to_string(), what: what.into() }
    }
}

/// A digest of both files. An unreadable file counts as empty; `read` reports the error.
fn digest(files: &Files) -> Digest {
    Digest::of_parts([&files.cert, &files.key].map(|path| fs::read(path).unwrap_or_default()))
}

fn read(files: &Files) -> Result<CertifiedKey, CertificateError> {
    let Files { cert, key } = files;
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes(cert)?).collect();
    let chain = chain.map_err(|error| CertificateError::new(cert, format!("not valid PEM: {error}")))?;
    if chain.is_empty() {
        return Err(CertificateError::new(cert, "holds no certificate in PEM (-----BEGIN CERTIFICATE-----)"));
    }
    let private = PrivateKeyDer::from_pem_slice(&bytes(key)?)
        .map_err(|error| CertificateError::new(key, key_error(&error)))?;
    CertifiedKey::from_der(chain, private, &ring::default_provider())
        .map_err(|error| pair_error(files, &error))
}

fn bytes(path: &Path) -> Result<Vec<u8>, CertificateError> {
    let pem =
        fs::read(path).map_err(|error| CertificateError::new(path, format!("cannot be read: {error}")))?;
    Ok(bytes_without_bom(&pem).to_vec())
}

fn key_error(error: &pem::Error) -> String {
    match error {
        pem::Error::NoItemsFound => {
            "holds no private key in PEM that is not encrypted (-----BEGIN PRIVATE KEY-----)".to_owned()
        }
        error => format!("not valid PEM: {error}"),
    }
}

fn pair_error(files: &Files, error: &rustls::Error) -> CertificateError {
    match error {
        rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
            let what = format!("is not the key of the certificate in {}", files.cert.display());
            CertificateError::new(&files.key, what)
        }
        rustls::Error::InvalidCertificate(error) => {
            CertificateError::new(&files.cert, format!("its first certificate cannot be read: {error}"))
        }
        error => CertificateError::new(&files.key, format!("cannot be used: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The PEM of a certificate for `localhost` and of its key.
    fn pair() -> (String, String) {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        (made.cert.pem(), made.signing_key.serialize_pem())
    }

    fn files(directory: &Path, (cert, key): &(String, String)) -> Files {
        let files = Files { cert: directory.join("cert.pem"), key: directory.join("key.pem") };
        fs::write(&files.cert, cert).unwrap();
        fs::write(&files.key, key).unwrap();
        files
    }

    #[track_caller]
    fn refused(cert: &str, key: &str) -> String {
        let directory = tempfile::tempdir().unwrap();
        let files = files(directory.path(), &(cert.to_owned(), key.to_owned()));
        Certificate::open(files).unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_be_a_pair_is_refused_with_its_file_and_why() {
        let ((cert, key), (_, other)) = (pair(), pair());
        assert!(refused(&cert, &other).contains("key.pem: is not the key of the certificate in "));
        assert!(refused("", &key).contains("cert.pem: holds no certificate"));
        assert!(refused(&cert, &cert).contains("key.pem: holds no private key"));
        let half = &cert[..cert.len() / 2];
        assert!(refused(half, &key).contains("cert.pem: not valid PEM"), "{}", refused(half, &key));
        let nowhere = Files { cert: "nowhere.pem".into(), key: "nowhere.pem".into() };
        let error = Certificate::open(nowhere).unwrap_err().to_string();
        assert!(error.starts_with("nowhere.pem: cannot be read: "), "{error}");
    }

    #[test]
    fn a_new_pair_is_served_and_a_broken_one_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let (first, second) = (pair(), pair());
        let certificate = Certificate::open(files(directory.path(), &first)).unwrap();
        let served = || certificate.served.load().cert[0].clone();
        let before = served();

        files(directory.path(), &(second.0.clone(), first.1));
        certificate.reload();
        // The other file is replaced before the next check: the mixed pair was never tried.
        files(directory.path(), &second);
        certificate.reload();
        assert_eq!(served(), before, "taken before it settled");
        certificate.reload();
        let after = served();
        assert_ne!(after, before);

        files(directory.path(), &(second.0, "broken".to_owned()));
        certificate.reload();
        certificate.reload();
        assert_eq!(served(), after);
    }
}
