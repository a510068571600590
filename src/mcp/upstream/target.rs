//! Where an MCP server is.

use std::fmt;

use secrecy::SecretString;

#[derive(Clone)]
pub enum Target {
    Http {
        /// One that follows no redirect to another origin.
        client: reqwest::Client,
        url: String,
        token: Option<SecretString>,
    },
    Process {
        /// The program and its arguments.
        command: Vec<String>,
        /// All of its environment.
        env: Vec<(String, SecretString)>,
    },
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http { url, .. } => f.debug_tuple("Http").field(url).finish(),
            // Arguments may be secrets.
            Self::Process { command, .. } => f.debug_tuple("Process").field(&command.first()).finish(),
        }
    }
}
