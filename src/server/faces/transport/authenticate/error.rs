//! Why a caller was rejected, and the words of the answer. The words give away nothing about which credentials exist.

use tonic::{Code, Status};
use tonic_types::ErrorDetails;

use toolwire_contract::status;

/// Why a caller was not let in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuthenticationError {
    /// There were no credentials.
    #[error("this server wants credentials: send `authorization: Bearer <token>`")]
    Missing,
    /// There need be no credentials on this machine, but a proxy passed the request on: it may come from anywhere.
    #[error(
        "this server has no credentials configured and serves its own machine only, and the header {header} says that \
         a proxy passed this request on; configure [[auth.users]] on the server and send \
         `authorization: Bearer <token>`"
    )]
    Proxied { header: String },
    /// There are several credentials, and they may be somebody else's each.
    #[error("send one `authorization` header, not several")]
    Ambiguous,
    /// The credentials are not accepted.
    #[error("the credentials are not accepted")]
    Rejected,
    /// A header has a form that it must not have.
    #[error("{header} {rule}")]
    Malformed {
        header: &'static str,
        /// What it must be.
        rule: &'static str,
    },
    /// The credentials cannot be checked now, for lack of keys, say.
    #[error("credentials cannot be checked now; try again later")]
    Unavailable,
}

impl From<AuthenticationError> for Status {
    fn from(error: AuthenticationError) -> Self {
        let text = error.to_string();
        match error {
            // The caller can fix these by sending other credentials.
            AuthenticationError::Missing | AuthenticationError::Proxied { .. } => {
                status::plain(Code::Unauthenticated, "CREDENTIALS_MISSING", &text)
            }
            AuthenticationError::Ambiguous | AuthenticationError::Rejected => {
                status::plain(Code::Unauthenticated, "CREDENTIALS_REJECTED", &text)
            }
            // Not a question of identity: the request itself is wrong.
            AuthenticationError::Malformed { header, rule } => {
                let details = ErrorDetails::with_bad_request_violation(header, rule);
                status::status(Code::InvalidArgument, "INVALID_USER", &text, details)
            }
            // For the operator to fix.
            AuthenticationError::Unavailable => {
                status::plain(Code::Unavailable, "AUTHENTICATION_UNAVAILABLE", &text)
            }
        }
    }
}
