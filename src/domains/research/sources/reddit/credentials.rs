//! The credentials of the application that asks.

use http::HeaderValue;
use secrecy::{ExposeSecret, SecretString};

use super::basic;

/// The credentials of the application. Never shown.
#[derive(Clone, Debug)]
pub struct Credentials {
    pub client_id: SecretString,
    pub client_secret: SecretString,
}

impl Credentials {
    /// What the embedded origin takes: it checks that there are some, not which.
    pub fn embedded() -> Self {
        Self { client_id: "embedded".into(), client_secret: "embedded".into() }
    }

    pub(super) fn header(&self) -> HeaderValue {
        basic::header(self.client_id.expose_secret(), self.client_secret.expose_secret())
    }
}
