//! Calls at one time: what they share, and what is each one's own.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_thousand_equal_calls_at_one_time_are_one_execution() {
    let turn = Turn::take().await;
    let bench = bench("request", "user");
    let ends = join_all((0..1_000).map(|_| bench.run(nap("1s")))).await;
    assert!(ends.into_iter().all(|end| result(end).outcome.is_ok()));
    turn.assert_executions(1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_thousand_equal_calls_on_several_threads_are_one_execution_however_short_it_is() {
    let turn = Turn::take().await;
    let bench = Arc::new(bench("request", "user"));
    let calls = (0..1_000).map(|_| {
        let bench = Arc::clone(&bench);
        tokio::spawn(async move { bench.run(nap("0s")).await })
    });
    let ends = join_all(calls.collect::<Vec<_>>()).await;
    assert!(ends.into_iter().all(|end| result(end.expect("no panic")).outcome.is_ok()));
    turn.assert_executions(1).await;
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_leaves_does_not_take_the_answer_from_another() {
    let turn = Turn::take().await;
    let bench = bench("request", "user");
    let (first, second) = (nap("4s"), nap("4s"));
    let (user, call_id) = (first.context.user.id.clone(), first.context.call_id);
    let (first, second) = (start(&bench, first).await, start(&bench, second).await);
    sleep(Duration::from_secs(1)).await;
    assert!(bench.pipeline.in_flight().cancel(&user, CallSelector::Call(call_id)).is_some());
    assert_eq!(code(first.terminal().await), ErrorCode::Cancelled);
    let started = clock::now();
    assert!(result(second.terminal().await).outcome.is_ok());
    assert_eq!(clock::now() - started, Duration::from_secs(3));
    assert_eq!(turn.executions().await, ["completed"]);
}

#[tokio::test(start_paused = true)]
async fn the_last_caller_to_leave_takes_the_work_along_and_nothing_is_kept() {
    let turn = Turn::take().await;
    let bench = bench("request", "user");
    let (first, second) = (start(&bench, nap("4s")).await, start(&bench, nap("4s")).await);
    sleep(Duration::from_secs(1)).await;
    drop(first);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(turn.executions().await, [""; 0]);
    let started = clock::now();
    drop(second);
    let stopped = STOPS.take(1).await;
    assert_eq!(stopped[0].cause, "caller_gone");
    assert_eq!(clock::now(), started, "it stopped at once");
    assert!(!is_hit(&bench, nap("4s")).await);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_comes_after_everybody_left_is_executed_anew() {
    let turn = Turn::take().await;
    let bench = bench("request", "user");
    let first = start(&bench, nap("4s")).await;
    sleep(Duration::from_secs(1)).await;
    drop(first);
    bench.pipeline.in_flight().wait_until_empty().await;
    assert!(result(bench.run(nap("4s")).await).outcome.is_ok());
    assert_eq!(turn.executions().await, ["caller_gone", "completed"]);
}

#[tokio::test(start_paused = true)]
async fn a_joiner_with_time_left_does_not_share_the_deadline_of_the_first_caller() {
    let turn = Turn::take().await;
    let bench = bench("request", "user");
    let first = start(&bench, having(Duration::from_secs(1), nap("4s"))).await;
    let second = start(&bench, nap("4s")).await;
    let started = clock::now();
    assert_eq!(first.terminal().await.unwrap_err(), Refusal::DeadlineExceeded);
    assert!(result(second.terminal().await).outcome.is_ok());
    assert_eq!(clock::now() - started, Duration::from_secs(5));
    assert_eq!(turn.executions().await, ["deadline", "completed"]);
}

#[tokio::test(start_paused = true)]
async fn a_joiner_without_time_for_another_execution_ends_by_its_own_deadline() {
    let turn = Turn::take().await;
    let bench = bench("request", "user");
    let first = start(&bench, having(Duration::from_secs(1), nap("4s"))).await;
    let second = start(&bench, having(Duration::from_millis(1_050), nap("4s"))).await;
    let started = clock::now();
    assert_eq!(first.terminal().await.unwrap_err(), Refusal::DeadlineExceeded);
    assert_eq!(second.terminal().await.unwrap_err(), Refusal::DeadlineExceeded);
    assert_eq!(clock::now() - started, Duration::from_millis(1_050));
    assert_eq!(turn.executions().await, ["deadline"]);
}

#[tokio::test(start_paused = true)]
async fn a_joiner_keeps_its_own_shorter_deadline() {
    let turn = Turn::take().await;
    let bench = bench("request", "user");
    let first = start(&bench, nap("4s")).await;
    let second = bench.run(having(Duration::from_secs(1), nap("4s"))).await;
    assert_eq!(second.unwrap_err(), Refusal::DeadlineExceeded);
    assert!(result(first.terminal().await).outcome.is_ok());
    assert_eq!(turn.executions().await, ["completed"]);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_only_the_first_caller_could_not_wait_for_is_asked_for_again() {
    let turn = Turn::take().await;
    let bench = Bench::with_manifest("debug_fail", &policy("request", "user"));
    let limited = |time| {
        let input = json!({"code": "RATE_LIMITED", "retry_after": "2s"});
        having(Duration::from_secs(time), Bench::call("debug_fail", input))
    };
    for (first, second, executions) in [(1, 3, 2), (3, 4, 1), (1, 1, 1)] {
        let first = start(&bench, limited(first)).await;
        let second = start(&bench, limited(second)).await;
        assert_eq!(code(first.terminal().await), ErrorCode::RateLimited);
        assert_eq!(code(second.terminal().await), ErrorCode::RateLimited);
        turn.assert_executions(executions).await;
    }
}

#[tokio::test(start_paused = true)]
async fn everybody_who_waits_learns_of_a_panic_and_the_next_call_tries_again() {
    let turn = Turn::take().await;
    let bench = Bench::with_manifest("debug_panic", &policy("request", "user"));
    let panic = || Bench::call("debug_panic", json!({"when": "start"}));
    let (first, second) = (start(&bench, panic()).await, start(&bench, panic()).await);
    assert_eq!(code(first.terminal().await), ErrorCode::Unknown);
    assert_eq!(code(second.terminal().await), ErrorCode::Unknown);
    turn.assert_executions(1).await;
    assert_eq!(code(bench.run(panic()).await), ErrorCode::Unknown);
    turn.assert_executions(1).await;
}

#[tokio::test(start_paused = true)]
async fn progress_reaches_everybody_who_waits_from_when_they_came() {
    let _turn = Turn::take().await;
    let bench = bench("request", "user");
    let call = || Bench::call("debug_sleep", json!({"duration": "4s", "progress_interval": "1s"}));
    let first = start(&bench, call()).await;
    sleep(Duration::from_millis(1_500)).await;
    let second = start(&bench, call()).await;
    let (first, second) = tokio::join!(progress_events(first), progress_events(second));
    assert_eq!(first, ["Slept for 1.0 s", "Slept for 2.0 s", "Slept for 3.0 s", "Slept for 4.0 s"]);
    assert_eq!(second, first[1..]);
}

/// Every progress event of a call.
async fn progress_events(mut stream: CallStream) -> Vec<String> {
    let mut said = Vec::new();
    while let Some(step) = stream.next().await {
        if let Step::Event(Event::Progress { message, .. }) = step.expect("not refused") {
            said.push(message);
        }
    }
    said
}
