//! What TLS is spoken with: the server's certificate and private key, and the authorities of its clients, read from PEM
//! files and reloaded when these change.
//!
//! Changed files are tried once they were the same in two consecutive checks, so that they can be replaced one after
//! the other. Unusable ones are logged, and the previous ones stay in use. Not here: whether clients trust the
//! certificate.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use arc_swap::ArcSwap;
use rustls::{
    self, InconsistentKeys, ServerConfig,
    crypto::ring,
    pki_types::{
        CertificateDer, PrivateKeyDer, UnixTime,
        pem::{self, PemObject},
    },
    server::NoServerSessionStorage,
};

use super::{authorities, clients};
use toolwire_base::{debounce::Debounce, digest::Digest, words::bytes_without_bom};
use toolwire_config::{self as config, ClientAuth};
use toolwire_telemetry::metric;

/// What is on disk, in metrics.
const KIND: &str = "certificates";

/// The PEM files of TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// The certificate, followed by its intermediate certificates.
    pub cert: PathBuf,
    /// The private key: PKCS#8, PKCS#1 or SEC1, not encrypted.
    pub key: PathBuf,
    /// The authorities of client certificates, and whether each client must present one. `None`: none are asked for.
    pub clients: Option<(PathBuf, ClientAuth)>,
}

/// The error of unusable files: the file and the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {what}")]
pub struct CertificateError {
    file: String,
    what: String,
}

/// What is served, and its files.
pub(super) struct Certificate {
    files: Files,
    alpn: Vec<Vec<u8>>,
    served: ArcSwap<ServerConfig>,
    debounce: Mutex<Debounce>,
}

impl Files {
    /// Those that the configuration names, if connections use TLS.
    pub fn of(tls: &config::Tls) -> Option<Self> {
        let (cert, key) = tls.files()?;
        let clients = tls.clients().map(|(ca, client_auth)| (ca.to_owned(), client_auth));
        Some(Self { cert: cert.to_owned(), key: key.to_owned(), clients })
    }

    fn paths(&self) -> impl Iterator<Item = &Path> + Clone {
        let clients = self.clients.iter().map(|(ca, _)| ca);
        [&self.cert, &self.key].into_iter().chain(clients).map(PathBuf::as_path)
    }
}

impl Certificate {
    pub(super) fn open(files: Files, alpn: Vec<Vec<u8>>) -> Result<Self, CertificateError> {
        let digest = digest(&files);
        let served = ArcSwap::from_pointee(read(&files, &alpn)?);
        metric::config_problem(KIND, false);
        Ok(Self { files, alpn, served, debounce: Mutex::new(Debounce::new(digest)) })
    }

    /// What new connections are served with.
    pub(super) fn served(&self) -> Arc<ServerConfig> {
        self.served.load_full()
    }

    /// Checks the files, and uses them if they are new and valid.
    pub(super) fn reload(&self) {
        if !self.is_due() {
            return;
        }
        let cert = self.files.cert.display();
        let read = read(&self.files, &self.alpn);
        metric::config_problem(KIND, read.is_err());
        match read {
            Ok(config) => {
                self.served.store(Arc::new(config));
                tracing::info!(%cert, "a new certificate is served from now on");
            }
            Err(error) => {
                tracing::error!(%error, "the new certificate cannot be used; the one before is served on");
            }
        }
    }

