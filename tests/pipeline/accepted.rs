//! `accepted` comes first, whatever order tasks run in.

use toolwire::{
    contract::{
        convert::ResultFormat,
        proto::v1::{CallEvent, call_event},
        sequence::Sequence,
    },
    tool::context::{User, UserId},
};

use super::*;

/// The events of a stream as the wire numbers them. A refusal in mid-stream fails the test.
async fn on_the_wire(bench: Arc<Bench>, call: Call) -> Vec<CallEvent> {
    let mut stream = bench.pipeline.start(call).await.expect("not refused");
    let mut sequence = Sequence::new(stream.call_id().to_string(), ResultFormat::Json);
    let mut events = Vec::new();
    while let Some(step) = stream.next().await {
        events.push(match step.expect("no refusal in mid-stream") {
            Step::Event(event) => sequence.event(event),
            Step::Terminal(terminal) => sequence.terminal(terminal),
        });
    }
    events
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn ten_thousand_calls_with_a_request_id_are_accepted_before_anything_else_is_said() {
    let bench = Arc::new(Bench::new());
    let calls = (0..5_000).flat_map(|number| {
        let user: UserId = format!("user-{}", number % 10).parse().expect("valid");
        // Two callers of one request: one begins the work, the other waits for it or meets its end.
        std::iter::repeat_n((User::new(user), RequestId::generate()), 2)
    });
    let streams: Vec<_> = calls
        .map(|(user, request_id)| {
            let mut call = Bench::call("debug_stream", json!({"count": 3, "bytes": 1}));
            call.context.user = user;
            call.request_id = Some(request_id);
            tokio::spawn(on_the_wire(Arc::clone(&bench), call))
        })
        .collect();
    let mut begun = 0;
    for stream in streams {
        let events = stream.await.expect("no panic");
        let numbers: Vec<_> = events.iter().map(|event| event.sequence).collect();
        let gapless: Vec<_> = (0..events.len() as u64).collect();
        assert_eq!(numbers, gapless);
        match events.first().and_then(|it| it.event.as_ref()).expect("an event") {
            // What ended before is told again and is no stream.
            call_event::Event::Result(_) => assert_eq!(events.len(), 1),
            call_event::Event::Accepted(_) => begun += 1,
            other => panic!("{other:?} came before the call was accepted"),
        }
    }
    assert!(begun >= 5_000, "{begun}");
}
