//! The bounds on every request: connections, tokens, and how long an answer may be. Not here: those that are set.

use std::time::Duration;

use reqwest::Client;

use super::ModelError;
use toolwire_outgoing::{ClientCertificate, Egress, Trust};

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a token may take to be fetched.
pub(super) const TOKEN: Duration = Duration::from_secs(30);
/// No answer is longer, in bytes.
pub(super) const LONGEST: usize = 1024 * 1024;

/// The connections of a model. They verify certificates, and follow no redirects, since a key would go along.
pub(super) fn client(egress: &Egress, certificate: Option<&ClientCertificate>) -> Result<Client, ModelError> {
    let builder = egress.builder_presenting(Trust::System, certificate).connect_timeout(CONNECT);
    builder.build().map_err(|_| ModelError::Unavailable)
}

/// Counts the bytes of an answer.
#[derive(Debug, Default)]
pub(super) struct Length(usize);

impl Length {
    /// Adds what came; an error once that is too much.
    pub(super) fn add(&mut self, bytes: usize) -> Result<(), ModelError> {
        self.0 = self.0.saturating_add(bytes);
        if self.0 > LONGEST { Err(ModelError::TooLong) } else { Ok(()) }
    }
}