    /// Whether the files are to be tried.
    fn is_due(&self) -> bool {
        let mut debounce = self.debounce.lock().expect("no holder of the lock panics");
        debounce.is_due_of(self.files.paths(), || digest(&self.files))
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

/// A digest of all files. An unreadable file counts as empty; `read` reports the error.
fn digest(files: &Files) -> Digest {
    Digest::of_parts(files.paths().map(|path| fs::read(path).unwrap_or_default()))
}

fn read(files: &Files, alpn: &[Vec<u8>]) -> Result<ServerConfig, CertificateError> {
    let Files { cert, key, clients } = files;
    let chain = certificates(cert)?;
    let private = PrivateKeyDer::from_pem_slice(&bytes(key)?)
        .map_err(|error| CertificateError::new(key, key_error(&error)))?;
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring has the ciphers of TLS 1.2 and 1.3");
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some((ca, client_auth)) => {
            let authorities = certificates(ca)?;
            authorities::warn_of_invalid(ca, &authorities, UnixTime::now());
            let verifier = clients::verifier(authorities, *client_auth);
            builder.with_client_cert_verifier(verifier.map_err(|what| CertificateError::new(ca, what))?)
        }
    };
    let mut config = builder.with_single_cert(chain, private).map_err(|error| pair_error(files, &error))?;
    config.alpn_protocols = alpn.to_vec();
    if clients.is_some() {
        // A resumed session would carry on a certificate that has expired, or whose authority was replaced.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
    }
    Ok(config)
}

/// The certificates of a file, at least one.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, CertificateError> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes(path)?).collect();
    let all = all.map_err(|error| CertificateError::new(path, format!("not valid PEM: {error}")))?;
    if all.is_empty() {
        return Err(CertificateError::new(path, "holds no certificate in PEM (-----BEGIN CERTIFICATE-----)"));
    }
    Ok(all)
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
        let files = Files { cert: directory.join("cert.pem"), key: directory.join("key.pem"), clients: None };
        fs::write(&files.cert, cert).unwrap();
        fs::write(&files.key, key).unwrap();
        files
    }

    #[track_caller]
    fn refused(cert: &str, key: &str) -> String {
        let directory = tempfile::tempdir().unwrap();
        let files = files(directory.path(), &(cert.to_owned(), key.to_owned()));
        Certificate::open(files, Vec::new()).unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_be_a_pair_is_refused_with_its_file_and_why() {
        let ((cert, key), (_, other)) = (pair(), pair());
        assert!(refused(&cert, &other).contains("key.pem: is not the key of the certificate in "));
        assert!(refused("", &key).contains("cert.pem: holds no certificate"));
        assert!(refused(&cert, &cert).contains("key.pem: holds no private key"));
        let half = &cert[..cert.len() / 2];
        assert!(refused(half, &key).contains("cert.pem: not valid PEM"), "{}", refused(half, &key));
        let nowhere = Files { cert: "nowhere.pem".into(), key: "nowhere.pem".into(), clients: None };
        let error = Certificate::open(nowhere, Vec::new()).unwrap_err().to_string();
        assert!(error.starts_with("nowhere.pem: cannot be read: "), "{error}");
    }

    #[test]
    fn what_holds_no_authority_of_clients_is_refused_with_its_file_and_why() {
        let directory = tempfile::tempdir().unwrap();
        let ca = directory.path().join("ca.pem");
        let files = files(directory.path(), &pair());
        for (text, why) in [
            ("", "ca.pem: holds no certificate"),
            ("-----BEGIN CERTIFICATE-----", "ca.pem: not valid PEM"),
            (
                "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
                "ca.pem: cannot be an authority of clients",
            ),
        ] {
            fs::write(&ca, text).unwrap();
            let files = Files { clients: Some((ca.clone(), ClientAuth::Required)), ..files.clone() };
            let error = Certificate::open(files, Vec::new()).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn new_files_are_served_and_broken_ones_are_not() {
        let directory = tempfile::tempdir().unwrap();
        let (first, second) = (pair(), pair());
        let ca = directory.path().join("ca.pem");
        fs::write(&ca, &first.0).unwrap();
        let clients = Some((ca.clone(), ClientAuth::Optional));
        let files_of =
            |pair: &(String, String)| Files { clients: clients.clone(), ..files(directory.path(), pair) };
        let certificate = Certificate::open(files_of(&first), Vec::new()).unwrap();
        let is_served = |before: &Arc<ServerConfig>| Arc::ptr_eq(before, &certificate.served());
        let before = certificate.served();

        files_of(&(second.0.clone(), first.1));
        certificate.reload();
        // The other file is replaced before the next check: the mixed pair was never tried.
        files_of(&second);
        certificate.reload();
        assert!(is_served(&before), "taken before it settled");
        certificate.reload();
        assert!(!is_served(&before));

        let after = certificate.served();
        for (broken, text) in [("key.pem", "broken"), ("ca.pem", "")] {
            files_of(&second);
            fs::write(&ca, &second.0).unwrap();
            fs::write(directory.path().join(broken), text).unwrap();
            certificate.reload();
            certificate.reload();
            assert!(is_served(&after), "{broken}");
        }
        // The authority alone.
        fs::write(&ca, &second.0).unwrap();
        certificate.reload();
        certificate.reload();
        assert!(!is_served(&after));
    }
}
