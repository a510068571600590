//! Deadlines and cancellation on the wire, seen from the server's side: by clients without a timer of their own.

#![allow(clippy::print_stdout, reason = "figures to read, which no assertion may depend on")]

mod support;

use std::{fs, sync::LazyLock, time::Duration};

use futures_util::{StreamExt, stream};
use serde_json::json;
use tokio::{runtime::Handle, sync::Mutex};
use toolwire::{
    context::RequestId,
    contract::{
        json::to_struct,
        proto::v1::{CallToolRequest, InvokeToolRequest, call_tool_request, invoke_tool_request},
    },
};

use support::{
    arguments,
    raw::Raw,
    server::{Server, config},
    stops::{Stop, Stops},
};

const INVOKE: &str = "/toolwire.v1.ToolService/InvokeTool";
const CALL: &str = "/toolwire.v1.ToolService/CallTool";
const TIMEOUT: &[(&str, &str)] = &[("grpc-timeout", "200m")];
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
    assert_eq!(Stops::causes(stops), [("deadline", CALLS)].into(), "{what}");
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
    assert_all_stopped_by_the_deadline(what, &stops.take(CALLS).await);
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
    for _ in 0..CALLS / AT_A_TIME {
        // A connection carries at most a hundred streams, and these never end.
        let client = Raw::with_shut_window(server.address).await;
        for _ in 0..AT_A_TIME {
            held.push(client.start(INVOKE, TIMEOUT, &invoke()).await);
        }
        stopped.extend(stops.take(AT_A_TIME).await);
    }
    assert_all_stopped_by_the_deadline("InvokeTool, window shut", &stopped);
    assert_eq!(held.len(), CALLS);
}

#[tokio::test]
async fn killing_the_client_stops_the_work_and_leaves_nothing_behind() {
    const KILLS: usize = 200;
    let _turn = TURN.lock().await;
    let stops = LazyLock::force(&STOPS);
    let server = Server::start();
    // What a first connection brings up once is not a leak.
    drop(Raw::connect(server.address).await.start(INVOKE, &[], &invoke()).await.begun().await);
    stops.take(1).await;
    let (tasks, descriptors) = settled(usize::MAX, usize::MAX).await;
    for _ in 0..KILLS {
        let client = Raw::connect(server.address).await;
        let stream = client.start(INVOKE, &[], &invoke()).await.begun().await;
        drop((stream, client));
    }
    let stopped = stops.take(KILLS).await;
    assert_eq!(Stops::causes(&stopped), [("caller_gone", KILLS)].into());
    let p99 = Stops::quantile(&stopped, 0.99, |stop| stop.ran_ms);
    println!("kill → stop: p99 {p99:.1} ms after the start, over {KILLS} kills");
    let after = settled(tasks, descriptors).await;
    println!("tasks {tasks} → {}, descriptors {descriptors} → {}", after.0, after.1);
    assert!(server.app.pipeline.in_flight().is_empty());
}

#[tokio::test]
async fn a_drain_waits_for_the_write_that_outlived_its_caller() {
    let _turn = TURN.lock().await;
    let stops = LazyLock::force(&STOPS);
    let mut config = config();
    config.server.drain.lame_duck = Duration::ZERO;
    let server = Server::with(config);
    let client = Raw::connect(server.address).await;
    let mut write = call();
    write.target = Some(call_tool_request::Target::Tool("debug_write".to_owned()));
    let input = arguments(json!({"value": "x", "duration": "1s"}));
    write.input = Some(call_tool_request::Input::Arguments(to_struct(&input)));
    write.request_id = RequestId::generate().to_string();
    assert_eq!(client.call(CALL, TIMEOUT, &write).await.status(), 4);
    drop(client);

    let in_flight = server.app.pipeline.in_flight().clone();
    assert_eq!(in_flight.len(), 1);
    server.shut_down().await;
    assert!(in_flight.is_empty());
    assert_eq!(Stops::causes(&stops.take(1).await), [("completed", 1)].into());
}

/// Waits until the tasks and the open descriptors of the process are at most as many as given, and returns them.
async fn settled(tasks: usize, descriptors: usize) -> (usize, usize) {
    let now = || {
        let open = fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        (Handle::current().metrics().num_alive_tasks(), open)
    };
    for _ in 0..1_000_000 {
        let seen = now();
        if seen.0 <= tasks && seen.1 <= descriptors {
            return seen;
        }
        tokio::task::yield_now().await;
    }
    panic!("never settled: {:?}, wanted at most {:?}", now(), (tasks, descriptors));
}
