//! Settings of the command line as a client of a server elsewhere.

use std::path::PathBuf;

use directories::ProjectDirs;
use secrecy::SecretString;

use super::Environment;

/// The server that the command line calls, the credentials for it, and the authorities that it trusts.
#[derive(Clone, Debug, Default)]
pub struct Client {
    /// The address of the server. `--server`, `TOOLWIRE_SERVER`, default none: the program answers itself.
    pub server: Option<String>,
    /// The bearer token. `--token`, `TOOLWIRE_TOKEN`, default none.
    pub token: Option<SecretString>,
    /// The authorities whose certificates a server may present, a PEM file. `--ca`, `TOOLWIRE_CA`, default those that
    /// the platform trusts.
    pub ca: Option<PathBuf>,
    /// The name by which issuers know this program where it signs in. `--client-id`, `TOOLWIRE_CLIENT_ID`, default one
    /// that it registers.
    pub client_id: Option<String>,
}

/// The variables that are not settings of a server. `BINARY`, `HOST_TOKEN` and its `_FILE` are of SDKs, which start
/// this program in their own environment: where it is, and the token with which a host joins another server.
/// `STARTED_BY` is what a server gives to the programs that it starts as MCP servers, of which this may be one.
pub(super) const VARIABLES: [&str; 8] = [
    SERVER,
    TOKEN,
    CA,
    CLIENT_ID,
    "TOOLWIRE_BINARY",
    "TOOLWIRE_HOST_TOKEN",
    "TOOLWIRE_HOST_TOKEN_FILE",
    "TOOLWIRE_STARTED_BY",
];

const SERVER: &str = "TOOLWIRE_SERVER";
const TOKEN: &str = "TOOLWIRE_TOKEN";
const CA: &str = "TOOLWIRE_CA";
const CLIENT_ID: &str = "TOOLWIRE_CLIENT_ID";

impl Client {
    pub fn from_environment(environment: &Environment) -> Self {
        Self {
            server: environment.get(SERVER).map(str::to_owned),
            token: environment.get(TOKEN).map(SecretString::from),
            ca: environment.get(CA).map(PathBuf::from),
            client_id: environment.get(CLIENT_ID).map(str::to_owned),
        }
    }

    /// The folder of this program among the user's folders of configuration. `None` without a home.
    pub fn folder() -> Option<PathBuf> {
        ProjectDirs::from("", "", "toolwire").map(|dirs| dirs.config_dir().to_owned())
    }
}
