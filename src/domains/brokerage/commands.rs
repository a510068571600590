//! What the domain adds to the command line.

mod import;

use toolwire_server::domain::Command;

/// The commands.
pub(super) fn commands() -> Vec<Command> {
    vec![Command::alone("import", import::run)]
}
