//! Settings of the log, which goes to standard error.

use serde::{Deserialize, Serialize};
use tracing_subscriber::EnvFilter;

use super::{Problem, setting::Setting};

/// The log: `[log]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// How a line looks. `--log`, `TOOLWIRE_LOG`, default `auto`.
    pub format: LogFormat,
    /// What is logged, in the directives of `tracing`. `TOOLWIRE_LOG_FILTER`, default `info`.
    pub filter: String,
    /// Whether arguments are shown; otherwise they are redacted. `TOOLWIRE_LOG_ARGUMENTS`, default `false`.
    pub arguments: bool,
}

/// How a line of the log looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// `text` on a terminal, otherwise `json`.
    #[default]
    Auto,
    /// One JSON object a line.
    Json,
    /// For people.
    Text,
}

pub(super) const SETTINGS: &[Setting] = &[
    Setting::new("log.format", "TOOLWIRE_LOG").flag("--log"),
    Setting::new("log.filter", "TOOLWIRE_LOG_FILTER"),
    Setting::new("log.arguments", "TOOLWIRE_LOG_ARGUMENTS"),
];

impl Default for Log {
    fn default() -> Self {
        Self { format: LogFormat::Auto, filter: "info".to_owned(), arguments: false }
    }
}

impl Log {
    /// What its values cannot mean, by key.
    pub(super) fn problems(&self) -> Vec<Problem> {
        let invalid = EnvFilter::builder().parse(&self.filter).err();
        let what = "expected directives such as info or warn,toolwire=debug";
        invalid.map(|error| Problem::new("log.filter", format!("{what}: {error}"))).into_iter().collect()
    }
}
