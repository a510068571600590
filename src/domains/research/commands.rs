//! What the domain adds to the command line.

mod discover;
mod screener_login;

use toolwire_server::domain::Command;

pub(super) fn commands() -> Vec<Command> {
    vec![
        Command::job("discover", discover::start, discover::tell),
        Command::with_server("screener-login", screener_login::run),
    ]
}
