//! `toolwire state`: copies the state, puts a copy back, moves it to PostgreSQL, and looks whether it is as it must be.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::settings::Settings;
use toolwire_db::Address;
use toolwire_server::{
    console::{self, Failure},
    domain::Domain,
};
use toolwire_state::{Store, backup};

/// Backs up, restores, moves or checks the state
#[derive(Debug, Args)]
pub(super) struct StateArgs {
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
    /// Moves the state of a directory to PostgreSQL, where none may be; no program may be running on either
    Move(Move),
}

#[derive(Debug, Args)]
struct Move {
    /// The directory, such as sqlite:///var/lib/toolwire; it is left as it is
    #[arg(long, value_name = "URL")]
    from: String,
    /// The database, such as postgres://user@host/database; the password may be in PGPASSWORD or ~/.pgpass
    #[arg(long, value_name = "URL")]
    to: String,
    /// The schema of the tables
    #[arg(long, value_name = "NAME", default_value = "toolwire")]
    schema: String,
}

#[derive(Debug, Args)]
struct Copied {
    /// The directory of the copy
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    #[command(flatten)]
    settings: Settings,
}

impl StateArgs {
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
            Action::Move(moves) => moves.run(domains).await,
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

impl Move {
    async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        let Some(directory) = self.from.strip_prefix("sqlite://").filter(|path| !path.is_empty()) else {
            let what =
                format!("--from {}: expected a directory, such as sqlite:///var/lib/toolwire", self.from);
            return Err(Failure::Start(what));
        };
        if !Path::new(directory).join("toolwire.db").is_file() {
            return Err(Failure::Start(format!("--from {}: there is no state in {directory}", self.from)));
        }
        // The address may have a password, which is not repeated.
        let address = Address::new(&self.to, &self.schema);
        let address = address.map_err(|error| Failure::Start(format!("--to or --schema: {error}")))?;
        let place = address.to_string();
        let with_tables = |store: Store| {
            let stores = store.with_tables(domains.iter().filter_map(|domain| domain.migrations.clone()));
            stores.map_err(|error| Failure::Start(error.to_string()))
        };
        let (from, to) =
            (with_tables(Store::at(Path::new(directory)))?, with_tables(Store::in_postgres(address))?);
        let moved = backup::transfer(&from, &to).await.map_err(failure)?;
        let backup::Moved { tables, rows, files } = moved;
        console::print(&format!(
            "{rows} rows of {tables} tables and the bytes of {files} files are in {place}"
        ))
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
