//! Data that are more than the caller takes: kept whole under the call, where the caller can read on.

use serde_json::Value;
use toolwire::{
    contract::Kept,
    engine::{model::READ_RESULT, pipeline::CallOptions},
};

use super::*;

fn keeping(tool: &str, input: Value, keep_over_tokens: u64) -> Call {
    let options = CallOptions { keep_over_tokens: Some(keep_over_tokens), ..CallOptions::default() };
    Call { options: options.if_any(), ..Bench::call(tool, input) }
}

async fn kept(bench: &Bench, call: Call) -> Option<Kept> {
    result(bench.run(call).await).kept.map(|kept| *kept)
}

#[tokio::test]
async fn data_over_the_bound_are_kept_under_their_call_and_read_to_their_end() {
    let bench = Bench::new();
    let call = keeping("get_activity", json!({}), 256);
    let call_id = call.context.call_id.to_string();
    let whole = result(bench.run(call).await);
    let kept = whole.kept.expect("kept");
    assert_eq!((&kept.call_id, kept.max_tokens), (&call_id, 256));
    let text = whole.outcome.expect("data").json_text().to_owned();
    let (mut read, mut offset) = (String::new(), 0);
    loop {
        let input = json!({"call_id": call_id, "offset": offset, "max_tokens": 300});
        // What reads on is never kept itself.
        let part = result(bench.run(keeping(READ_RESULT, input, 256)).await);
        assert_eq!((part.kept, &part.provenance.source_ids), (None, &whole.provenance.source_ids));
        let part = part.outcome.expect("data").json().clone();
        assert_eq!((&part["tool"], &part["tokens"]), (&json!("get_activity"), &json!(kept.tokens)));
        read += part["content"].as_str().expect("a text");
        offset = part["next_offset"].as_u64().expect("a number");
        if offset == 0 {
            break;
        }
    }
    assert_eq!(read, text);
}

#[tokio::test]
async fn what_fits_what_failed_and_what_is_not_asked_to_be_kept_is_not() {
    let bench = Bench::new();
    assert_eq!(kept(&bench, keeping("get_activity", json!({}), 100_000)).await, None);
    assert_eq!(kept(&bench, Bench::call("get_activity", json!({}))).await, None);
    let failing = json!({"code": "NOT_FOUND"});
    assert_eq!(kept(&bench, keeping("debug_fail", failing, 1)).await, None);
    let tokens = kept(&bench, keeping("get_activity", json!({}), 256)).await.expect("kept").tokens;
    assert_eq!(kept(&bench, keeping("get_activity", json!({}), tokens)).await, None);
    assert!(kept(&bench, keeping("get_activity", json!({}), tokens - 1)).await.is_some());
}

#[tokio::test]
async fn nothing_is_kept_for_those_who_may_not_read_on() {
    let bench = Bench::allowing(&["get_activity"]);
    assert_eq!(kept(&bench, keeping("get_activity", json!({}), 256)).await, None);
    let bench = Bench::new();
    let offered = Some(Arc::new(["get_activity".parse().expect("a name")].into()));
    let call = Call { offered, ..keeping("get_activity", json!({}), 256) };
    assert_eq!(kept(&bench, call).await, None);
}

#[tokio::test]
async fn each_repeat_is_kept_for_its_own_call() {
    let bench = Bench::new();
    let request_id = Some(RequestId::generate());
    let write = |at: usize| {
        let input = json!({"value": "word ".repeat(180)});
        let call = Call { request_id, ..keeping("debug_write", input, 100) };
        (at, call.context.call_id.to_string(), call)
    };
    for (at, call_id, call) in [write(0), write(1)] {
        assert_eq!(kept(&bench, call).await.expect("kept").call_id, call_id, "{at}");
    }
}
