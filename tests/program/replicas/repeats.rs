//! One `request_id` at two programs: the call is carried out once, and everybody learns its outcome.

use std::time::Duration;

use futures_util::future::join_all;
use rustix::process::Signal;
use tonic::Code;
use toolwire::contract::proto::v1::{ToolErrorCode, ToolResult, tool_result::Outcome};

use super::{Two, begin, call, call_within, known, new_id, signal, sleep_of, write_of};

/// How often the write of an outcome was carried out.
fn writes(result: &ToolResult) -> (String, String) {
    let Some(Outcome::Data(data)) = &result.outcome else { panic!("{result:?}") };
    let field = |name: &str| format!("{:?}", data.fields[name]);
    (field("writes"), field("written_at"))
}

#[tokio::test]
async fn of_many_equal_calls_at_two_programs_at_once_each_has_the_outcome_of_the_one_that_was_made() {
    let two = Two::start().await;
    let (one, other) = two.tools().await;
    for round in 0..10 {
        let (id, duration) = (new_id(), if round % 2 == 0 { "0s" } else { "0.3s" });
        let callers = (0..20).map(|caller| if caller % 2 == 0 { &one } else { &other });
        let calls = callers.map(|tools| call(tools, "debug_write", write_of(duration), &id));
        let results: Vec<_> = join_all(calls).await.into_iter().map(Result::unwrap).collect();
        let first = writes(&results[0]);
        assert!(results.iter().all(|result| writes(result) == first), "round {round}: {results:?}");
    }
}

#[tokio::test]
async fn a_read_is_attached_to_as_a_write_is() {
    let mut two = Two::start().await;
    let (one, other) = two.tools().await;
    let id = new_id();
    let (_, first) = begin(&one, "debug_sleep", sleep_of("2s"), &id).await;
    let second = call(&other, "debug_sleep", sleep_of("2s"), &id).await.unwrap();
    assert_eq!(first.await.unwrap().unwrap().outcome, second.outcome);
    // It was not made again.
    assert_eq!(two.other.line("debug_sleep").await["cache_hit"], true);
}

#[tokio::test]
async fn the_owner_of_a_call_that_is_stopped_is_waited_for_until_the_deadline() {
    let two = Two::start().await;
    let (one, other) = two.tools().await;
    let id = new_id();
    let (_, first) = begin(&one, "debug_write", write_of("1s"), &id).await;
    signal(&two.one, Signal::STOP);
    let attached = call_within(&other, "debug_write", write_of("1s"), &id, Duration::from_secs(2)).await;
    // The client's own timer may be first, and calls it CANCELLED.
    let code = attached.unwrap_err().code();
    assert!(matches!(code, Code::DeadlineExceeded | Code::Cancelled), "{code:?}");
    let (_, attached) = begin(&other, "debug_write", write_of("1s"), &id).await;
    signal(&two.one, Signal::CONT);
    let (first, attached) = (first.await.unwrap().unwrap(), attached.await.unwrap().unwrap());
    assert_eq!(writes(&first), writes(&attached));
}

#[tokio::test]
async fn the_outcome_is_unknown_once_the_owner_of_a_write_is_gone() {
    let two = Two::start().await;
    let (one, other) = two.tools().await;
    let (write, read) = (new_id(), new_id());
    let (_, _cut) = begin(&one, "debug_write", write_of("60s"), &write).await;
    let (_, _left) = begin(&one, "debug_sleep", sleep_of("1s"), &read).await;
    let (_, attached) = begin(&other, "debug_write", write_of("60s"), &write).await;
    let (_, reading) = begin(&other, "debug_sleep", sleep_of("1s"), &read).await;
    known(&other, &write).await;
    two.one.kill().await;
    let Some(Outcome::Error(error)) = attached.await.unwrap().unwrap().outcome else { panic!("an error") };
    assert_eq!(error.code(), ToolErrorCode::OutcomeUnknown);
    // A read is made again by who waits for it.
    assert!(matches!(reading.await.unwrap().unwrap().outcome, Some(Outcome::Data(_))));
}
