//! Slots over their streams, with hosts that fail in every way.

mod held;
mod odd;
mod refusals;
mod unsent_calls;
mod versions;

use std::{sync::atomic::Ordering, time::Duration};

use serde_json::json;
use tokio::time::{sleep, timeout};
use tonic::Code;
use tonic_types::StatusExt;

use super::testing::{Calling, Host, hello, hub, settle, status};
use crate::{
    bounds::{HALF_CLOSE, LATE_WAIT, MAX_NAMES, MAX_PROGRAM, MAX_SLOTS_OF_PROVIDER, PONG, SILENCE},
    end::End,
    hub::{Hub, WriteRecord},
    start::{Write, testing::write},
    wire::{self, CancelReason, work_request, work_response::Message},
};
use toolwire_base::clock;
use toolwire_contract::{ErrorCode, Event};
use toolwire_providers::{
    Effect,
    bounds::{DEGRADED_AFTER, REMOVED_AFTER, WAIT_MARGIN},
};
use toolwire_tool::context::{CallId, StopCause};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn offers_are_asked_for_once_and_a_known_catalogue_is_welcome_at_once() {
    let (hub, log) = hub();
    let mut first = Host::dial(&hub, "shop");
    first.send(work_request::Message::Hello(hello("a", "c1"))).await;
    assert!(matches!(first.next().await, Message::Welcome(it) if it.send_catalogue && it.provider == "shop"));
    let offers = vec![status()];
    first.send(work_request::Message::Hello(wire::Hello { offers, ..hello("a", "c1") })).await;
    assert!(matches!(first.next().await, Message::Welcome(it) if !it.send_catalogue && it.accepted == 1));
    let mut second = Host::dial(&hub, "shop");
    second.send(work_request::Message::Hello(hello("a", "c1"))).await;
    assert!(matches!(second.next().await, Message::Welcome(it) if !it.send_catalogue && it.accepted == 1));
    settle().await;
    assert_eq!((hub.slots("shop"), log.take()), ((2, 2), vec!["serve shop: status".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn what_is_no_host_of_the_provider_is_refused() {
    let (hub, _) = hub();
    let cases = [
        (
            wire::Hello { provider: "bank".into(), ..hello("a", "c1") },
            Code::PermissionDenied,
            "WRONG_PROVIDER",
        ),
        (wire::Hello { protocol: 9, ..hello("a", "c1") }, Code::FailedPrecondition, "UNKNOWN_PROTOCOL"),
        (hello("", "c1"), Code::InvalidArgument, "PROTOCOL_VIOLATION"),
    ];
    for (hello, code, reason) in cases {
        let mut host = Host::dial(&hub, "shop");
        host.send(work_request::Message::Hello(hello)).await;
        let status = host.end().await.expect("refused");
        let info = status.get_details_error_info().expect("a reason");
        assert_eq!((status.code(), info.reason.as_str()), (code, reason));
    }
    let status = Host::dial(&hub, "shop").end().await.expect("no Hello");
    assert_eq!(status.code(), Code::DeadlineExceeded);
}

#[tokio::test(start_paused = true)]
async fn a_slot_carries_out_one_call_after_another() {
    let (hub, _) = hub();
    let mut host = Host::join(&hub, "a", "c1").await;
    for number in 0..3 {
        let calling = Calling::begin(&hub, Effect::Read);
        let start = host.start().await;
        assert_eq!((start.tool.as_str(), start.arguments_json.as_str()), ("status", r#"{"order":7}"#));
        assert_eq!(start.call_id, calling.id().to_string());
        assert_eq!(start.request_id, calling.context.lineage.request_id().to_string());
        assert_eq!(start.timeout.expect("stated").seconds, 15);
        let context = start.context.as_ref().expect("stated");
        assert_eq!((context.user_id.as_str(), context.deadline), ("riley", None));
        host.outcome(&start, &json!({"n": number})).await;
        assert_eq!(calling.result().await, Ok(json!({"n": number})));
    }
    settle().await;
    assert_eq!(hub.slots("shop"), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_lost_read_and_a_lost_repeatable_write_go_once_elsewhere_under_the_same_request_id() {
    for effect in [Effect::Read, Effect::RepeatableWrite] {
        let (hub, _) = hub();
        let mut first = Host::join(&hub, "a", "c1").await;
        let calling = Calling::begin(&hub, effect);
        let lost = first.start().await;
        let mut second = Host::join(&hub, "b", "c1").await;
        first.kill().await;
        let again = second.start().await;
        assert_eq!((&again.call_id, &again.request_id), (&lost.call_id, &lost.request_id));
        second.outcome(&again, &json!({})).await;
        assert_eq!(calling.result().await, Ok(json!({})));
        // The second loss is the last.
        let calling = Calling::begin(&hub, effect);
        second.start().await;
        let mut third = Host::join(&hub, "c", "c1").await;
        second.kill().await;
        third.start().await;
        let _idle = Host::join(&hub, "d", "c1").await;
        third.kill().await;
        assert_eq!(calling.result().await.expect_err("lost").code, ErrorCode::Unavailable);
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_read_of_which_a_chunk_was_passed_on_or_that_has_no_time_is_not_repeated() {
    let (hub, _) = hub();
    let mut host = Host::join(&hub, "a", "c1").await;
    let mut calling = Calling::begin(&hub, Effect::Read);
    let start = host.start().await;
    let chunk = wire::Chunk { call_id: start.call_id, data_json: r#"{"row": 1}"#.into() };
    host.send(work_request::Message::Chunk(chunk)).await;
    assert!(matches!(calling.events.recv().await, Some(Event::Chunk(it)) if it["row"] == 1));
    let mut other = Host::join(&hub, "b", "c1").await;
    host.kill().await;
    assert_eq!(calling.result().await.expect_err("lost").code, ErrorCode::Unavailable);
    let calling = Calling::within(&hub, Effect::Read, SECOND);
    other.start().await;
    let _idle = Host::join(&hub, "c", "c1").await;
    sleep(SECOND / 10).await;
    other.kill().await;
    assert_eq!(calling.result().await.expect_err("lost").code, ErrorCode::Unavailable);
}

#[tokio::test(start_paused = true)]
async fn a_lost_repeatable_write_that_was_cancelled_is_not_repeated() {
    let (hub, _) = hub();
    let mut host = Host::join(&hub, "a", "c1").await;
    let calling = Calling::begin(&hub, Effect::RepeatableWrite);
    host.start().await;
    calling.context.cancellation.cancel(StopCause::Cancelled);
    assert!(matches!(host.next().await, Message::Cancel(_)));
    let _idle = Host::join(&hub, "b", "c1").await;
    host.kill().await;
    assert_eq!(calling.result().await.expect_err("lost").code, ErrorCode::Unavailable);
    assert_eq!(hub.slots("shop"), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_lost_write_waits_for_late_from_the_same_instance() {
    let (hub, log) = hub();
    let mut lost = Host::join(&hub, "a", "c1").await;
    let calling = Calling::begin(&hub, Effect::Write);
    let start = lost.start().await;
    let (mut same, other) = (Host::join(&hub, "a", "c1").await, Host::join(&hub, "b", "c1").await);
    lost.kill().await;
    sleep(LATE_WAIT.saturating_sub(SECOND)).await;
    other.late(&start, &json!({"by": "another"})).await;
    settle().await;
    same.late(&start, &json!({"done": true})).await;
    assert!(matches!(same.next().await, Message::LateTaken(it) if it.call_id == start.call_id));
    assert_eq!(calling.result().await, Ok(json!({"done": true})));
    assert!(!log.take().iter().any(|line| line.starts_with("settle")), "the call itself got it");
}

#[tokio::test(start_paused = true)]
async fn without_late_the_outcome_of_a_lost_write_is_unknown_and_a_later_one_replaces_it() {
    let (hub, log) = hub();
    let mut lost = Host::join(&hub, "a", "c1").await;
    let calling = Calling::begin(&hub, Effect::Write);
    let (start, begun) = (lost.start().await, clock::now());
    let mut same = Host::join(&hub, "a", "c1").await;
    lost.kill().await;
    assert_eq!(calling.result().await.expect_err("unknown").code, ErrorCode::OutcomeUnknown);
    assert_eq!(clock::now() - begun, LATE_WAIT, "and it was not carried out again");
    log.take();
    for _ in 0..2 {
        same.late(&start, &json!({"done": true})).await;
        assert!(matches!(same.next().await, Message::LateTaken(_)));
    }
    settle().await;
    assert_eq!(log.take(), [format!(r#"settle {}: {{"done":true}}"#, start.call_id)]);
}

#[tokio::test(start_paused = true)]
async fn an_outcome_that_comes_late_is_taken_once_it_is_recorded() {
    let (hub, log) = hub();
    let mut lost = Host::join(&hub, "a", "c1").await;
    let calling = Calling::begin(&hub, Effect::Write);
    let start = lost.start().await;
    let mut same = Host::join(&hub, "a", "c1").await;
    lost.kill().await;
    assert_eq!(calling.result().await.expect_err("unknown").code, ErrorCode::OutcomeUnknown);
    log.is_full.store(true, Ordering::SeqCst);
    same.late(&start, &json!({"done": true})).await;
    timeout(SECOND, same.next()).await.expect_err("it is not recorded");
    log.is_full.store(false, Ordering::SeqCst);
    same.late(&start, &json!({"done": true})).await;
    assert!(matches!(same.next().await, Message::LateTaken(it) if it.call_id == start.call_id));
}

#[tokio::test(start_paused = true)]
async fn late_of_a_write_of_another_process_is_taken_once_that_has_ended() {
    let (hub, log) = hub();
    let mut host = Host::join(&hub, "a", "c1").await;
    let call = CallId::generate();
    let start = wire::Start { call_id: call.to_string(), ..wire::Start::default() };
    let lost = Write { is_lost: true, ..Write::clone(&write(call)) };
    let records = [WriteRecord::Open, WriteRecord::Unresolved(lost), WriteRecord::Settled];
    log.records.lock().unwrap().extend(records);
    log.take();
    for _ in 0..2 {
        host.late(&start, &json!({"done": true})).await;
        assert!(matches!(host.next().await, Message::LateTaken(it) if it.call_id == start.call_id));
    }
    let found = format!("find {call}");
    let settled = format!(r#"settle {call}: {{"done":true}}"#);
    assert_eq!(log.take(), [found.clone(), found.clone(), settled, found]);
    // Such a write is not recorded, or is another provider's.
    host.late(&start, &json!({"done": true})).await;
    timeout(SECOND, host.next()).await.expect_err("it is not answered");
}

#[tokio::test(start_paused = true)]
async fn late_may_overtake_the_loss_of_its_slot() {
    let (hub, _) = hub();
    let mut silent = Host::join(&hub, "a", "c1").await;
    let calling = Calling::begin(&hub, Effect::Write);
    let start = silent.start().await;
    let mut same = Host::join(&hub, "a", "c1").await;
    same.late(&start, &json!({"done": true})).await;
    assert!(matches!(same.next().await, Message::LateTaken(_)));
    assert_eq!(calling.result().await, Ok(json!({"done": true})));
}

#[tokio::test(start_paused = true)]
async fn an_outcome_that_came_before_the_slot_was_lost_is_known_when_the_host_says_it_again() {
    let (hub, log) = hub();
    let mut lost = Host::join(&hub, "a", "c1").await;
    let calling = Calling::begin(&hub, Effect::Write);
    let start = lost.start().await;
    lost.outcome(&start, &json!({})).await;
    assert_eq!(calling.result().await, Ok(json!({})));
    lost.kill().await;
    log.take();
    let mut same = Host::join(&hub, "a", "c1").await;
    same.late(&start, &json!({})).await;
    assert!(matches!(same.next().await, Message::LateTaken(_)));
    settle().await;
    assert!(!log.take().iter().any(|line| line.starts_with("settle")));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_is_asked_to_stop_and_its_slot_is_busy_until_its_outcome() {
    let (hub, log) = hub();
    let mut host = Host::join(&hub, "a", "c1").await;
    for (cause, reason) in [
        (StopCause::Cancelled, CancelReason::Requested),
        (StopCause::CallerGone, CancelReason::Requested),
        (StopCause::Deadline, CancelReason::Deadline),
        (StopCause::Shutdown, CancelReason::Shutdown),
    ] {
        let calling = Calling::begin(&hub, Effect::Write);
        let start = host.start().await;
        calling.context.cancellation.cancel(cause);
        assert!(matches!(host.next().await, Message::Cancel(it) if it.reason() == reason), "{cause:?}");
        assert_eq!(hub.slots("shop"), (1, 0));
        host.outcome(&start, &json!({"done": "nevertheless"})).await;
        assert_eq!(calling.result().await, Ok(json!({"done": "nevertheless"})));
    }
    // A call whose future is dropped, as that of a read whose time is over.
    let calling = Calling::begin(&hub, Effect::Write);
    let start = host.start().await;
    calling.result.abort();
    assert!(matches!(host.next().await, Message::Cancel(it) if it.call_id == start.call_id));
    log.take();
    host.outcome(&start, &json!({})).await;
    settle().await;
    assert_eq!(log.take(), [format!("settle {}: {{}}", start.call_id)], "what nothing waits for is recorded");
    assert_eq!(hub.slots("shop"), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_write_whose_caller_reads_no_chunks_is_asked_to_stop() {
    let (hub, _) = hub();
    let mut host = Host::join(&hub, "a", "c1").await;
    let calling = Calling::begin(&hub, Effect::Write);
    let start = host.start().await;
    let chunk = wire::Chunk { call_id: start.call_id.clone(), data_json: r#"{"row": 1}"#.into() };
    let chunk = work_request::Message::Chunk(chunk);
    while timeout(SECOND, host.send(chunk.clone())).await.is_ok() {}
    calling.context.cancellation.cancel(StopCause::Cancelled);
    assert!(matches!(host.next().await, Message::Cancel(it) if it.call_id == start.call_id));
}

#[tokio::test(start_paused = true)]
async fn of_a_flood_of_progress_ten_a_second_reach_the_caller() {
    let (hub, _) = hub();
    let mut host = Host::join(&hub, "a", "c1").await;
    let mut calling = Calling::begin(&hub, Effect::Read);
    let start = host.start().await;
    let mut seen = Vec::new();
    for number in 0..200_u32 {
        let progress = wire::Progress {
            call_id: start.call_id.clone(),
            fraction: Some(if number == 0 { 7.0 } else { 0.5 }),
            message: format!("{number}"),
        };
        host.send(work_request::Message::Progress(progress)).await;
        sleep(SECOND / 100).await;
        while let Ok(Event::Progress { fraction, message }) = calling.events.try_recv() {
            seen.push((fraction, message));
        }
    }
    assert_eq!(seen[0], (None, "0".to_owned()), "a fraction out of range is none");
    assert!((18..=22).contains(&seen.len()), "{seen:?}");
    host.outcome(&start, &json!({})).await;
    assert_eq!(calling.result().await, Ok(json!({})));
}

#[tokio::test(start_paused = true)]
async fn a_host_that_wants_to_leave_gets_leave_and_ends_with_ok() {
    let (hub, _) = hub();
    let mut host = Host::join(&hub, "a", "c1").await;
    let calling = Calling::begin(&hub, Effect::Read);
    let start = host.start().await;
    host.send(work_request::Message::Leaving(wire::Leaving {})).await;
    assert!(matches!(host.next().await, Message::Leave(_)));
    host.outcome(&start, &json!({})).await;
    assert_eq!(calling.result().await, Ok(json!({})));
    let Host { requests, answers, ending } = host;
    drop(requests);
    let mut host = Host { requests: tokio::sync::mpsc::channel(1).0, answers, ending };
    assert!(host.end().await.is_none(), "OK");
    assert_eq!(hub.slots("shop"), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_host_that_answers_no_ping_is_lost() {
    let (hub, _) = hub();
    let mut host = Host::join(&hub, "a", "c1").await;
    let begun = clock::now();
    assert!(matches!(host.next().await, Message::Ping(_)));
    assert_eq!(clock::now() - begun, SILENCE);
    host.send(work_request::Message::Pong(wire::Pong {})).await;
    assert!(matches!(host.next().await, Message::Ping(_)));
    let status = host.end().await.expect("lost");
    assert_eq!((status.code(), clock::now() - begun), (Code::DeadlineExceeded, SILENCE + SILENCE + PONG));
}

#[tokio::test(start_paused = true)]
async fn a_host_that_reads_no_answers_is_lost() {
    let (hub, _) = hub();
    let mut lost = Host::join(&hub, "a", "c1").await;
    let calling = Calling::begin(&hub, Effect::Write);
    let start = lost.start().await;
    let same = Host::join(&hub, "a", "c1").await;
    lost.kill().await;
    // More than the stream takes and the queue holds, so that the host is not read any more.
    for _ in 0..9 {
        same.late(&start, &json!({})).await;
    }
    assert_eq!(calling.result().await, Ok(json!({})));
    sleep(SILENCE + PONG + SECOND).await;
    assert_eq!(hub.slots("shop"), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_stream_whose_status_is_not_read_counts_until_it_is_given_up() {
    let (hub, _) = hub();
    let host = Host::dial(&hub, "shop");
    host.send(work_request::Message::Hello(hello("a", "c1"))).await;
    host.send(work_request::Message::Pong(wire::Pong {})).await;
    host.requests.closed().await;
    let admit = || hub.pool().admit(&"shop".into());
    let others: Vec<_> = (1..MAX_SLOTS_OF_PROVIDER).map(|_| admit().expect("a permit")).collect();
    assert_eq!(admit().expect_err("its stream is open"), End::TooManySlots(4_096));
    sleep(HALF_CLOSE + SECOND).await;
    assert!(admit().is_ok());
    drop(others);
}

#[tokio::test(start_paused = true)]
async fn without_slots_the_tools_are_degraded_and_later_withdrawn_unless_one_comes_back() {
    let (hub, log) = hub();
    Host::join(&hub, "a", "c1").await.kill().await;
    log.take();
    sleep(DEGRADED_AFTER.saturating_sub(SECOND)).await;
    let back = Host::join(&hub, "a", "c1").await;
    settle().await;
    log.take();
    sleep(DEGRADED_AFTER).await;
    assert!(log.take().is_empty(), "it is back");
    back.kill().await;
    sleep(DEGRADED_AFTER + SECOND).await;
    assert!(log.take().join("").starts_with("degraded shop: Some"));
    let back = Host::join(&hub, "a", "c1").await;
    settle().await;
    assert_eq!(log.take(), ["degraded shop: None"]);
    back.kill().await;
    sleep(REMOVED_AFTER + SECOND).await;
    assert_eq!(log.take().last().map(String::as_str), Some("withdraw shop"));
    Host::join(&hub, "a", "c1").await;
    assert!(log.take().contains(&"serve shop: status".to_owned()), "its offers are asked for again");
}

#[tokio::test(start_paused = true)]
async fn calls_that_outlast_a_drain_are_lost() {
    let (hub, _) = hub();
    let mut host = Host::join(&hub, "a", "c1").await;
    let calling = Calling::begin(&hub, Effect::Read);
    let start = host.start().await;
    host.ending.take().expect("once").send(()).expect("open");
    assert!(matches!(host.next().await, Message::Leave(_)));
    host.outcome(&start, &json!({})).await;
    assert_eq!(calling.result().await, Ok(json!({})), "within the grace");
    let mut host = Host::join(&hub, "a", "c1").await;
    let calling = Calling::begin(&hub, Effect::Read);
    host.start().await;
    hub.shut_down();
    assert_eq!(host.end().await.expect("ended").code(), Code::Unavailable);
    assert_eq!(Host::dial(&hub, "shop").end().await.expect("refused").code(), Code::Unavailable);
    assert_eq!(calling.result().await.expect_err("lost").code, ErrorCode::Unavailable);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_ends_asks_its_slots_to_leave_and_ends_a_greeting() {
    let (hub, _) = hub();
    let mut host = Host::join(&hub, "a", "c1").await;
    host.ending.take().expect("once").send(()).expect("open");
    assert!(matches!(host.next().await, Message::Leave(it) if it.reason == "the connection ends"));
    settle().await;
    assert_eq!(hub.slots("shop"), (0, 0));
    let mut silent = Host::dial(&hub, "shop");
    silent.ending.take().expect("once").send(()).expect("open");
    assert_eq!(silent.end().await.expect("ended").code(), Code::Unavailable);
}
