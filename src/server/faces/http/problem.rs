//! Problems: failures as `application/problem+json` (RFC 9457).
//!
//! Every refusal and every error of a tool leaves the HTTP listener in this form. Its status is defined beside that of
//! gRPC (`toolwire_contract::status`).

use std::time::Duration;

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use serde_json::{Map, Value, json};
use tonic::{Code, Status};
use tonic_types::{ErrorDetail, StatusExt};

use toolwire_contract::{
    ErrorCode, Refusal, ToolError, Violation,
    status::{self, code_of, http_of},
};

#[derive(Clone, Debug)]
pub struct Problem(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    status: StatusCode,
    code: String,
    detail: String,
    members: Map<String, Value>,
    headers: HeaderMap,
}

impl Problem {
    /// A problem of this code, such as `UNKNOWN_ROUTE`.
    pub fn new(code: impl Into<String>, status: StatusCode, detail: impl Into<String>) -> Self {
        let (code, detail) = (code.into(), detail.into());
        let (members, headers) = (Map::new(), HeaderMap::new());
        Self(Box::new(Inner { status, code, detail, members, headers }))
    }

    /// Adds a member.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.members.insert(name.to_owned(), value.into());
        self
    }

    /// Adds a header to its response.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.0.headers.insert(name, value);
        self
    }

    #[must_use]
    pub fn of_call(self, call_id: &str) -> Self {
        self.with("instance", format!("/v1/calls/{call_id}")).with("call_id", call_id)
    }

    /// States whether, and when, the same request may succeed.
    #[must_use]
    pub fn retryable(self, is: bool, after: Option<Duration>) -> Self {
        let it = self.with("retryable", is);
        match after {
            Some(after) => it.with("retry_after_ms", u64::try_from(after.as_millis()).unwrap_or(u64::MAX)),
            None => it,
        }
    }

    /// The stable code, such as `RATE_LIMITED`.
    pub fn code(&self) -> &str {
        &self.0.code
    }

    pub fn status(&self) -> StatusCode {
        self.0.status
    }

    /// The problem as one line of JSON.
    pub fn to_json(&self) -> String {
        let Inner { status, code, detail, members, headers: _ } = &*self.0;
        let mut problem = json!({
            "type": format!("/errors/{code}"),
            "title": title(code),
            "status": status.as_u16(),
            "detail": detail,
            "code": code,
        });
        if let Value::Object(all) = &mut problem {
            all.extend(members.clone());
        }
        problem.to_string()
    }
}

/// `RATE_LIMITED` in words.
pub fn title(code: &str) -> String {
    let words = code.to_lowercase().replace('_', " ");
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

impl From<Status> for Problem {
    fn from(status: Status) -> Self {
        let reason = status.get_details_error_info().map(|info| info.reason);
        let reason = reason.unwrap_or_else(|| status::name(status.code()).to_owned());
        let mut problem = Self::new(reason.clone(), number(status.code(), &reason), status.message());
        let (mut after, mut violations) = (None, Vec::new());
        for detail in status.get_error_details_vec() {
            match detail {
                ErrorDetail::RetryInfo(info) => after = info.retry_delay,
                ErrorDetail::BadRequest(request) => violations = request.field_violations,
                ErrorDetail::ErrorInfo(info) => {
                    for (name, value) in info.metadata {
                        problem = problem.with(&name, value);
                    }
                }
                _ => {}
            }
        }
        // Statuses have no room for the rule.
        let violation =
            |it: tonic_types::FieldViolation| json!({"pointer": it.field, "description": it.description});
        let violations: Vec<_> = violations.into_iter().map(violation).collect();
        let problem =
            if violations.is_empty() { problem } else { problem.with("field_violations", violations) };
        problem.retryable(after.is_some() || is_retryable(status.code()), after)
    }
}

/// Whether the same request may succeed, if the status has no retry delay.
const fn is_retryable(code: Code) -> bool {
    matches!(code, Code::Unavailable | Code::DeadlineExceeded)
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let violations = match &refusal {
            // With the rules, which statuses have no room for.
            Refusal::InvalidRequest(violations) => Some(self::violations(violations)),
            _ => None,
        };
        let problem = Self::from(Status::from(refusal));
        match violations {
            Some(violations) => problem.with("field_violations", violations),
            None => problem,
        }
    }
}

