//! Errors of models. The words are ours: those of providers may contain what they were sent.

use std::time::Duration;

use http::{HeaderMap, header::RETRY_AFTER};
use thiserror::Error;

use toolwire_base::retry_after;

/// Why a model does not answer, or not to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum ModelError {
    /// The provider refuses our credentials.
    #[error("the provider of the model refuses our credentials")]
    AuthFailed,
    /// The provider's limit is reached.
    #[error("the provider of the model has been asked too often")]
    RateLimited {
        /// How long to wait, if it says so.
        after: Option<Duration>,
    },
    /// The provider refuses to answer this.
    #[error("the provider of the model refuses to answer this")]
    Refused,
    /// The request or the answer is longer than allowed.
    #[error("the request or the answer is longer than the model allows")]
    TooLong,
    /// The provider cannot be reached, or fails.
    #[error("the model cannot be reached now")]
    Unavailable,
    /// The answer cannot be read.
    #[error("the answer of the model cannot be read")]
    Malformed,
    /// The answer did not come in time.
    #[error("the model did not answer in time")]
    TimedOut,
}

impl ModelError {
    /// Whether the same request may succeed soon.
    pub const fn is_passing(self) -> bool {
        matches!(self, Self::RateLimited { .. } | Self::Unavailable)
    }
}

/// How long the headers of a refusal ask to wait.
pub(super) fn asked_wait(headers: &HeaderMap) -> Option<Duration> {
    retry_after::read(headers.get(RETRY_AFTER)?.to_str().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_read_in_whatever_form_it_is_asked_for() {
        let asked =
            |value: &str| asked_wait(&HeaderMap::from_iter([(RETRY_AFTER, value.parse().expect("a value"))]));
        assert_eq!(asked("30.5"), Some(Duration::from_millis(30_500)));
        assert_eq!(asked("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
        assert_eq!(asked("soon"), None);
        assert_eq!(asked_wait(&HeaderMap::new()), None);
    }
}
