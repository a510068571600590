//! Settings of the log, which goes to standard error.

use strum::{EnumString, IntoStaticStr, VariantNames};
use tracing_subscriber::EnvFilter;

use super::{
    raw_value::RawValue,
    reader::Reader,
    settings::settings,
    value::{Value, quote},
};

settings! {
    /// How much is logged, and in which form: `[log]`.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Log in "log" then check {
        /// How a line looks.
        format: LogFormat = LogFormat::Auto, "TOOLWIRE_LOG", "--log";
        /// What is logged, in the directives of `tracing`.
        filter: String = "info".to_owned(), "TOOLWIRE_LOG_FILTER";
        /// Whether arguments are shown; otherwise they are redacted.
        arguments: bool = false, "TOOLWIRE_LOG_ARGUMENTS";
    }
}

/// How a line of the log looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum LogFormat {
    /// `text` on a terminal, otherwise `json`.
    #[default]
    Auto,
    /// One JSON object a line.
    Json,
    Text,
}

impl Log {
    fn check(self, reader: &mut Reader) -> Self {
        if let Err(error) = EnvFilter::builder().parse(&self.filter) {
            let what = format!("expected directives such as info or warn,toolwire=debug: {error}");
            reader.problem("log.filter", what);
        }
        self
    }
}

impl Value for LogFormat {
    fn read(found: &RawValue) -> Result<Self, String> {
        let format = if let RawValue::Text(text) = found { text.parse().ok() } else { None };
        format.ok_or_else(|| found.instead_of(&format!("one of {}", Self::VARIANTS.join(", "))))
    }

    fn to_toml(&self) -> String {
        quote(self.into_str())
    }
}
