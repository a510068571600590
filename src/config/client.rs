//! Settings of the command line as a client of a server elsewhere.

use secrecy::SecretString;

use super::Environment;

/// Which server the command line asks, and what it presents to it.
#[derive(Clone, Debug, Default)]
pub struct Client {
    /// The address of the server. `--server`, `TOOLWIRE_SERVER`, default none: the program answers itself.
    pub server: Option<String>,
    /// The bearer token. `--token`, `TOOLWIRE_TOKEN`, default none.
    pub token: Option<SecretString>,
}

/// The variable of the server's address.
pub(super) const SERVER: &str = "TOOLWIRE_SERVER";
/// The variable of the token.
pub(super) const TOKEN: &str = "TOOLWIRE_TOKEN";

impl Client {
    /// What the environment says.
    pub fn from_environment(environment: &Environment) -> Self {
        let server = environment.get(SERVER).map(str::to_owned);
        Self { server, token: environment.get(TOKEN).map(SecretString::from) }
    }
}
