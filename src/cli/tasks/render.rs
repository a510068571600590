//! A task on a line, or as JSON.

use clap::Args;

use super::status::describe_status;
use crate::{connection::Connection, json, table::shorten};
use toolwire_base::words::visible;
use toolwire_contract::proto::tasks::v1;
use toolwire_server::console::{self, Failure};

/// Maximum length of a request in a line, in characters.
const MAX_WIDTH: usize = 60;

// What every command on tasks takes. Not `///`, which would be the help of each of them.
#[derive(Debug, Args)]
pub(super) struct Common {
    /// Prints each as one JSON line
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) connection: Connection,
}

/// Prints a task: as JSON, or on a line.
pub(super) fn print(task: &v1::Task, as_json: bool) -> Result<console::Reader, Failure> {
    if as_json { console::json(&json::message(task)) } else { console::line(&cells(task).join("  ")) }
}

/// The cells of a task: its name, its status and its subject.
pub(super) fn cells(task: &v1::Task) -> [String; 3] {
    let role = match (task.role.as_str(), task.kind()) {
        ("", v1::TaskKind::Question) => "question to a person: ".to_owned(),
        ("", _) => String::new(),
        (role, v1::TaskKind::Question) => format!("question to {}: ", visible(role)),
        (role, _) => format!("{}: ", visible(role)),
    };
    let what = shorten(&visible(&task.request), MAX_WIDTH);
    [task.task_id.clone(), describe_status(task), format!("{role}{what}")]
}
