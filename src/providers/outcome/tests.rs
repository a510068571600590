//! Which data of a call is taken, and what is said of other data.

use futures_util::FutureExt;
use serde_json::json;

use super::*;

fn output() -> OutputSchema {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    OutputSchema::new(schema).expect("a schema")
}

/// Of what is small: it is read at once.
fn of(text: &str, effect: Effect) -> Result<Value, ToolError> {
    let read = read_data(text.to_owned(), effect, &output()).now_or_never().expect("at once");
    read.map(|payload| payload.json().clone())
}

#[test]
fn data_that_fits_is_the_result() {
    assert_eq!(of(r#"{"n": 1}"#, Effect::Read), Ok(json!({"n": 1})));
}

#[test]
fn data_that_does_not_fit_is_a_parse_error_and_of_a_write_it_says_that_it_was_done() {
    let deep = format!(r#"{{"n": 1, "a": {}{}}}"#, "[".repeat(40), "]".repeat(40));
    for text in ["", "{", "[1]", "1", "null", r#"{"n": "1"}"#, "{}", r#"{"n": 1, "n": 2}"#, &deep] {
        let read = of(text, Effect::Read).expect_err(text);
        assert_eq!((read.code, read.message.contains("was done")), (ErrorCode::ParseError, false), "{read}");
        for effect in [Effect::Write, Effect::RepeatableWrite] {
            let write = of(text, effect).expect_err(text);
            assert_eq!(
                (write.code, write.message.contains("was done")),
                (ErrorCode::ParseError, true),
                "{write}"
            );
        }
    }
}

#[tokio::test]
async fn data_over_3_mib_is_too_large() {
    let text = format!(r#"{{"n": 1, "t": "{}"}}"#, "x".repeat(MAX_DATA));
    let error = read_data(text, Effect::Write, &output()).await.expect_err("too large");
    assert_eq!((error.code, error.message.contains("was done")), (ErrorCode::ResultTooLarge, true));
}

#[tokio::test]
async fn what_takes_long_to_check_leaves_the_thread_that_carries_calls() {
    let of = |text: String, output: OutputSchema| async move {
        let before = offload::testing::requested_count();
        let result = read_data(text, Effect::Read, &output).await;
        (result.is_ok(), offload::testing::requested_count() - before)
    };
    let long = format!(r#"{{"n": 1, "t": "{}"}}"#, "x".repeat(offload::SMALL));
    assert_eq!(of(r#"{"n": 1}"#.into(), output()).await, (true, 0));
    assert_eq!(of(long, output()).await, (true, 1));
    let branches: Vec<_> = (0..1_000).map(|least| json!({"minimum": least})).collect();
    let wide =
        json!({"type": "object", "properties": {"n": {"type": "array", "items": {"anyOf": branches}}}});
    let many = format!(r#"{{"n": [{}-1]}}"#, "-1,".repeat(4_000));
    assert!(many.len() < offload::SMALL);
    assert_eq!(of(many, OutputSchema::new(wide).expect("a schema")).await, (false, 1));
}
