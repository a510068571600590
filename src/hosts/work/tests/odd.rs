//! Hosts that say of a call what cannot be carried: the call has its end, and the slot goes on.

use tonic::Status;

use super::*;
use crate::wire::outcome::Outcome;
use toolwire_contract::{ToolError, proto::v1};
use toolwire_providers::bounds::MAX_DATA;

/// The error of a call of which its host sends these chunks, and then its outcome. The slot takes another call.
async fn ended(effect: Effect, chunks: &[&str], outcome: Option<Outcome>) -> ToolError {
    let (hub, _) = hub();
    let mut host = Host::join(&hub, "a", "c1").await;
    let calling = Calling::begin(&hub, effect);
    let start = host.start().await;
    for data_json in chunks {
        let chunk = wire::Chunk { call_id: start.call_id.clone(), data_json: (*data_json).to_owned() };
        host.send(work_request::Message::Chunk(chunk)).await;
    }
    let outcome = wire::Outcome { call_id: start.call_id.clone(), outcome };
    host.send(work_request::Message::Outcome(outcome)).await;
    let error = calling.result().await.expect_err("an error");
    settle().await;
    assert_eq!(hub.slots("shop"), (1, 1), "the slot is free");
    error
}

fn data() -> Outcome {
    Outcome::DataJson("{}".into())
}

#[tokio::test(start_paused = true)]
async fn a_chunk_that_cannot_be_carried_is_an_error_of_its_call_and_of_a_write_it_says_that_it_was_done() {
    let deep = format!(r#"{{"a": {}{}}}"#, "[".repeat(40), "]".repeat(40));
    let large = format!(r#"{{"a": "{}"}}"#, "x".repeat(MAX_DATA));
    for bad in ["", "{", "[1]", "null", "NaN", r#"{"a": 1e999}"#, r#"{"a": "\ud800"}"#, &deep, &large] {
        let code = if bad == large { ErrorCode::ResultTooLarge } else { ErrorCode::ParseError };
        for effect in [Effect::Read, Effect::Write] {
            let error = ended(effect, &[r#"{"row": 1}"#, bad, r#"{"row": 2}"#], Some(data())).await;
            assert_eq!(error.code, code, "{error}");
            assert!(error.message.contains("A part of the data "), "{error}");
            assert_eq!(error.message.starts_with("The write was done."), effect == Effect::Write, "{error}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_that_has_ended_otherwise_says_that_and_no_more() {
    let code = v1::ToolErrorCode::NotFound.into();
    let failed =
        Outcome::Error(v1::ToolError { code, message: "no order A-1".into(), ..v1::ToolError::default() });
    let error = ended(Effect::Write, &["{"], Some(failed)).await;
    assert_eq!((error.code, error.message.as_str()), (ErrorCode::NotFound, "no order A-1"));
}

#[tokio::test(start_paused = true)]
async fn an_outcome_of_no_known_kind_is_the_end_of_its_call() {
    let error = ended(Effect::Read, &[], None).await;
    assert_eq!(
        (error.code, error.message.as_str()),
        (ErrorCode::Unknown, "The host gave neither data nor an error.")
    );
    assert_eq!(ended(Effect::Write, &[], None).await.code, ErrorCode::OutcomeUnknown);
}

#[tokio::test(start_paused = true)]
async fn a_read_whose_host_says_too_much_at_once_is_not_made_again() {
    let (hub, _) = hub();
    let mut host = Host::join(&hub, "a", "c1").await;
    let calling = Calling::begin(&hub, Effect::Read);
    host.start().await;
    let _other = Host::join(&hub, "b", "c1").await;
    host.requests.send(Err(Status::out_of_range("too large"))).await.expect("the stream is open");
    let error = calling.result().await.expect_err("an error");
    assert_eq!(error.code, ErrorCode::ResultTooLarge);
    let status = host.end().await.expect("not OK");
    let info = status.get_details_error_info().expect("a reason");
    assert_eq!((status.code(), info.reason.as_str()), (Code::ResourceExhausted, "MESSAGE_TOO_LARGE"));
    settle().await;
    assert_eq!(hub.slots("shop"), (1, 1), "the other one has no call");
}