impl From<ToolError> for Problem {
    fn from(error: ToolError) -> Self {
        let name = error.code.into_str();
        let problem = Self::new(name, number(code_of(error.code), name), error.message.as_str())
            .retryable(error.retryable, error.retry_after)
            .with("origin", error.origin.into_str())
            .with("attempts", error.attempts);
        if error.code == ErrorCode::InvalidArgument || !error.violations.is_empty() {
            return problem.with("field_violations", violations(&error.violations));
        }
        problem
    }
}

fn violations(violations: &[Violation]) -> Value {
    serde_json::to_value(violations).unwrap_or_default()
}

fn number(code: Code, reason: &str) -> StatusCode {
    StatusCode::from_u16(http_of(code, reason)).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let text = self.to_json();
        let Inner { status, code, members, headers: own, .. } = *self.0;
        let mut response = Response::new(Body::empty());
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(text.len()));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if code == status::INSUFFICIENT_SCOPE
            && let Some(scope) = members.get("scope").and_then(Value::as_str)
            && let Ok(challenge) = HeaderValue::try_from(status::scope_challenge(scope))
        {
            headers.insert(header::WWW_AUTHENTICATE, challenge);
        }
        if let Some(millis) = members.get("retry_after_ms").and_then(Value::as_u64) {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(millis.div_ceil(1000)));
        }
        headers.extend(own);
        *response.body_mut() = Body::from(text);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(problem: &Problem) -> Value {
        serde_json::from_str(&problem.to_json()).unwrap()
    }

    #[test]
    fn an_error_of_a_tool_says_all_that_the_result_says() {
        let error = ToolError::new(ErrorCode::RateLimited, "ask later")
            .with_retry_after(Duration::from_millis(1_200));
        let problem = Problem::from(error).of_call("c1");
        let expected = json!({
            "type": "/errors/RATE_LIMITED", "title": "Rate limited", "status": 429, "detail": "ask later",
            "code": "RATE_LIMITED", "retryable": true, "retry_after_ms": 1_200, "origin": "source", "attempts": 0,
            "instance": "/v1/calls/c1", "call_id": "c1",
        });
        assert_eq!(json(&problem), expected);
        let response = problem.into_response();
        assert_eq!(response.headers()[header::RETRY_AFTER], "2");
        assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
    }

    #[test]
    fn a_refusal_has_its_reason_and_the_rules_that_are_broken() {
        let violation = Violation {
            pointer: "Idempotency-Key".to_owned(),
            rule: "format".to_owned(),
            description: "Idempotency-Key must be a UUID".to_owned(),
        };
        let problem = Problem::from(Refusal::InvalidRequest(vec![violation]));
        assert_eq!(json(&problem)["field_violations"][0]["rule"], "format");
        assert_eq!((problem.code(), problem.status()), ("INVALID_REQUEST", StatusCode::BAD_REQUEST));
        let problem = Problem::from(Status::new(Code::Internal, "unreadable"));
        assert_eq!((problem.code(), problem.status()), ("INTERNAL", StatusCode::INTERNAL_SERVER_ERROR));
    }

    #[test]
    fn statuses_follow_the_reason_and_then_the_code() {
        for (code, reason, expected) in [
            (Code::FailedPrecondition, "DEFINITION_CHANGED", 412),
            (Code::FailedPrecondition, "TASK_BLOCKED", 409),
            (Code::AlreadyExists, "REQUEST_ID_REUSED", 422),
            (Code::ResourceExhausted, "MESSAGE_TOO_LARGE", 413),
            (Code::Internal, "PARSE_ERROR", 502),
            (Code::Cancelled, "CALLER_GONE", 499),
        ] {
            assert_eq!(http_of(code, reason), expected, "{reason}");
        }
    }
}
