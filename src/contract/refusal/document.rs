//! Refusals of documents: a status over gRPC (`status`), an error for a tool that works with documents.

use std::time::Duration;

use crate::{ErrorCode, ToolError, Violation, near};

/// Why a document was not read or written.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DocumentRefusal {
    /// No task of this name belongs to the user. The words are the same whether there is none or it is another user's.
    #[error("no task {task_id} of yours")]
    UnknownTask {
        /// The name asked for.
        task_id: String,
    },
    /// No document of this path, or not this version.
    #[error("no document {path}{}", near::question(.near))]
    Unknown {
        path: String,
        /// Near paths of the same workspace.
        near: Vec<String>,
    },
    #[error("{path} is deleted; versions before {version} can be read")]
    Deleted {
        path: String,
        /// The version that says so.
        version: u32,
    },
    /// The document has no such version.
    #[error("{path} has no version {version} that can be read; the last one is {last}")]
    UnknownVersion { path: String, version: u32, last: u32 },
    /// A path that breaks the rules.
    #[error("{0}")]
    PathInvalid(String),
    /// Another part of the request breaks its rule.
    #[error("{}", .0.description)]
    Invalid(Violation),
    /// The bytes are not those that the digest names.
    #[error("the digest of the bytes is {found}, not {expected}; nothing was stored")]
    DigestMismatch {
        /// As the caller stated it.
        expected: String,
        /// That of the bytes that came.
        found: String,
    },
    /// A document must be there for the request, and none is.
    #[error("there is no document {path}, and the request wants one to be there")]
    Absent { path: String },
    /// The path must be new, and is not.
    #[error("{path} exists already; its etag is {etag}")]
    Exists { path: String, etag: String },
    /// A change must state what it is made to, and does not.
    #[error(
        "etag must be that of the document as you read it, unless a precondition is stated (over HTTP, If-Match with \
         that tag); nothing was changed"
    )]
    PreconditionRequired,
    /// The document has changed since the etag was read.
    #[error("{path} has changed since; its etag is {etag} now. Read it again, then decide")]
    EtagStale { path: String, etag: String },
    /// A quota is used up.
    #[error("{what}")]
    QuotaExceeded {
        /// What has the quota, such as `workspace:task_…`.
        subject: String,
        /// The quota, in words.
        what: String,
    },
    /// A `request_id` was used before with another document.
    #[error("request_id {request_id} was used before for another document; use a new one")]
    RequestIdReused { request_id: String },
    /// The kept bytes are not those that were written.
    #[error("the bytes of {path}, version {version}, are damaged; other versions are not")]
    Damaged { path: String, version: u32 },
    /// The state cannot be used now: nothing was done.
    #[error("documents cannot be read or written now, and nothing was done; try again in {} s", .retry_after.as_secs())]
    Unavailable {
        /// When to try again.
        retry_after: Duration,
    },
}

impl DocumentRefusal {
    /// A part of the request that breaks its rule; the description goes on where the field's name ends.
    pub fn invalid(field: &str, rule: &str, description: &str) -> Self {
        let description = format!("{field} {description}");
        Self::Invalid(Violation { pointer: field.to_owned(), rule: rule.to_owned(), description })
    }
}

/// What a tool says that works with documents.
impl From<DocumentRefusal> for ToolError {
    fn from(refusal: DocumentRefusal) -> Self {
        use DocumentRefusal as It;
        let code = match &refusal {
            It::UnknownTask { .. } | It::Unknown { .. } | It::Deleted { .. } | It::UnknownVersion { .. } => {
                ErrorCode::NotFound
            }
            It::PathInvalid(_)
            | It::Invalid(_)
            | It::DigestMismatch { .. }
            | It::PreconditionRequired
            | It::RequestIdReused { .. } => ErrorCode::InvalidArgument,
            It::Absent { .. } | It::Exists { .. } | It::EtagStale { .. } | It::QuotaExceeded { .. } => {
                ErrorCode::Conflict
            }
            It::Damaged { .. } => ErrorCode::Unknown,
            It::Unavailable { .. } => ErrorCode::Unavailable,
        };
        let message = refusal.to_string();
        match refusal {
            It::Invalid(violation) => Self { message, ..Self::invalid_arguments(vec![violation]) },
            It::Unavailable { retry_after } => {
                Self { retry_after: Some(retry_after), ..Self::new(code, message) }
            }
            _ => Self::new(code, message),
        }
    }
}
