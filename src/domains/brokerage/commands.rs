//! The domain's commands.

mod import;

use toolwire_server::domain::Command;

pub(super) fn commands() -> Vec<Command> {
    vec![Command::alone("import", import::run)]
}
