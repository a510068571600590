//! Where the state that outlives the process is kept.

mod database;

use std::path::PathBuf;

use directories::ProjectDirs;

use super::{ConfigError, reader::Reader, setting::Setting, size::Size};
use toolwire_db::Address;
use toolwire_state::idempotency::Quota;

/// What outlives the process: `[state]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The directory of the state: calls with a `request_id`, cached results, cool-downs, what domains keep. Several
    /// processes may share it. `--state`, `TOOLWIRE_STATE`, default the platform's directory for such data, such as
    /// `~/.local/share/toolwire`.
    pub dir: Option<PathBuf>,
    /// The PostgreSQL database that has the state instead, which servers on several machines share. `url`,
    /// `TOOLWIRE_STATE_URL`, such as `postgres://user:password@host/database?sslmode=verify-full`; or `url_env`,
    /// `TOOLWIRE_STATE_URL_ENV`, the name of a variable that has it. `schema`, `TOOLWIRE_STATE_SCHEMA`, default
    /// `toolwire`, is the schema of the tables. `dir` must not be set beside it. With `pooled`,
    /// `TOOLWIRE_STATE_POOLED`, default `false`, that address is of a transaction pooler, and `direct_url`,
    /// `TOOLWIRE_STATE_DIRECT_URL`, or `direct_url_env`, `TOOLWIRE_STATE_DIRECT_URL_ENV`, is the database's own.
    pub database: Option<Address>,
    /// Bytes of the file for remembering calls with a `request_id`: writes for 24 h; reads, which make room for others,
    /// for 10 min. Those of one user: `request_ids`, `TOOLWIRE_STATE_REQUEST_IDS`, default `1024MiB`, about a million
    /// writes. Those of all users: `all_request_ids`, `TOOLWIRE_STATE_ALL_REQUEST_IDS`, default eight times as many.
    pub request_ids: Quota,
}

impl State {
    pub(super) fn read(reader: &mut Reader) -> Self {
        let dir = Setting::new("state.dir", "TOOLWIRE_STATE").flag("--state");
        // The default is read as a value, so that a printed configuration shows the directory in use.
        let dir = match of_platform() {
            Some(of_platform) => Some(reader.value(dir, of_platform)),
            None => reader.optional(dir, None),
        };
        let database = database::read(reader);
        let request_ids = Setting::new("state.request_ids", "TOOLWIRE_STATE_REQUEST_IDS");
        let Size(of_user) = reader.value(request_ids, Size(Quota::default().of_user));
        let all = Setting::new("state.all_request_ids", "TOOLWIRE_STATE_ALL_REQUEST_IDS");
        let Size(of_all) = reader.value(all, Size(Quota::of_users(of_user).of_all));
        let request_ids = Quota { of_user, of_all };
        Self { dir, database, request_ids }
    }

    /// The directory. Asked only when the state is needed: without a home there is none.
    pub fn directory(&self) -> Result<PathBuf, ConfigError> {
        let what = "there is no home directory to keep the state in. Name a directory with --state DIR or TOOLWIRE_STATE";
        self.dir.clone().ok_or_else(|| ConfigError::one("state.dir", what))
    }
}

fn of_platform() -> Option<PathBuf> {
    ProjectDirs::from("", "", "toolwire").map(|dirs| dirs.data_local_dir().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_directory_the_error_names_the_flag() {
        let error = State::default().directory().unwrap_err().to_string();
        assert!(error.contains("--state DIR"), "{error}");
    }
}
