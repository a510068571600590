//! Settings of TLS on the gRPC server.
//!
//! Not here: reading the files, which `serve` does when it starts and whenever they change.

use std::path::{Path, PathBuf};

use super::{reader::Reader, settings::settings};

settings! {
    /// TLS on the gRPC server: `[server.tls]`. Without it the server speaks plain text.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Tls in "server.tls" then check {
        /// The file of the certificate and of those between it and the authority, as PEM.
        cert: Option<PathBuf> = None, "TOOLWIRE_TLS_CERT", "--tls-cert", as Reader::optional;
        /// The file of the certificate's private key, as PEM.
        key: Option<PathBuf> = None, "TOOLWIRE_TLS_KEY", "--tls-key", as Reader::optional;
    }
}

impl Tls {
    fn check(self, reader: &mut Reader) -> Self {
        if let Some((key, what)) = self.problem() {
            reader.problem(key, what);
        }
        self
    }

    /// The certificate and its key, if both are named.
    pub fn files(&self) -> Option<(&Path, &Path)> {
        Some((self.cert.as_deref()?, self.key.as_deref()?))
    }

    /// The problem of a certificate without a key, or a key without a certificate.
    fn problem(&self) -> Option<(&'static str, &'static str)> {
        match (&self.cert, &self.key) {
            (Some(_), None) => Some(("server.tls.cert", "needs its private key: set server.tls.key too")),
            (None, Some(_)) => Some(("server.tls.key", "needs its certificate: set server.tls.cert too")),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_and_its_key_come_together() {
        let of = |cert: Option<&str>, key: Option<&str>| Tls {
            cert: cert.map(Into::into),
            key: key.map(Into::into),
        };
        assert_eq!(of(None, None).problem(), None);
        assert_eq!(of(Some("c"), Some("k")).problem(), None);
        assert_eq!(of(Some("c"), None).problem().unwrap().0, "server.tls.cert");
        assert_eq!(of(None, Some("k")).problem().unwrap().0, "server.tls.key");
    }
}
