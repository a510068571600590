//! Refusals of documents as gRPC statuses.

use std::collections::HashMap;

use tonic::Code;
use tonic_types::ErrorDetails;

use crate::DocumentRefusal;

/// What a status says beside its words.
pub(super) fn details(refusal: &DocumentRefusal) -> ErrorDetails {
    use DocumentRefusal as It;
    let resource = |kind: &str, name: &str| ErrorDetails::with_resource_info(kind, name, "", "");
    let broken = |field: &str| ErrorDetails::with_bad_request_violation(field, refusal.to_string());
    match refusal {
        It::UnknownTask { task_id } => resource("task", task_id),
        It::Unknown { path, .. }
        | It::Deleted { path, .. }
        | It::UnknownVersion { path, .. }
        | It::Absent { path }
        | It::Exists { path, .. }
        | It::EtagStale { path, .. }
        | It::Damaged { path, .. } => resource("document", path),
        It::RequestIdReused { request_id } => resource("request_id", request_id),
        It::PathInvalid(_) => broken("path"),
        It::DigestMismatch { .. } => broken("digest"),
        It::PreconditionRequired => broken("etag"),
        It::Invalid(violation) => broken(&violation.pointer),
        It::QuotaExceeded { subject, what } => ErrorDetails::with_quota_failure_violation(subject, what),
        It::Unavailable { retry_after } => ErrorDetails::with_retry_info(Some(*retry_after)),
    }
}

/// What `ErrorInfo` says beside its reason: the present etag, where it is another one.
pub(super) fn metadata(refusal: &DocumentRefusal) -> HashMap<String, String> {
    use DocumentRefusal as It;
    match refusal {
        It::Exists { etag, .. } | It::EtagStale { etag, .. } => [("etag".to_owned(), etag.clone())].into(),
        _ => HashMap::new(),
    }
}

pub(super) const fn code(refusal: &DocumentRefusal) -> Code {
    use DocumentRefusal as It;
    match refusal {
        It::UnknownTask { .. } | It::Unknown { .. } | It::Deleted { .. } | It::UnknownVersion { .. } => {
            Code::NotFound
        }
        It::PathInvalid(_) | It::Invalid(_) | It::DigestMismatch { .. } | It::PreconditionRequired => {
            Code::InvalidArgument
        }
        It::Exists { .. } | It::RequestIdReused { .. } => Code::AlreadyExists,
        It::Absent { .. } => Code::FailedPrecondition,
        // Reading the document again tells what to do.
        It::EtagStale { .. } => Code::Aborted,
        It::QuotaExceeded { .. } => Code::ResourceExhausted,
        It::Damaged { .. } => Code::DataLoss,
        It::Unavailable { .. } => Code::Unavailable,
    }
}

pub(super) const fn reason(refusal: &DocumentRefusal) -> &'static str {
    use DocumentRefusal as It;
    match refusal {
        It::UnknownTask { .. } => "UNKNOWN_TASK",
        It::Unknown { .. } => "UNKNOWN_DOCUMENT",
        It::Deleted { .. } => "DOCUMENT_DELETED",
        It::UnknownVersion { .. } => "UNKNOWN_VERSION",
        It::PathInvalid(_) => "PATH_INVALID",
        It::Invalid(_) => "INVALID_REQUEST",
        It::DigestMismatch { .. } => "DIGEST_MISMATCH",
        It::Absent { .. } => "DOCUMENT_ABSENT",
        It::Exists { .. } => "DOCUMENT_EXISTS",
        It::PreconditionRequired => "PRECONDITION_REQUIRED",
        It::EtagStale { .. } => "ETAG_STALE",
        It::QuotaExceeded { .. } => "QUOTA_EXCEEDED",
        It::RequestIdReused { .. } => "REQUEST_ID_REUSED",
        It::Damaged { .. } => "DOCUMENT_DAMAGED",
        It::Unavailable { .. } => "STATE_UNAVAILABLE",
    }
}
