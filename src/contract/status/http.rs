//! The status of a failure over HTTP. `docs/ERRORS.md` has it as a column.
//!
//! It follows the reason, which is finer than gRPC's code: a client of HTTP decides by the number alone what a client
//! of gRPC reads in the details.

use tonic::Code;

/// The status of HTTP for a reason, or the name of a tool's error, whose code over gRPC is `code`.
pub fn http_of(code: Code, reason: &str) -> u16 {
    match reason {
        // The source's doing: neither the caller nor this server can fix it.
        "AUTH_FAILED" | "BLOCKED" | "PARSE_ERROR" => 502,
        // Understood, and not acceptable: other arguments are.
        "INVALID_ARGUMENT" | "REQUEST_ID_REUSED" | "RESULT_TOO_LARGE" => 422,
        // The same call can be made once a person has decided; the same change, once it states what it is made to
        // (RFC 6585 §3).
        "CONFIRMATION_REQUIRED" | "PRECONDITION_REQUIRED" => 428,
        "CONFIRMATION_DENIED" => 403,
        "CONFIRMATION_EXPIRED" => 410,
        // What the caller knows of the state is no longer so.
        "DEFINITION_CHANGED" | "ETAG_STALE" | "DOCUMENT_EXISTS" | "DOCUMENT_ABSENT" => 412,
        // An operator must configure something first.
        "TOOL_DISABLED" | "NO_MODEL" => 503,
        "REQUEST_INCOMPLETE" | "STREAM_IDLE" => 408,
        "MESSAGE_TOO_LARGE" => 413,
        "UNKNOWN_METHOD" | "NO_SUCH_ENTRY" => 404,
        _ => of_code(code),
    }
}

/// The challenge to a token of too little scope, the value of `WWW-Authenticate` (RFC 6750 §3.1). Clients that sign in
/// by themselves request these scopes and try again.
pub fn scope_challenge(scope: &str) -> String {
    format!("Bearer scope=\"{scope}\", error=\"insufficient_scope\"")
}

const fn of_code(code: Code) -> u16 {
    match code {
        Code::Ok => 200,
        Code::InvalidArgument | Code::OutOfRange => 400,
        Code::Unauthenticated => 401,
        Code::PermissionDenied => 403,
        Code::NotFound => 404,
        // A state of the server's conflicts with the request.
        Code::FailedPrecondition | Code::AlreadyExists | Code::Aborted => 409,
        Code::ResourceExhausted => 429,
        // The caller is gone, so this status appears only in logs and spans.
        Code::Cancelled => 499,
        Code::Unimplemented => 501,
        Code::Unavailable => 503,
        Code::DeadlineExceeded => 504,
        Code::Unknown | Code::Internal | Code::DataLoss => 500,
    }
}
