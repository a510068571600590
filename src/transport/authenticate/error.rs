//! Errors of authentication. Their texts reveal nothing about which credentials exist.

use std::sync::Arc;

use tonic::{Code, Status};
use tonic_types::ErrorDetails;

use crate::toolset::{self, ToolsetError};
use toolwire_base::words::visible;
use toolwire_contract::status;
use toolwire_identity::{PeerRefusal, Refusal, SpiffeId, spiffe_of_provider, spiffe_of_user};
use toolwire_providers::ids::ProviderName;
use toolwire_tool::context::{RefusedRequest, User, UserId};

/// The longest target in the log, in characters.
const MAX_TARGET: usize = 128;

/// The reason for which a caller was rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuthenticationError {
    #[error("this server wants credentials: send `authorization: Bearer <token>`")]
    Missing,
    /// The server trusts its own machine, but a proxy forwarded the request, which may come from anywhere.
    #[error(
        "this server has no credentials configured and serves its own machine only, and the header {header} says that \
         a proxy passed this request on; configure [[auth.users]] on the server and send \
         `authorization: Bearer <token>`"
    )]
    Proxied { header: String },
    /// There are several credentials, possibly of different users.
    #[error("send one `authorization` header, not several")]
    Ambiguous,
    #[error("the credentials are not accepted")]
    Rejected,
    /// A header has an invalid value.
    #[error("{header} {rule}")]
    Malformed {
        header: &'static str,
        /// A description of valid values.
        rule: &'static str,
    },
    /// The user is known, and the toolset is wrong that the request names.
    #[error(transparent)]
    Toolset(#[from] ToolsetError),
    /// A token of an identity provider or a trust domain is refused, or cannot be verified now.
    #[error("{0}")]
    Refused(Refusal),
    /// A client certificate proves no user.
    #[error("{refusal}")]
    Certificate {
        refusal: PeerRefusal,
        /// The workload that it names.
        workload: Option<Arc<str>>,
        /// Which setting names the workload, for whom configures the server.
        detail: Option<String>,
    },
    /// The credentials prove the user, whom a rule denies everything.
    #[error("this server serves the user of these credentials no longer; ask an operator")]
    ShutOut(Box<User>),
}

impl AuthenticationError {
    /// The reason in a word, for counts and records.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Proxied { .. } => "proxied",
            Self::Ambiguous => "ambiguous",
            Self::Rejected => "rejected",
            Self::Malformed { .. } => "malformed_user",
            Self::Toolset(ToolsetError::Unknown { .. }) => "unknown_toolset",
            Self::Toolset(ToolsetError::Several) => "several_toolsets",
            Self::Refused(refusal) => refusal.word(),
            Self::Certificate { refusal, .. } => refusal.word(),
            Self::ShutOut(_) => "shut_out",
        }
    }

    /// Logs a refusal for whom configures the server, with how many equal ones were not logged before it.
    pub(super) fn log(&self, refused: &RefusedRequest<'_>, unlogged: u64) {
        let RefusedRequest { reason, user, origin, target } = *refused;
        let (detail, workload, what) = match self {
            Self::Refused(refusal) => (refusal.detail(), refusal.workload(), "a signed token is refused"),
            Self::Certificate { workload, detail, .. } => {
                (detail.clone(), workload.as_deref(), "a client certificate is refused")
            }
            Self::ShutOut(_) => (None, None, "a user whom a rule shuts out is refused"),
            _ => (None, None, "credentials are refused"),
        };
        tracing::info!(
            target: "toolwire::authentication",
            reason, detail, workload,
            user_id = user.map(|user| tracing::field::display(&user.id)),
            face = origin.face,
            peer = origin.peer.map(tracing::field::display),
            method = %one_line_within(target),
            equal_unlogged = (unlogged > 0).then_some(unlogged),
            "{what}"
        );
    }

    /// The workload that the credentials prove, and that no setting of such callers names.
    pub(super) fn unknown_workload(&self) -> Option<SpiffeId> {
        let (Self::Refused(Refusal::UnknownWorkload { workload })
        | Self::Certificate {
            refusal: PeerRefusal::UnknownWorkload | PeerRefusal::ForeignTrustDomain,
            workload: Some(workload),
            ..
        }) = self
        else {
            return None;
        };
        workload.parse().ok()
    }

    /// The refusal of a request of a user, where the unknown workload is a host of this provider.
    #[must_use]
    pub(super) fn of_host(self, id: &SpiffeId, provider: &ProviderName) -> Self {
        let workload = Some(id.shared());
        if matches!(self, Self::Certificate { .. }) {
            let detail = Some(spiffe_of_provider(id.as_str(), provider.as_str()));
            return Self::Certificate { refusal: PeerRefusal::OfHost, workload, detail };
        }
        Self::Refused(Refusal::OfHost { provider: provider.as_str().into(), workload })
    }

    /// The refusal of a request of a host, where the unknown workload is this user.
    #[must_use]
    pub(super) fn of_no_host(self, id: &SpiffeId, user: UserId) -> Self {
        let workload = Some(id.shared());
        if matches!(self, Self::Certificate { .. }) {
            let detail = Some(spiffe_of_user(id.as_str(), &user));
            return Self::Certificate { refusal: PeerRefusal::OfNoHost, workload, detail };
        }
        Self::Refused(Refusal::OfNoHost { user, workload })
    }

    /// The user whom the credentials prove all the same.
    pub(super) fn user(&self) -> Option<&User> {
        match self {
            Self::ShutOut(user) => Some(user),
            _ => None,
        }
    }
}

impl From<AuthenticationError> for Status {
    fn from(error: AuthenticationError) -> Self {
        let text = error.to_string();
        match error {
            // The caller can fix these by sending other credentials.
            AuthenticationError::Missing | AuthenticationError::Proxied { .. } => {
                status::plain(Code::Unauthenticated, "CREDENTIALS_MISSING", &text)
            }
            // Not a failure of authentication: the request itself is invalid.
            AuthenticationError::Malformed { header, rule } => {
                let details = ErrorDetails::with_bad_request_violation(header, rule);
                status::status(Code::InvalidArgument, "INVALID_USER", &text, details)
            }
            AuthenticationError::Toolset(ToolsetError::Unknown { name }) => {
                let details = ErrorDetails::with_resource_info("toolset", name, "", "");
                status::status(Code::NotFound, "UNKNOWN_TOOLSET", &text, details)
            }
            AuthenticationError::Toolset(ToolsetError::Several) => {
                let details = ErrorDetails::with_bad_request_violation(toolset::NAME, &text);
                status::status(Code::InvalidArgument, "SEVERAL_TOOLSETS", &text, details)
            }
            // For the operator to fix: the same token may be accepted later.
            AuthenticationError::Refused(Refusal::KeysUnavailable { retry_after }) => {
                let details = ErrorDetails::with_retry_info(Some(retry_after));
                status::status(Code::Unavailable, "AUTHENTICATION_UNAVAILABLE", &text, details)
            }
            AuthenticationError::Ambiguous
            | AuthenticationError::Rejected
            | AuthenticationError::Refused(_)
            | AuthenticationError::Certificate { .. }
            | AuthenticationError::ShutOut(_) => {
                status::plain(Code::Unauthenticated, "CREDENTIALS_REJECTED", &text)
            }
        }
    }
}

/// A target, which may be a path of a stranger's, within a bound.
fn one_line_within(target: &str) -> String {
    visible(&target.chars().take(MAX_TARGET).collect::<String>())
}
