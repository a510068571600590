//! What the domain adds to the command line.

mod discover;
mod screener_login;

use std::sync::Arc;

use toolwire_agent_api::JobReport;
use toolwire_server::domain::Command;
use toolwire_tool::context::Services;

pub(super) fn commands() -> Vec<Command> {
    vec![
        Command::starts(
            "discover",
            discover::start,
            Services::default().with(Arc::new(JobReport(discover::tell))),
        ),
        Command::with_server("screener-login", screener_login::run),
    ]
}
