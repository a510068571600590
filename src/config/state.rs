//! Where the state is kept that outlives the process.

use std::path::PathBuf;

use directories::ProjectDirs;
use serde::{Deserialize, Serialize};

use super::{ConfigError, setting::Setting};

/// What outlives the process: `[state]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct State {
    /// The directory of the state: calls with a `request_id`, cached results, cool-downs, screens, watch-lists. Several
    /// processes may share it. `--state`, `TOOLWIRE_STATE`, default the platform's directory for such data, such as
    /// `~/.local/share/toolwire`.
    pub dir: Option<PathBuf>,
}

pub(super) const SETTINGS: &[Setting] = &[Setting::new("state.dir", "TOOLWIRE_STATE").flag("--state")];

impl State {
    /// The same, with the platform's directory where none is named.
    pub(super) fn or_of_platform(self) -> Self {
        let of_platform =
            || ProjectDirs::from("", "", "toolwire").map(|dirs| dirs.data_local_dir().to_owned());
        Self { dir: self.dir.or_else(of_platform) }
    }

    /// The directory. Asked only when the state is needed: without a home there is none.
    pub fn directory(&self) -> Result<PathBuf, ConfigError> {
        let what = "there is no home directory to keep the state in. Name a directory with --state DIR or TOOLWIRE_STATE";
        self.dir.clone().ok_or_else(|| ConfigError::one("state.dir", what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_directory_is_not_the_platforms() {
        let named = State { dir: Some("s".into()) };
        assert_eq!(named.clone().or_of_platform(), named);
    }

    #[test]
    fn without_a_directory_the_error_names_the_flag() {
        let error = State::default().directory().unwrap_err().to_string();
        assert!(error.contains("--state DIR"), "{error}");
    }
}
