//! Where the state that outlives the process is kept.

use std::path::PathBuf;

use directories::ProjectDirs;
use secrecy::{ExposeSecret, SecretString};

use super::{ConfigError, reader::Reader, setting::Setting, size::Size};
use toolwire_store::{Address, idempotency::Quota};

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
    /// `toolwire`, is the schema of the tables. `dir` must not be set beside it.
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
        let database = database(reader);
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

/// The database, if there is one.
fn database(reader: &mut Reader) -> Option<Address> {
    let url: Option<SecretString> = reader.optional(Setting::new("state.url", "TOOLWIRE_STATE_URL"), None);
    let url_env: Option<String> =
        reader.optional(Setting::new("state.url_env", "TOOLWIRE_STATE_URL_ENV"), None);
    let schema = Setting::new("state.schema", "TOOLWIRE_STATE_SCHEMA");
    let schema = reader.value(schema, "toolwire".to_owned());
    let (key, url) = match (url, url_env) {
        (None, None) => return None,
        (Some(_), Some(_)) => {
            reader.problem("state.url_env", "expected url or url_env, not both; remove one");
            return None;
        }
        (Some(url), None) => ("state.url", url),
        (None, Some(variable)) => {
            let Some(url) = reader.variable(&variable) else {
                let what = format!("the variable {variable} is not set; set it to the address");
                reader.problem("state.url_env", what);
                return None;
            };
            ("state.url_env", url.into())
        }
    };
    if reader.is_set("state.dir") {
        let what = "expected url or dir, not both: a state is in PostgreSQL or in a directory; remove one";
        reader.problem(key, what);
    }
    Address::new(url.expose_secret(), &schema).map_err(|error| reader.problem(key, error.to_string())).ok()
}

fn of_platform() -> Option<PathBuf> {
    ProjectDirs::from("", "", "toolwire").map(|dirs| dirs.data_local_dir().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Flags, testing::load_text};

    #[test]
    fn a_state_is_in_a_database_or_in_a_directory() {
        let url = "[state]\nurl = \"postgres://me:s3cret@db/tools\"\n";
        load_text(url, &[], Flags::default(), &[]).unwrap();
        let both = format!("{url}dir = \"/var/lib/toolwire\"\n");
        for (file, variables) in [(both.as_str(), &[][..]), (url, &[("TOOLWIRE_STATE", "/var/lib/toolwire")])]
        {
            let error = load_text(file, variables, Flags::default(), &[]).unwrap_err().to_string();
            assert!(error.contains("expected url or dir, not both") && !error.contains("s3cret"), "{error}");
        }
    }

    #[test]
    fn without_a_directory_the_error_names_the_flag() {
        let error = State::default().directory().unwrap_err().to_string();
        assert!(error.contains("--state DIR"), "{error}");
    }
}
