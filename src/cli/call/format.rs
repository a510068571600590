//! The reader of a call's output.

use clap::ValueEnum;

use toolwire_contract::proto::v1::ResultFormat;

/// How events and result are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people: the data as JSON, events and errors in words
    #[default]
    Text,
    /// For programs: every event as one JSON line
    Json,
    /// For models: the result as a model should read it, cut to --max-tokens. Into a pipe byte for byte; on a terminal
    /// without control characters
    Model,
}

impl Format {
    /// The form of the result to request.
    pub(super) const fn of_result(self) -> ResultFormat {
        match self {
            Self::Text | Self::Json => ResultFormat::Json,
            Self::Model => ResultFormat::Model,
        }
    }
}
