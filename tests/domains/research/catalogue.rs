//! The error catalogue of every source: what a response becomes for the caller, and how many requests were made.
//!
//! Not here: what else a site may do, which the tests of the connectors do to each.

use std::time::Duration;

use serde_json::{Value, json};
use toolwire::contract::{ErrorCode, ToolError};
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{any, method, path_regex},
};

use super::support::Research;

/// A source, and the tool that asks it.
struct Source {
    name: &'static str,
    tool: &'static str,
    arguments: fn() -> Value,
    /// The requests before the one that is answered with an error, such as a token's.
    handshake: &'static [Step],
    /// How often a request is repeated after a 5xx, and after a time-out.
    repeats: (u32, u32),
}

/// A request by method and path, and its answer.
type Step = (&'static str, &'static str, fn() -> ResponseTemplate);

/// A response, and what the caller must see.
struct Row {
    name: &'static str,
    response: fn() -> ResponseTemplate,
    code: ErrorCode,
    is_retryable: bool,
    retry_after: Option<Duration>,
    attempts: fn(&Source) -> u32,
}

const SOURCES: &[Source] = &[
    Source {
        name: "yahoo",
        tool: "get_technicals",
        arguments: || json!({"symbol": "RELIANCE"}),
        handshake: &[],
        repeats: (2, 1),
    },
    Source {
        name: "valuepickr",
        tool: "browse_valuepickr",
        arguments: || json!({}),
        handshake: &[],
        repeats: (2, 1),
    },
    Source {
        name: "reddit",
        tool: "browse_reddit",
        arguments: || json!({}),
        handshake: &[("POST", "access_token", || {
            ResponseTemplate::new(200).set_body_json(json!({
                "access_token": "t0ken", "token_type": "bearer", "expires_in": 86400, "scope": "*",
            }))
        })],
        repeats: (2, 1),
    },
    Source {
        name: "news",
        tool: "get_news",
        arguments: || json!({"symbol": "RELIANCE"}),
        handshake: &[],
        repeats: (2, 1),
    },
    Source {
        name: "screener",
        tool: "browse_screener",
        arguments: || json!({}),
        handshake: &[],
        repeats: (0, 0),
    },
    Source {
        name: "nse",
        tool: "get_insider_trading",
        arguments: || json!({"symbol": "RELIANCE"}),
        handshake: &[("GET", "^/(index|home|market|get-quotes|all-reports|report)?[^/]*/?$", || {
            ResponseTemplate::new(200)
                .insert_header("set-cookie", "nsit=warm; path=/")
                .set_body_raw("<html><title>Warm</title></html>", "text/html")
        })],
        repeats: (2, 1),
    },
];

const ROWS: &[Row] = &[
    Row {
        name: "429 with a long Retry-After",
        response: || {
            ResponseTemplate::new(429).insert_header("retry-after", "3600").set_body_string("slow down")
        },
        code: ErrorCode::RateLimited,
        is_retryable: true,
        retry_after: Some(Duration::from_hours(1)),
        attempts: |_| 1,
    },
    Row {
        name: "429 with a short Retry-After, again and again",
        response: || {
            ResponseTemplate::new(429).insert_header("retry-after", "1").set_body_string("slow down")
        },
        code: ErrorCode::RateLimited,
        is_retryable: true,
        retry_after: Some(Duration::from_secs(1)),
        attempts: |source| 1 + source.repeats.1,
    },
    Row {
        name: "403",
        response: || ResponseTemplate::new(403).set_body_string("forbidden"),
        code: ErrorCode::Blocked,
        is_retryable: false,
        retry_after: None,
        attempts: |_| 1,
    },
    Row {
        name: "500",
        response: || ResponseTemplate::new(500).set_body_string("oops"),
        code: ErrorCode::Unavailable,
        is_retryable: true,
        retry_after: None,
        attempts: |source| 1 + source.repeats.0,
    },
    Row {
        name: "503",
        response: || ResponseTemplate::new(503).set_body_string("down for maintenance"),
        code: ErrorCode::Unavailable,
        is_retryable: true,
        retry_after: None,
        attempts: |source| 1 + source.repeats.0,
    },
    Row {
        name: "an answer slower than the time-out of an attempt",
        response: || ResponseTemplate::new(200).set_delay(Duration::from_secs(30)),
        code: ErrorCode::Timeout,
        is_retryable: true,
        retry_after: None,
        attempts: |source| 1 + source.repeats.1,
    },
    Row {
        name: "a redirect to a private address",
        response: || ResponseTemplate::new(302).insert_header("location", "http://169.254.169.254/latest/"),
        code: ErrorCode::ParseError,
        is_retryable: false,
        retry_after: None,
        attempts: |_| 1,
    },
];

/// What only sources of JSON can get wrong.
const JSON_ROWS: &[Row] = &[Row {
    name: "the page of a block where JSON was due",
    response: || {
        let page = "<!DOCTYPE html><html><head><title>Just a moment...</title></head></html>";
        ResponseTemplate::new(200).set_body_raw(page, "text/html")
    },
    code: ErrorCode::Blocked,
    is_retryable: false,
    retry_after: None,
    attempts: |_| 1,
}];

const SOURCES_OF_JSON: [&str; 4] = ["yahoo", "valuepickr", "reddit", "nse"];

#[tokio::test]
async fn every_response_becomes_the_error_of_the_catalogue() {
    let mut wrong = Vec::new();
    for source in SOURCES {
        let of_json = JSON_ROWS.iter().filter(|_| SOURCES_OF_JSON.contains(&source.name));
        for row in ROWS.iter().chain(of_json) {
            wrong.extend(check(source, row).await);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

async fn check(source: &Source, row: &Row) -> Option<String> {
    let server = MockServer::start().await;
    for (verb, path, response) in source.handshake {
        Mock::given(method(*verb))
            .and(path_regex(*path))
            .respond_with(response())
            .with_priority(1)
            .mount(&server)
            .await;
    }
    Mock::given(any()).respond_with((row.response)()).with_priority(5).mount(&server).await;
    let research = Research::against(source.name, &server.uri());
    let result = research.call(source.tool, (source.arguments)()).await;
    let found = result.outcome.as_ref().err().map(visible);
    let handshake = u32::try_from(source.handshake.len()).expect("few");
    let expected = (row.code, row.is_retryable, row.retry_after, (row.attempts)(source) + handshake);
    let requests = server.received_requests().await.unwrap_or_default().len();
    let is_as_expected = found == Some(expected) && requests == expected.3 as usize;
    (!is_as_expected).then(|| {
        format!(
            "{} / {}: expected {expected:?}, found {found:?} after {requests} requests ({:?})",
            source.name,
            row.name,
            result.outcome.map(|data| data.json().to_string())
        )
    })
}

/// What a caller sees, without the cool-down that a refusal begins: `retry_after` of those is the cool-down's.
fn visible(error: &ToolError) -> (ErrorCode, bool, Option<Duration>, u32) {
    let begins_cool_down = matches!(error.code, ErrorCode::Blocked | ErrorCode::AuthFailed);
    let retry_after = error.retry_after.filter(|_| !begins_cool_down);
    (
        error.code,
        error.retryable,
        retry_after.map(|wait| Duration::from_secs((wait + Duration::from_millis(500)).as_secs())),
        error.attempts,
    )
}
