//! Calls that no host has got yet.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_call_without_a_free_slot_says_so_and_ends_before_its_deadline() {
    let (hub, _) = hub();
    let mut calling = Calling::within(&hub, Effect::Write, SECOND);
    assert!(
        matches!(calling.events.recv().await, Some(Event::Progress { message, .. }) if message.contains("shop"))
    );
    let error = calling.result().await.expect_err("unavailable");
    assert_eq!((error.code, error.retry_after), (ErrorCode::Unavailable, Some(SECOND)));
    let calling = Calling::begin(&hub, Effect::Write);
    settle().await;
    let mut host = Host::join(&hub, "a", "c1").await;
    let start = host.start().await;
    host.outcome(&start, &json!({})).await;
    assert_eq!(calling.result().await, Ok(json!({})));
}

#[tokio::test(start_paused = true)]
async fn a_call_says_whether_a_host_is_missing_or_a_slot_and_what_ended_its_wait() {
    let (hub, _) = hub();
    let limits = ["within the time-out of 15 s", "before the deadline of the call"];
    for (effect, time, limit) in [(Effect::Read, 60, limits[0]), (Effect::Write, 4, limits[1])] {
        let mut calling = Calling::within(&hub, effect, time * SECOND);
        let Some(Event::Progress { message, .. }) = calling.events.recv().await else {
            panic!("no progress")
        };
        assert!(message.starts_with("No host of `shop` is connected"), "{message}");
        let error = calling.result().await.expect_err("no host");
        assert_eq!((error.code, error.retry_after.is_some()), (ErrorCode::Unavailable, true));
        let expected = format!("No host of `shop` is connected, and none came {limit}. Start the program");
        assert!(error.message.starts_with(&expected), "{error}");
    }
    let mut host = Host::join(&hub, "a", "c1").await;
    let _busy = Calling::begin(&hub, Effect::Read);
    host.start().await;
    let error = Calling::within(&hub, Effect::Read, SECOND).result().await.expect_err("no slot");
    assert_eq!(
        error.message,
        "No host of `shop` is free: none of its slots became free before the deadline of the call."
    );
}

#[tokio::test(start_paused = true)]
async fn a_write_without_a_free_slot_ends_before_its_caller_or_its_time_out_does_and_is_not_carried_out() {
    for (time, end) in [(5 * SECOND, 5 * SECOND), (60 * SECOND, 15 * SECOND)] {
        let (hub, _) = hub();
        let (calling, begun) = (Calling::detached(&hub, time), clock::now());
        let error = calling.result().await.expect_err("unavailable");
        assert_eq!((error.code, error.retry_after), (ErrorCode::Unavailable, Some(SECOND)));
        assert_eq!(clock::now() - begun, end.saturating_sub(WAIT_MARGIN));
        let _host = Host::join(&hub, "a", "c1").await;
        settle().await;
        assert_eq!(hub.slots("shop"), (1, 1), "nothing is sent later");
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_that_was_not_sent_before_it_was_cancelled_or_its_time_was_over_is_not_sent_again() {
    for (cause, code) in [(Some(StopCause::Cancelled), ErrorCode::Cancelled), (None, ErrorCode::Unavailable)]
    {
        let (hub, _) = hub();
        let stalled = Host::join(&hub, "a", "c1").await;
        // The stream takes one answer, which the host does not read: the next `Start` stays in the queue.
        sleep(SILENCE).await;
        let calling = Calling::detached(&hub, 5 * SECOND);
        settle().await;
        let _idle = Host::join(&hub, "b", "c1").await;
        match cause {
            Some(cause) => calling.context.cancellation.cancel(cause),
            None => sleep(5 * SECOND).await,
        }
        stalled.kill().await;
        assert_eq!(calling.result().await.expect_err("not sent").code, code);
        assert_eq!(hub.slots("shop"), (1, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_that_was_not_sent_yet_takes_another_slot() {
    let (hub, _) = hub();
    let mut stalled = Host::join(&hub, "a", "c1").await;
    let first = Calling::begin(&hub, Effect::Write);
    let start = stalled.start().await;
    stalled.outcome(&start, &json!({})).await;
    assert_eq!(first.result().await, Ok(json!({})));
    // The stream takes one answer, which the host does not read: the next `Start` stays in the queue.
    sleep(SILENCE).await;
    let calling = Calling::begin(&hub, Effect::Write);
    settle().await;
    let mut other = Host::join(&hub, "b", "c1").await;
    stalled.kill().await;
    let again = other.start().await;
    other.outcome(&again, &json!({})).await;
    assert_eq!(calling.result().await, Ok(json!({})));
    // Its host has not seen that the `Outcome` before it arrived.
    let mut same = Host::join(&hub, "a", "c1").await;
    same.late(&start, &json!({})).await;
    assert!(matches!(same.next().await, Message::LateTaken(it) if it.call_id == start.call_id));
}
