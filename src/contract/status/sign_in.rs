//! The command by which a person signs in, as the client's side adds it to a refusal that asks for credentials or for
//! more scope. No server sends it.

use tonic::Status;

/// Metadata of a status that a client's own process adds.
pub const COMMAND: &str = "x-toolwire-sign-in";

/// The command that a person runs to be let in, or to have more scope.
pub fn of(status: &Status) -> Option<&str> {
    status.metadata().get(COMMAND)?.to_str().ok()
}
