//! What outcomes of hosts become.

use std::time::Duration;

use futures_util::FutureExt;
use proptest::{collection::vec, prelude::*};
use serde_json::json;

use toolwire_contract::convert;

use super::*;

fn output() -> OutputSchema {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    OutputSchema::new(schema).expect("a schema")
}

/// Of what is small: it is read at once.
fn read_now(outcome: Outcome, effect: Effect) -> Result<Payload, ToolError> {
    read(outcome, effect, &output()).now_or_never().expect("at once")
}

fn of_code(code: v1::ToolErrorCode, effect: Effect) -> ErrorCode {
    let error = v1::ToolError { code: code.into(), message: "no".into(), ..v1::ToolError::default() };
    read_now(Outcome::Error(error), effect).expect_err("an error").code
}

#[test]
fn a_host_cannot_say_what_only_the_server_says() {
    for code in [v1::ToolErrorCode::ConfirmationDenied, v1::ToolErrorCode::ConfirmationExpired] {
        assert_eq!(of_code(code, Effect::Read), ErrorCode::Unknown);
    }
    let error = v1::ToolError {
        code: v1::ToolErrorCode::NotFound.into(),
        message: "ä".repeat(MAX_ERROR),
        origin: v1::ErrorOrigin::Service.into(),
        attempts: 7,
        retryable: true,
        ..v1::ToolError::default()
    };
    let error = read_now(Outcome::Error(error), Effect::Read).expect_err("an error");
    assert_eq!((error.origin, error.attempts, error.retryable), (Origin::Tool, 0, true));
    assert_eq!(error.message.len(), MAX_ERROR);
}

#[test]
fn the_wait_that_a_host_advises_is_bounded() {
    let two = Some(Duration::from_secs(2));
    for (seconds, advised) in [(2, two), (i64::MAX, Some(MAX_RETRY_AFTER)), (-1, None), (i64::MIN, None)] {
        let mut retry_after = convert::duration(Duration::ZERO);
        retry_after.seconds = seconds;
        let code = v1::ToolErrorCode::RateLimited.into();
        let error = Outcome::Error(v1::ToolError {
            code,
            retry_after: Some(retry_after),
            ..v1::ToolError::default()
        });
        assert_eq!(read_now(error, Effect::Read).expect_err("an error").retry_after, advised);
    }
}

#[test]
fn a_read_has_no_unknown_outcome() {
    for (effect, code) in [
        (Effect::Read, ErrorCode::Unknown),
        (Effect::RepeatableWrite, ErrorCode::OutcomeUnknown),
        (Effect::Write, ErrorCode::OutcomeUnknown),
    ] {
        assert_eq!(of_code(v1::ToolErrorCode::OutcomeUnknown, effect), code);
    }
}

#[test]
fn of_a_write_that_cannot_be_repeated_an_uncertain_failure_leaves_the_outcome_unknown() {
    use v1::ToolErrorCode as Code;
    for code in [Code::Unknown, Code::Unspecified, Code::Unavailable, Code::Timeout, Code::Cancelled] {
        let (code_text, retryable) = (code.into(), true);
        let error = v1::ToolError {
            code: code_text,
            message: "Broken.".into(),
            retryable,
            ..v1::ToolError::default()
        };
        let error = read_now(Outcome::Error(error), Effect::Write).expect_err("an error");
        // A repeat is answered from the record.
        assert_eq!((error.code, error.retryable), (ErrorCode::OutcomeUnknown, false), "{code:?}");
        let expected = "Broken. How much of it was done is not known: look at what it was to change";
        assert!(error.message.starts_with(expected), "{error}");
        assert_ne!(of_code(code, Effect::RepeatableWrite), ErrorCode::OutcomeUnknown, "{code:?}");
        assert_ne!(of_code(code, Effect::Read), ErrorCode::OutcomeUnknown, "{code:?}");
    }
    for code in
        [Code::NotFound, Code::InvalidArgument, Code::Conflict, Code::ParseError, Code::ResultTooLarge]
    {
        assert_ne!(of_code(code, Effect::Write), ErrorCode::OutcomeUnknown, "{code:?}");
    }
}

#[test]
fn an_unknown_outcome_says_what_to_do_however_long_its_error_is() {
    for text in ["", ".", "Broken", "x", "ä", "🔧"] {
        let message = text.repeat(MAX_ERROR);
        let error = Outcome::Error(v1::ToolError { message, ..v1::ToolError::default() });
        let error = read_now(error, Effect::Write).expect_err("an error");
        assert_eq!(error.code, ErrorCode::OutcomeUnknown);
        assert!(error.message.len() <= MAX_ERROR && error.message.ends_with(WHAT_TO_DO), "{error}");
    }
}

/// Any number, and often the least and the greatest.
fn extreme_i64() -> impl Strategy<Value = i64> {
    prop_oneof![any::<i64>(), Just(i64::MIN), Just(i64::MAX), -5_i64..5]
}

fn extreme_i32() -> impl Strategy<Value = i32> {
    prop_oneof![any::<i32>(), Just(i32::MIN), Just(i32::MAX), Just(0)]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![".{0,80}", ".{0,8}".prop_map(|it| it.repeat(2_000))]
}

prop_compose! {
    fn error()(
        code in prop_oneof![any::<i32>(), 0..20], message in text(), retryable in any::<bool>(),
        wait in proptest::option::of((extreme_i64(), extreme_i32())), origin in any::<i32>(), attempts in any::<u32>(),
        violations in vec((text(), text(), text()), 0..200),
    ) -> v1::ToolError {
        let violation = |(pointer, rule, description)| v1::FieldViolation { pointer, rule, description };
        let field_violations = violations.into_iter().map(violation).collect();
        let retry_after = wait.map(|(seconds, nanos)| {
            let mut wait = convert::duration(Duration::ZERO);
            (wait.seconds, wait.nanos) = (seconds, nanos);
            wait
        });
        v1::ToolError { code, message, retryable, retry_after, origin, attempts, field_violations }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn whatever_an_error_of_a_host_holds_its_caller_gets_one_within_bounds(error in error()) {
        for effect in [Effect::Read, Effect::RepeatableWrite, Effect::Write] {
            let read = read_now(Outcome::Error(error.clone()), effect).expect_err("an error");
            prop_assert!(read.message.len() <= MAX_ERROR);
            prop_assert!(read.retry_after.is_none_or(|wait| wait <= MAX_RETRY_AFTER));
            prop_assert!(read.violations.len() <= MAX_VIOLATIONS);
            let parts = read.violations.iter().flat_map(|it| [&it.pointer, &it.rule, &it.description]);
            prop_assert!(parts.map(String::len).all(|length| length <= MAX_PROBLEM_TEXT));
            prop_assert_eq!((read.origin, read.attempts), (Origin::Tool, 0));
        }
    }
}
