//! Settings of TLS on the listeners for callers.
//!
//! Not here: reading the files, which `serve` does when it starts and whenever they change.

use std::path::{Path, PathBuf};

use strum::{EnumString, IntoStaticStr, VariantNames};

use super::{
    raw_value::RawValue,
    reader::Reader,
    settings::settings,
    value::{Value, quote},
};

settings! {
    /// TLS on the gRPC server: `[server.tls]`. Without it the server speaks plain text.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Tls in "server.tls" then check {
        /// The file of the certificate and of those between it and the authority, as PEM.
        cert: Option<PathBuf> = None, "TOOLWIRE_TLS_CERT", "--tls-cert", as Reader::optional;
        /// The file of the certificate's private key, as PEM.
        key: Option<PathBuf> = None, "TOOLWIRE_TLS_KEY", "--tls-key", as Reader::optional;
        /// The file of the authorities of client certificates, as PEM. Without it clients are not asked for any.
        client_ca: Option<PathBuf> = None, "TOOLWIRE_TLS_CLIENT_CA", as Reader::optional;
        /// Whether each client must present a certificate, `required`, or may, `optional`. Beside `client_ca`.
        client_auth: Option<ClientAuth> = None, "TOOLWIRE_TLS_CLIENT_AUTH", as Reader::optional;
    }
}

/// Whether clients present certificates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum ClientAuth {
    /// A client without one is served too.
    Optional,
    /// A client without one is refused by TLS.
    Required,
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

    /// The authorities of client certificates, and whether each client must present one.
    pub fn clients(&self) -> Option<(&Path, ClientAuth)> {
        Some((self.client_ca.as_deref()?, self.client_auth?))
    }

    /// The problem of a setting without the one that it needs.
    fn problem(&self) -> Option<(&'static str, &'static str)> {
        match (&self.cert, &self.key) {
            (Some(_), None) => {
                return Some(("server.tls.cert", "needs its private key: set server.tls.key too"));
            }
            (None, Some(_)) => {
                return Some(("server.tls.key", "needs its certificate: set server.tls.cert too"));
            }
            (None, None) if self.client_ca.is_some() => {
                return Some((
                    "server.tls.client_ca",
                    "needs TLS: set server.tls.cert and server.tls.key too",
                ));
            }
            _ => {}
        }
        match (&self.client_ca, &self.client_auth) {
            (Some(_), None) => {
                let what =
                    "set server.tls.client_auth too: required, or optional if clients without one are served";
                Some(("server.tls.client_ca", what))
            }
            (None, Some(_)) => {
                Some(("server.tls.client_auth", "needs the authorities: set server.tls.client_ca too"))
            }
            _ => None,
        }
    }
}

impl Value for ClientAuth {
    fn read(found: &RawValue) -> Result<Self, String> {
        let read = if let RawValue::Text(text) = found { text.parse().ok() } else { None };
        read.ok_or_else(|| found.instead_of(&format!("one of {}", Self::VARIANTS.join(", "))))
    }

    fn to_toml(&self) -> String {
        quote(self.into_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_together_comes_together() {
        let of =
            |cert: Option<&str>, key: Option<&str>, ca: Option<&str>, client_auth: Option<ClientAuth>| {
                let tls = Tls {
                    cert: cert.map(Into::into),
                    key: key.map(Into::into),
                    client_ca: ca.map(Into::into),
                    client_auth,
                };
                tls.problem().map(|(key, _)| key)
            };
        let optional = Some(ClientAuth::Optional);
        assert_eq!(of(None, None, None, None), None);
        assert_eq!(of(Some("c"), Some("k"), None, None), None);
        assert_eq!(of(Some("c"), Some("k"), Some("ca"), optional), None);
        assert_eq!(of(Some("c"), None, None, None), Some("server.tls.cert"));
        assert_eq!(of(None, Some("k"), None, None), Some("server.tls.key"));
        assert_eq!(of(None, None, Some("ca"), optional), Some("server.tls.client_ca"));
        assert_eq!(of(Some("c"), Some("k"), Some("ca"), None), Some("server.tls.client_ca"));
        assert_eq!(of(Some("c"), Some("k"), None, optional), Some("server.tls.client_auth"));
    }
}
