//! The bounds on every request: connections, tokens, and how long an answer may be. Not here: those that are set.

use std::{sync::OnceLock, time::Duration};

use reqwest::{Client, redirect, retry};
use rustls::crypto::ring;

use super::ModelError;

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a token may take to be fetched.
pub(super) const TOKEN: Duration = Duration::from_secs(30);
/// No answer is longer, in bytes.
pub(super) const LONGEST: usize = 1024 * 1024;

/// The connections of all models. They verify certificates by the system's roots, follow no redirects, since a key
/// would go along, and use no proxy of the environment.
pub(super) fn client() -> Result<Client, ModelError> {
    static CLIENT: OnceLock<Result<Client, ModelError>> = OnceLock::new();
    CLIENT.get_or_init(build).clone()
}

fn build() -> Result<Client, ModelError> {
    // A provider may be installed already: any will do.
    let _ = ring::default_provider().install_default();
    let builder = Client::builder().redirect(redirect::Policy::none()).retry(retry::never());
    let builder = builder.referer(false).no_proxy().connect_timeout(CONNECT);
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
