//! What a call says on its way: that it is alive, what it does, and where text from outside begins.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_long_call_shows_that_it_is_alive() {
    let bench = Bench::new();
    let call = Bench::call("debug_sleep", json!({"duration": "70s"}));
    let mut stream = bench.pipeline.start(call).await.expect("accepted");
    let mut alive = 0;
    while let Some(step) = stream.next().await {
        alive += usize::from(matches!(step, Ok(Step::Event(Event::Progress { .. }))));
    }
    assert_eq!(alive, 3);
}

/// What a call says on its way to its end, and how long after its start.
async fn narration(bench: &Bench, call: Call) -> Vec<(u64, String)> {
    let started = clock::now();
    let mut stream = bench.pipeline.start(call).await.expect("accepted");
    let mut said = Vec::new();
    while let Some(step) = stream.next().await {
        if let Step::Event(Event::Progress { message, .. }) = step.expect("no refusal in mid-stream") {
            said.push(((clock::now() - started).as_secs(), message));
        }
    }
    said
}

const WORDS: &[&str] = &["Sleeping for {duration}", "slept {slept}, {{done}}"];

fn with_words() -> Bench {
    Bench::with_manifest("debug_sleep", &json!({"progress": WORDS[0], "summary": WORDS[1]}))
}

#[tokio::test(start_paused = true)]
async fn a_manifests_words_tell_what_is_done_that_it_goes_on_and_what_came_out() {
    let bench = with_words();
    let said = narration(&bench, Bench::call("debug_sleep", json!({"duration": "50s"}))).await;
    let doing = || "Sleeping for 50s".to_owned();
    let done = "debug_sleep(\"50s\") → slept 50s, {done}".to_owned();
    assert_eq!(said, [(0, doing()), (20, doing()), (40, doing()), (50, done)]);
    // What is ready at once is not narrated, only summed up.
    let said = narration(&bench, Bench::call("debug_sleep", json!({"duration": "0s"}))).await;
    assert_eq!(said, [(0, "debug_sleep(\"0s\") → slept 0s, {done}".to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_not_summed_up_and_a_nested_call_says_nothing() {
    let words = json!({"progress": "Nesting", "summary": "{levels} levels", "timeout_ms": 1_000});
    let bench = Bench::with_manifest("debug_nested", &words);
    let call = |duration| Bench::call("debug_nested", json!({"depth": 3, "duration": duration}));
    assert_eq!(narration(&bench, call("0s")).await, [(0, "debug_nested(3, \"0s\") → 3 levels".to_owned())]);
    assert_eq!(narration(&bench, call("5s")).await, [(0, "Nesting".to_owned())]);
    // What has no words for the way is not summed up either.
    let bench = Bench::with_manifest("debug_nested", &json!({"summary": "{levels} levels"}));
    assert_eq!(narration(&bench, call("0s")).await, []);
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_only_waits_for_the_end_gets_it_and_is_missed_when_gone() {
    let bench = with_words();
    let call = || Bench::call("debug_sleep", json!({"duration": "50s"}));
    assert!(result(bench.pipeline.finish(Box::new(call())).await).outcome.is_ok());
    let left = call();
    let cancellation = left.context.cancellation.clone();
    assert!(timeout(Duration::from_secs(1), bench.pipeline.finish(Box::new(left))).await.is_err());
    bench.pipeline.in_flight().wait_until_empty().await;
    assert_eq!(cancellation.cause(), Some(StopCause::CallerGone));
}

/// The nonce of a result, if it is framed.
fn nonce(end: Result<Terminal, Refusal>) -> Option<String> {
    result(end).provenance.untrusted_nonce
}

#[tokio::test(start_paused = true)]
async fn text_from_outside_has_a_fresh_nonce_in_each_response_from_a_cache_too() {
    let policy = json!({"ttl_s": 600, "tier": "request"});
    let bench = Bench::with_manifest("debug_sleep", &json!({"untrusted": true, "cache": policy}));
    let call = || Bench::call("debug_sleep", json!({"duration": "0s"}));
    let repeated = call();
    let facts = Arc::clone(&repeated.facts);
    let nonces = [bench.run(call()).await, bench.run(repeated).await].map(nonce).map(Option::unwrap);
    assert!(facts.is_cache_hit());
    assert_ne!(nonces[0], nonces[1]);
    assert!(nonces.iter().all(|it| it.len() == 32 && it.bytes().all(|b| b.is_ascii_hexdigit())));
    // A repeat by request_id is another response too.
    let id = RequestId::generate();
    let once = || Call { request_id: Some(id), ..call() };
    let (first, repeat) = (nonce(bench.run(once()).await), nonce(bench.run(once()).await));
    assert!(first.is_some() && repeat.is_some() && first != repeat);

    let trusted = Bench::new();
    assert_eq!(nonce(trusted.run(call()).await), None);
    let failed = Bench::with_manifest("debug_fail", &json!({"untrusted": true}));
    assert_eq!(nonce(failed.run(Bench::call("debug_fail", json!({"code": "BLOCKED"}))).await), None);
}

#[tokio::test]
async fn a_composite_that_takes_in_text_from_outside_is_framed_once() {
    let call = || Bench::call("get_symbol_performance", json!({"symbol": "AAPL"}));
    assert_eq!(nonce(Bench::new().run(call()).await), None);
    let bench = Bench::with_manifest("get_quotes", &json!({"untrusted": true}));
    assert_eq!(nonce(bench.run(call()).await).expect("framed").len(), 32);
    // The part has none: only a response does.
    let bench = Bench::with_manifest("debug_sleep", &json!({"untrusted": true}));
    let input = arguments(json!({"duration": "0s"}));
    let part = bench.pipeline.call_tool(&call().context, "debug_sleep", input).await;
    let (_, provenance) = part.expect("data");
    assert_eq!(provenance.untrusted_nonce.as_deref(), Some(""));
}
