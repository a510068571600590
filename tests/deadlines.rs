//! Deadlines and cancellation on the wire, seen from the server's side: by clients without a timer of their own.
//!
//! A binary of its own: it collects the stop records of the whole process.

#![allow(clippy::print_stdout, reason = "figures to read, which no assertion may depend on")]

mod support;

use std::{fs, sync::LazyLock, time::Duration};

use futures_util::{StreamExt, stream};
use serde_json::json;
use tokio::{runtime::Handle, sync::Mutex, time::timeout};
use toolwire::{
    contract::{
        json::to_struct,
        proto::v1::{
            CallToolRequest, CallToolResponse, InvokeToolRequest, ToolErrorCode, call_tool_request,
            call_tool_response, invoke_tool_request, tool_result::Outcome,
        },
    },
    tool::context::RequestId,
};

use support::{
    arguments,
    raw::Raw,
    server::{Server, config},
    stops::{Stop, Stops},
};

const INVOKE: &str = "/toolwire.v1.ToolService/InvokeTool";
const CALL: &str = "/toolwire.v1.ToolService/CallTool";
const TIMEOUT: &[(&str, &str)] = &[("grpc-timeout", "500m")];
const CALLS: usize = 1_000;
const AT_A_TIME: usize = 100;

static STOPS: LazyLock<Stops> = LazyLock::new(Stops::install);
/// The records are the process's, so the tests take turns.
static TURN: Mutex<()> = Mutex::const_new(());

fn sleep_five_seconds() -> toolwire::contract::arguments::Arguments {
    arguments(json!({"duration": "5s"}))
}

fn invoke() -> InvokeToolRequest {
    InvokeToolRequest {
        target: Some(invoke_tool_request::Target::Tool("debug_sleep".to_owned())),
        input: Some(invoke_tool_request::Input::Arguments(to_struct(&sleep_five_seconds()))),
        ..InvokeToolRequest::default()
    }
}

fn call() -> CallToolRequest {
    CallToolRequest {
        target: Some(call_tool_request::Target::Tool("debug_sleep".to_owned())),
        input: Some(call_tool_request::Input::Arguments(to_struct(&sleep_five_seconds()))),
        ..CallToolRequest::default()
    }
}

#[track_caller]
fn assert_all_stopped_by_the_deadline(what: &str, stops: &[Stop]) {
    // On a busy machine, some calls end before their tools begin.
    assert!(!stops.is_empty(), "{what}: no tool began");
    assert_eq!(Stops::causes(stops), [("deadline", stops.len())].into(), "{what}");
    // The stop precedes the natural end.
    assert!(stops.iter().all(|stop| stop.ran_ms < 5_000.0), "{what}");
    let p99 = Stops::quantile(stops, 0.99, |stop| stop.past_deadline_ms);
    println!("{what}: deadline → stop p99 {p99:.1} ms over {} calls", stops.len());
}

async fn end_by_deadline<M: prost::Message>(what: &str, path: &str, message: M) {
    let _turn = TURN.lock().await;
    let stops = LazyLock::force(&STOPS);
    let server = Server::start();
    let client = Raw::connect(server.address).await;
    let statuses: Vec<_> = stream::iter(0..CALLS)
        .map(|_| async { client.call(path, TIMEOUT, &message).await.status() })
        .buffer_unordered(AT_A_TIME)
        .collect()
        .await;
    assert!(statuses.iter().all(|&status| status == 4), "{what}: {statuses:?}");
    let in_flight = server.app.tools.in_flight();
    while !in_flight.is_empty() {
        tokio::task::yield_now().await;
    }
    assert_all_stopped_by_the_deadline(what, &stops.take(0).await);
}

#[tokio::test]
async fn every_unary_call_ends_by_its_deadline() {
    end_by_deadline("CallTool", CALL, call()).await;
}

#[tokio::test]
async fn every_streaming_call_ends_by_its_deadline() {
    end_by_deadline("InvokeTool", INVOKE, invoke()).await;
}

#[tokio::test]
async fn a_reader_who_never_reads_does_not_keep_the_work_alive() {
    let _turn = TURN.lock().await;
    let stops = LazyLock::force(&STOPS);
    let server = Server::start();
    let (mut held, mut stopped) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        // A connection carries at most a hundred streams, and these never end.
        let client = Raw::with_shut_window(server.address).await;
        for _ in 0..AT_A_TIME {
            held.push(client.start(INVOKE, &[("grpc-timeout", "2S")], &invoke()).await);
        }
        // No answer passes a shut window, so the records must be complete: the deadline leaves time to begin.
        stopped.extend(stops.take(AT_A_TIME).await);
    }
    assert_all_stopped_by_the_deadline("InvokeTool, window shut", &stopped);
    assert_eq!(held.len(), stopped.len());
}

