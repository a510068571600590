//! `toolwire state`: copies the state, puts a copy back, and looks whether it is as it must be.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::settings::Settings;
use toolwire_server::{
    console::{self, Failure},
    domain::Domain,
};
use toolwire_store::{Store, backup};

/// Backs up, restores or checks the state directory
#[derive(Debug, Args)]
pub(super) struct State {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Copies the state to DIR, also while a server uses it
    Backup(Copied),
    /// Puts the copy in DIR back; the state directory must be empty, and no server may be running on it
    Restore(Copied),
    /// Checks every page, count, sequence, task, document and file of the state, also while a server uses it
    Check {
        #[command(flatten)]
        settings: Settings,
    },
}

#[derive(Debug, Args)]
struct Copied {
    /// The directory of the copy
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    #[command(flatten)]
    settings: Settings,
}

impl State {
    pub(super) async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        match self.action {
            Action::Backup(Copied { directory, settings }) => {
                let made = backup::backup(&place(&settings, domains)?, &directory).await.map_err(failure)?;
                let bytes: u64 = made.files.iter().map(|file| file.bytes).sum();
                console::print(&format!(
                    "{} files, {bytes} bytes, in {}",
                    made.files.len(),
                    directory.display()
                ))
            }
            Action::Restore(Copied { directory, settings }) => {
                let state = place(&settings, domains)?;
                let made = backup::restore(&directory, &state).map_err(failure)?;
                console::print(&format!("the state of {} is in {}", made.made_at, state.display()))
            }
            Action::Check { settings } => {
                let config = settings.load(domains)?.config;
                let report = if let Some(database) = &config.state.database {
                    let checked = backup::check_opened(&Store::in_postgres(database.clone())).await;
                    checked.map_err(|error| Failure::Failed(error.to_string()))?
                } else {
                    backup::check(&place(&settings, domains)?).await.map_err(failure)?
                };
                if report.problems.is_empty() {
                    return console::print(&format!(
                        "nothing is wrong; looked at {}",
                        report.checks.join(", ")
                    ));
                }
                Err(Failure::Failed(report.problems.join("\n")))
            }
        }
    }
}

fn place(settings: &Settings, domains: &[Domain]) -> Result<PathBuf, Failure> {
    let config = settings.load(domains)?.config;
    if let Some(database) = &config.state.database {
        return Err(Failure::Start(format!(
            "the state is in {database}, where the database's own programs copy it: {}",
            database.backup_hint()
        )));
    }
    config.state.directory().map_err(|error| Failure::Start(error.to_string()))
}

#[allow(clippy::needless_pass_by_value, reason = "it is mapped with")]
fn failure(error: backup::BackupError) -> Failure {
    Failure::Failed(error.to_string())
}
