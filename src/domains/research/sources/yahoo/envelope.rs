//! The envelope of every document: a result or an error, whatever the status says.

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, IgnoredAny},
};

use toolwire_sources::upstream::{
    http::{Failure, FailureKind},
    json::Items,
    text::Line,
};

/// A result or an error.
#[derive(Debug, Deserialize)]
#[serde(bound = "T: DeserializeOwned")]
pub(super) struct Envelope<T> {
    #[serde(default = "absent", deserialize_with = "listed")]
    result: Option<Vec<T>>,
    error: Option<Refusal>,
}

/// An error of any form: one that cannot be read is one nevertheless.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Refusal {
    Fault(Fault),
    Other(IgnoredAny),
}

#[derive(Debug, Deserialize)]
struct Fault {
    code: Option<Line>,
    description: Option<Line>,
}

impl<T> Envelope<T> {
    /// The results; of an unknown symbol there are none.
    pub(super) fn open(self) -> Result<Vec<T>, Failure> {
        match self.error {
            Some(Refusal::Fault(fault)) => Err(fault.into()),
            Some(Refusal::Other(_)) => Err(Failure::malformed("an envelope with an error of another form")),
            None => {
                self.result.ok_or_else(|| Failure::malformed("an envelope without a result that can be read"))
            }
        }
    }

    pub(super) fn only(self) -> Result<T, Failure> {
        let first = self.open()?.into_iter().next();
        first.ok_or_else(|| Failure::new(FailureKind::NotFound, "an envelope without a result"))
    }
}

/// No result is stated, or none that can be read, which says nothing of the symbol.
fn absent<T>() -> Option<Vec<T>> {
    None
}

/// The results that are stated: null stands for none.
fn listed<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Option<Vec<T>>, D::Error> {
    Items::deserialize(deserializer).map(|items| Some(items.read))
}

/// How Yahoo says that a symbol was not traded in the days asked for, with 400.
const NO_DATA: &str = "Data doesn't exist for startDate";

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        let has_no_data = fault.description.as_ref().is_some_and(|words| words.starts_with(NO_DATA));
        let kind = match fault.code.as_deref() {
            _ if has_no_data => FailureKind::NotFound,
            Some("Not Found") => FailureKind::NotFound,
            Some("Unauthorized") => FailureKind::AuthFailed,
            Some("Too Many Requests") => FailureKind::RateLimited,
            Some("Internal Server Error") => FailureKind::Down,
            _ => FailureKind::Malformed,
        };
        let Fault { code, description } = fault;
        let detail = format!("{}: {}", code.unwrap_or_default(), description.unwrap_or_default());
        let failure = Self::new(kind, detail);
        if has_no_data {
            return failure
                .with_message("Yahoo Finance has no prices of the days asked for. Ask for others.");
        }
        failure
    }
}
