//! Settings of the command line as a client of a server elsewhere.

use secrecy::SecretString;

use super::Environment;

/// What the command line presents to a server.
#[derive(Clone, Debug, Default)]
pub struct Client {
    /// The bearer token. `--token`, `TOOLWIRE_TOKEN`, default none.
    pub token: Option<SecretString>,
}

/// The variable of the token.
pub(super) const TOKEN: &str = "TOOLWIRE_TOKEN";

impl Client {
    /// What the environment says.
    pub fn from_environment(environment: &Environment) -> Self {
        Self { token: environment.get(TOKEN).map(SecretString::from) }
    }
}
