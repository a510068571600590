//! Settings of the log, which goes to standard error.

use tracing_subscriber::EnvFilter;

use super::{
    found::Found,
    reader::Reader,
    setting::Setting,
    value::{Value, quoted},
};

/// The log: `[log]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// How a line looks. `--log`, `TOOLWIRE_LOG`, default `auto`.
    pub format: LogFormat,
    /// What is logged, in the directives of `tracing`. `TOOLWIRE_LOG_FILTER`, default `info`.
    pub filter: String,
    /// Whether arguments are shown; otherwise they are redacted. `TOOLWIRE_LOG_ARGUMENTS`, default `false`.
    pub arguments: bool,
}

/// How a line of the log looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// `text` on a terminal, otherwise `json`.
    #[default]
    Auto,
    /// One JSON object a line.
    Json,
    Text,
}

impl Default for Log {
    fn default() -> Self {
        Self { format: LogFormat::Auto, filter: "info".to_owned(), arguments: false }
    }
}

impl Log {
    pub(super) fn read(reader: &mut Reader) -> Self {
        let default = Self::default();
        let format = Setting::new("log.format", "TOOLWIRE_LOG").flag("--log");
        let filter = Setting::new("log.filter", "TOOLWIRE_LOG_FILTER");
        let arguments = Setting::new("log.arguments", "TOOLWIRE_LOG_ARGUMENTS");
        let log = Self {
            format: reader.value(format, default.format),
            filter: reader.value(filter, default.filter),
            arguments: reader.value(arguments, default.arguments),
        };
        if let Err(error) = EnvFilter::builder().parse(&log.filter) {
            let what = format!("expected directives such as info or warn,toolwire=debug: {error}");
            reader.problem("log.filter", what);
        }
        log
    }
}

impl LogFormat {
    const ALL: [(&str, Self); 3] = [("auto", Self::Auto), ("json", Self::Json), ("text", Self::Text)];
}

impl Value for LogFormat {
    fn read(found: &Found) -> Result<Self, String> {
        let is_meant = |name: &str| matches!(found, Found::Text(text) if text == name);
        let meant = Self::ALL.into_iter().find(|(name, _)| is_meant(name));
        let names = Self::ALL.map(|(name, _)| name).join(", ");
        meant.map(|(_, format)| format).ok_or_else(|| found.instead_of(&format!("one of {names}")))
    }

    fn shown(&self) -> String {
        let name = Self::ALL.into_iter().find(|(_, format)| format == self).map(|(name, _)| name);
        quoted(name.unwrap_or_default())
    }
}