#[tokio::test]
async fn killing_the_client_stops_the_work_and_leaves_nothing_behind() {
    const KILLS: usize = 200;
    let _turn = TURN.lock().await;
    let stops = LazyLock::force(&STOPS);
    let server = Server::start();
    // What a first connection and a first look into the state bring up once is not a leak.
    server.app.state.open().await.expect("opens");
    drop(Raw::connect(server.address).await.start(INVOKE, &[], &invoke()).await.wait_headers().await);
    stops.take(1).await;
    let (tasks, sockets) = settled(usize::MAX, usize::MAX).await;
    for _ in 0..KILLS {
        let client = Raw::connect(server.address).await;
        let stream = client.start(INVOKE, &[], &invoke()).await.wait_headers().await;
        drop((stream, client));
    }
    let stopped = stops.take(KILLS).await;
    assert_eq!(Stops::causes(&stopped), [("caller_gone", KILLS)].into());
    let p99 = Stops::quantile(&stopped, 0.99, |stop| stop.ran_ms);
    println!("kill → stop: p99 {p99:.1} ms after the start, over {KILLS} kills");
    let after = settled(tasks, sockets).await;
    println!("tasks {tasks} → {}, sockets {sockets} → {}", after.0, after.1);
    assert!(server.app.tools.in_flight().is_empty());
}

#[tokio::test]
async fn a_drain_waits_for_the_write_that_outlived_its_caller() {
    let _turn = TURN.lock().await;
    let stops = LazyLock::force(&STOPS);
    let mut config = config();
    config.server.drain.lame_duck = Duration::ZERO;
    let server = Server::with(config);
    let client = Raw::connect(server.address).await;
    assert_eq!(client.call(CALL, TIMEOUT, &write("1s")).await.status(), 4);
    drop(client);

    let in_flight = server.app.tools.in_flight().clone();
    assert_eq!(in_flight.len(), 1);
    server.shut_down().await;
    assert!(in_flight.is_empty());
    assert_eq!(Stops::causes(&stops.take(1).await), [("completed", 1)].into());
}

fn write(duration: &str) -> CallToolRequest {
    let input = arguments(json!({"value": "x", "duration": duration}));
    CallToolRequest {
        target: Some(call_tool_request::Target::Tool("debug_write".to_owned())),
        input: Some(call_tool_request::Input::Arguments(to_struct(&input))),
        request_id: RequestId::generate().to_string(),
        ..CallToolRequest::default()
    }
}

#[tokio::test]
async fn a_forced_end_tells_the_caller_of_a_write_that_its_outcome_is_unknown() {
    let _turn = TURN.lock().await;
    let stops = LazyLock::force(&STOPS);
    let mut config = config();
    config.server.drain.lame_duck = Duration::ZERO;
    config.server.drain.forced_end = Duration::from_millis(200);
    let server = Server::with(config);
    let client = Raw::connect(server.address).await;
    let in_flight = server.app.tools.in_flight().clone();
    let under_way = client.start(CALL, &[], &write("3s")).await;
    while in_flight.is_empty() {
        tokio::task::yield_now().await;
    }
    let (end, _report) = tokio::join!(under_way.end(), server.shut_down());
    assert_eq!(end.status(), 0);
    let [response]: [CallToolResponse; 1] = end.decode().try_into().expect("one message");
    let Some(call_tool_response::Outcome::Result(result)) = response.outcome else { panic!("a result") };
    let Some(Outcome::Error(error)) = result.outcome else { panic!("an error") };
    assert_eq!(error.code(), ToolErrorCode::OutcomeUnknown);
    // The write was only told; the process, which would have ended, is the test's.
    assert_eq!(Stops::causes(&stops.take(1).await), [("completed", 1)].into());
}

#[tokio::test]
async fn a_tool_that_streams_without_a_pause_stops_when_its_reader_is_gone() {
    let _turn = TURN.lock().await;
    let stops = LazyLock::force(&STOPS);
    let server = Server::start();
    let mut flood = invoke();
    flood.target = Some(invoke_tool_request::Target::Tool("debug_stream".to_owned()));
    let input = arguments(json!({"count": 100_000, "bytes": 1_000}));
    flood.input = Some(invoke_tool_request::Input::Arguments(to_struct(&input)));
    let client = Raw::connect(server.address).await;
    drop(client.start(INVOKE, &[], &flood).await.wait_headers().await);
    assert_eq!(Stops::causes(&stops.take(1).await), [("caller_gone", 1)].into());
}

/// Waits until the tasks and the open sockets of the process are at most as many as given, and returns them. The files
/// of its state do not count: its readers open more of them when they are asked at once, and keep them.
async fn settled(tasks: usize, sockets: usize) -> (usize, usize) {
    let open = || {
        let descriptors = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
        let files = descriptors.filter_map(|one| fs::read_link(one.path()).ok());
        files.filter(|file| file.to_string_lossy().starts_with("socket:"))
    };
    let now = || (Handle::current().metrics().num_alive_tasks(), open().count());
    let settles = async {
        loop {
            let seen = now();
            if seen.0 <= tasks && seen.1 <= sockets {
                return seen;
            }
            tokio::task::yield_now().await;
        }
    };
    if let Ok(seen) = timeout(Duration::from_mins(1), settles).await {
        return seen;
    }
    panic!(
        "never settled: {:?}, wanted at most {:?}; open: {:?}",
        now(),
        (tasks, sockets),
        open().collect::<Vec<_>>()
    );
}
