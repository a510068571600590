//! The certificate by which the server proves itself to another one: `client_cert` and `client_key` of that one's
//! table.
//!
//! The files are read at start. Not here: which servers are asked with it.

use std::path::PathBuf;

use super::{fields::Fields, value::Value};
use toolwire_outgoing::ClientCertificate;

/// A certificate and where it stands.
#[derive(Clone, Debug)]
pub struct ConfiguredCertificate {
    pub certificate: ClientCertificate,
    /// `client_cert`, a PEM file.
    cert: PathBuf,
    /// `client_key`, a PEM file.
    key: PathBuf,
}

impl ConfiguredCertificate {
    /// `None` if there is none, or a problem, which is reported.
    pub(super) fn read(entry: &mut Fields) -> Option<Self> {
        let (cert, key) = (entry.optional::<PathBuf>("client_cert"), entry.optional::<PathBuf>("client_key"));
        if entry.has("client_cert") != entry.has("client_key") {
            entry.problem("client_cert and client_key come together; set both, or remove the one");
        }
        // A value that is set and cannot be read is reported already.
        let (cert, key) = (cert?, key?);
        match ClientCertificate::read(&cert, &key) {
            Ok(certificate) => Some(Self { certificate, cert, key }),
            Err(what) => {
                entry.problem(format!("{what} ({}, {})", cert.display(), key.display()));
                None
            }
        }
    }

    pub(super) fn to_pairs(&self) -> [(&'static str, String); 2] {
        [("client_cert", self.cert.to_toml()), ("client_key", self.key.to_toml())]
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rcgen::{CertificateParams, KeyPair};
    use tempfile::TempDir;

    use crate::{Flags, Loaded, print, testing::load_text};

    /// A directory with two certificates and their keys.
    fn files() -> TempDir {
        let directory = tempfile::tempdir().unwrap();
        for name in ["own", "other"] {
            let key = KeyPair::generate().unwrap();
            let certificate = CertificateParams::new(Vec::new()).unwrap().self_signed(&key).unwrap();
            fs::write(directory.path().join(format!("{name}.pem")), certificate.pem()).unwrap();
            fs::write(directory.path().join(format!("{name}.key")), key.serialize_pem()).unwrap();
        }
        directory
    }

    /// A model and an MCP server that are asked with these keys, at addresses of a scheme.
    fn loaded(directory: &TempDir, scheme: &str, keys: &str) -> Result<Loaded, String> {
        let keys = keys.replace("./", &format!("{}/", directory.path().display()));
        let file = format!(
            "[models.m]\nprovider = 'compatible'\nmodel = 'm'\nendpoint = '{scheme}://localhost/v1'\n{keys}\n\
             [providers.shop]\nkind = 'mcp'\nurl = '{scheme}://localhost/mcp'\n{keys}\n"
        );
        load_text(&file, &[], Flags::default(), &[]).map_err(|error| error.to_string())
    }

    #[test]
    fn a_certificate_is_read_with_its_key_and_printed_as_its_files() {
        let files = files();
        let keys = "client_cert = './own.pem'\nclient_key = './own.key'";
        let loaded = loaded(&files, "https", keys).unwrap();
        assert!(loaded.config.models.get("m").unwrap().certificate.is_some());
        let printed = print(&loaded);
        assert_eq!(printed.matches("own.pem\"").count(), 2, "{printed}");
        assert!(!format!("{:?}", loaded.config).contains("PRIVATE KEY"));
        assert!(load_text(&printed, &[], Flags::default(), &[]).is_ok(), "{printed}");
    }

    #[test]
    fn what_is_no_pair_is_refused_in_each_table() {
        let files = files();
        for (keys, words) in [
            ("client_cert = './own.pem'", "client_cert and client_key come together"),
            ("client_key = './own.key'", "client_cert and client_key come together"),
            ("client_cert = './own.pem'\nclient_key = './away.key'", "client_key cannot be read"),
            ("client_cert = './away.pem'\nclient_key = './own.key'", "client_cert cannot be read"),
            (
                "client_cert = './own.pem'\nclient_key = './other.key'",
                "client_key is not the key of client_cert",
            ),
            (
                "client_cert = './own.key'\nclient_key = './own.key'",
                "client_cert holds no certificate in PEM",
            ),
            ("client_cert = './own.pem'\nclient_key = './own.pem'", "client_key holds no private key in PEM"),
            ("client_cert = 7\nclient_key = './own.key'", "expected a text in quotes"),
        ] {
            let refused = loaded(&files, "https", keys).unwrap_err();
            assert_eq!(refused.matches(words).count(), 2, "{keys}: {refused}");
        }
        let refused =
            loaded(&files, "http", "client_cert = './own.pem'\nclient_key = './own.key'").unwrap_err();
        assert!(refused.contains("needs an endpoint over https://"), "{refused}");
        assert!(refused.contains("needs a url over https://"), "{refused}");
    }
}
