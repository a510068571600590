//! Whom a call is shown to.

use clap::ValueEnum;

/// How events and result are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people: the data as JSON, events and errors in words
    #[default]
    Text,
    /// For programs: every event as one JSON line
    Json,
}
