//! The commands that are about a server: which one is meant, what answers there, watching, cancelling, health.

use std::{convert::Infallible, path::Path};

use hyper::{server::conn::http2, service::service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::{io::Lines, process::ChildStderr};

use super::*;
use crate::support::program::Program;

/// A server with the diagnostics tools, over a copy of nothing but what is built in.
async fn diagnostics(directory: &TempDir) -> (Child, String) {
    let mut command = toolwire(directory);
    command.args(["serve", "--diagnostics", "--listen", "127.0.0.1:0"]).env("TOOLWIRE_DRAIN_LAME_DUCK", "0s");
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let ready = lines.next_line().await.unwrap().unwrap();
    let address = ready.strip_prefix("toolwire listening on ").unwrap().to_owned();
    (child, address)
}

/// An address at which every connection is told this once something was said to it.
async fn says(words: &'static [u8]) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.read(&mut [0; 24]).await;
            let _ = stream.write_all(words).await;
        }
    });
    address
}

#[tokio::test]
async fn the_server_may_stand_in_the_environment() {
    let (address, seen, _) = fake_server::start().await;
    let directory = tempfile::tempdir().unwrap();
    let run = async |arguments: &[&str]| {
        let mut command = toolwire(&directory);
        command.env("TOOLWIRE_SERVER", address.to_string()).args(arguments).output().await.unwrap()
    };
    assert!(stdout(&run(&["list"]).await).starts_with("fail   read   Title of fail"));
    assert_eq!(run(&["call", "read", "--token", "t0ken"]).await.status.code(), Some(0));
    let metadata = seen.invocations.lock().unwrap()[0].0.clone();
    assert_eq!(metadata.get("authorization").unwrap(), "Bearer t0ken");
    // Whoever says where this program finds its own tools means those.
    let own = run(&["list", "--diagnostics"]).await;
    assert!(stdout(&own).contains("debug_sleep"), "{own:?}");
    let broken = toolwire(&directory).env("TOOLWIRE_SERVER", "ftp://x").arg("list").output().await.unwrap();
    assert_fails(&broken, 2, &["TOOLWIRE_SERVER: expected http"]);
    assert_fails(&super::run(&["list", "--token", "x"]).await, 2, &["--server", "TOOLWIRE_SERVER"]);
    for line in [&["health"][..], &["watch"], &["cancel", "0196f1c2-7a4b-7c3d-8e5f-0123456789ab"]] {
        assert_fails(&super::run(line).await, 2, &["name the server", "--server", "TOOLWIRE_SERVER"]);
    }
}

#[tokio::test]
async fn a_wrong_port_says_what_answered() {
    let http1 = says(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
    assert_fails(&run(&["list", "--server", &http1]).await, 1, &["no toolwire server", "HTTP/1.1"]);
    let tls = says(&[0x15, 0x03, 0x03, 0, 2, 2, 40]).await;
    assert_fails(&run(&["list", "--server", &tls]).await, 1, &["the server speaks TLS: use https://"]);
    let other = says(b"SSH-2.0-x\r\n").await;
    assert_fails(&run(&["list", "--server", &other]).await, 1, &["no HTTP server", "SSH-2.0-x"]);
}

#[tokio::test]
async fn a_port_of_the_server_that_is_not_for_grpc_says_which_one_is() {
    let program =
        Program::start(Path::new("."), &["--http=127.0.0.1:0", "--admin", "127.0.0.1:0"], &[]).await;
    let grpc = program.address.port();
    let (http, admin) = (program.http.unwrap(), program.admin.unwrap());
    for line in [&["list"][..], &["health"], &["call", "get_quotes", "symbol=AAPL"], &["watch"]] {
        let at_http = run(&[line, &["--server", &format!("http://{http}")]].concat()).await;
        assert_fails(
            &at_http,
            1,
            &["is the server's HTTP port", &format!("--server http://127.0.0.1:{grpc}")],
        );
        let at_admin = run(&[line, &["--server", &format!("http://{admin}")]].concat()).await;
        assert_fails(&at_admin, 1, &["This is the admin port", &format!("gRPC is spoken on port {grpc}.")]);
    }
    let encrypted = run(&["list", "--server", &format!("https://{http}")]).await;
    assert_fails(&encrypted, 1, &["does not speak TLS", &format!("http://{http}")]);
}

#[tokio::test]
async fn a_server_of_http_2_that_is_not_ours_is_told_from_one_of_grpc() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let answer =
                service_fn(async |_| Ok::<_, Infallible>(http::Response::new("{\"hello\": 1}".to_owned())));
            tokio::spawn(
                http2::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), answer),
            );
        }
    });
    let output = run(&["list", "--server", &address]).await;
    assert_fails(
        &output,
        1,
        &["no toolwire server", "an HTTP/2 server answers there, but it does not speak gRPC"],
    );
}

#[tokio::test]
async fn a_server_that_does_not_answer_in_time_is_not_taken_for_one_of_another_protocol() {
    let listen = async || tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    // The system accepts its connections, as those of a process that is stopped.
    let frozen = listen().await;
    let (at_frozen, starved) = (frozen.local_addr().unwrap(), listen().await);
    let at_starved = starved.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = starved.accept().await {
            let never = service_fn(async |_| {
                std::future::pending::<Result<http::Response<String>, Infallible>>().await
            });
            tokio::spawn(
                http2::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), never),
            );
        }
    });
    let says = async |url: String| {
        let output = run(&["list", "--server", &url]).await;
        let expected = format!("{url} accepted the connection and did not answer within 5 s");
        assert_fails(&output, 1, &[&expected]);
        assert!(!stderr(&output).contains("gRPC"), "{output:?}");
    };
    tokio::join!(
        says(format!("http://{at_frozen}")),
        says(format!("https://{at_frozen}")),
        says(format!("http://{at_starved}")),
    );
}

#[tokio::test]
async fn task_and_session_go_with_a_call() {
    let (address, seen, _) = fake_server::start().await;
    let call = ["call", "read", "--task", "t-1", "--session", "s-1", "--server", &address.to_string()];
    assert_eq!(run(&call).await.status.code(), Some(0));
    let context = seen.invocations.lock().unwrap()[0].1.context.clone().unwrap();
    assert_eq!((context.task_id.as_str(), context.session_id.as_str()), ("t-1", "s-1"));
}

#[tokio::test]
async fn a_value_alone_is_meant_for_the_one_required_parameter() {
    let output = run(&["call", "debug_write", "x", "--diagnostics"]).await;
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let output = run(&["call", "rank_portfolio", "worst"]).await;
    assert_fails(&output, 2, &["expected key=value, but found \"worst\""]);
}

#[tokio::test]
async fn a_tool_of_a_domain_that_is_offered_only_when_asked_for_names_the_flag() {
    for line in [&["describe", "debug_sleep"][..], &["call", "debug_sleep", "duration=1s"]] {
        assert_fails(&run(line).await, 1, &["Unknown tool: debug_sleep", "diagnostics", "--diagnostics"]);
    }
    let unknown = run(&["describe", "debug_nothing"]).await;
    assert!(!stderr(&unknown).contains("--diagnostics"), "{unknown:?}");
}

#[tokio::test]
async fn a_watch_tells_what_there_is_until_its_reader_has_seen_enough() {
    let directory = tempfile::tempdir().unwrap();
    let (mut child, address) = diagnostics(&directory).await;
    for (more, first, last) in [
        (&[][..], "added     add_to_watchlist", "synced"),
        (&["--json"], r#"{"type":"WATCH_EVENT_TYPE_ADDED","#, r#"{"type":"WATCH_EVENT_TYPE_SYNCED","#),
    ] {
        let mut command = toolwire(&directory);
        command.args([&["watch", "--server", &address], more].concat()).stdout(Stdio::piped());
        let mut watch = command.spawn().unwrap();
        let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
        let read = async {
            let mut all = Vec::new();
            while !all.last().is_some_and(|line: &String| line.starts_with(last)) {
                all.push(lines.next_line().await.unwrap().unwrap());
            }
            all
        };
        let all = timeout(TIMEOUT, read).await.expect("it is synced");
        assert!(all[0].starts_with(first), "{}", all[0]);
        send(&watch, Signal::INT);
        assert_eq!(exit_code(watch).await, Some(130));
    }
    child.kill().await.unwrap();
}

#[tokio::test]
async fn a_running_call_is_cancelled_by_either_of_its_ids() {
    let directory = tempfile::tempdir().unwrap();
    let (mut child, address) = diagnostics(&directory).await;
    let given = "0196f1c2-7a4b-7c3d-8e5f-0123456789ab";
    let unknown = run(&["cancel", given, "--server", &address]).await;
    assert_fails(&unknown, 1, &["no call of yours", given, "is running"]);
    // A request_id of its own for each, so that neither call is a repeat of the other.
    for (by_request_id, given) in [(false, given), (true, "0196f1c2-7a4b-7c3d-8e5f-0123456789ac")] {
        let mut command = toolwire(&directory);
        command.args(["call", "debug_sleep", "duration=60s", "--request-id", given, "--server", &address]);
        let mut call = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(call.stderr.take().unwrap()).lines();
        let accepted = timeout(TIMEOUT, lines.next_line()).await.unwrap().unwrap().unwrap();
        let call_id = accepted.split(", call ").nth(1).unwrap().split(',').next().unwrap();
        let id = if by_request_id { given } else { call_id };
        let cancelled = run(&["cancel", id, "--server", &address]).await;
        assert_eq!(stderr(&cancelled), format!("cancelled {id}\n"), "{cancelled:?}");
        assert_eq!(exit_code(call).await, Some(1));
    }
    child.kill().await.unwrap();
}

/// A call, once it was accepted: its process, the rest of what it says, and its `call_id`.
async fn accepted(directory: &TempDir, arguments: &[&str]) -> (Child, Lines<BufReader<ChildStderr>>, String) {
    let mut call = toolwire(directory);
    call.arg("call").args(arguments).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut call = call.spawn().unwrap();
    let mut lines = BufReader::new(call.stderr.take().unwrap()).lines();
    let accepted = timeout(TIMEOUT, lines.next_line()).await.unwrap().unwrap().unwrap();
    let call_id = accepted.split(", call ").nth(1).unwrap().split(',').next().unwrap().to_owned();
    (call, lines, call_id)
}

#[tokio::test]
async fn an_interrupted_call_says_how_it_ended() {
    let directory = tempfile::tempdir().unwrap();
    let (mut child, address) = diagnostics(&directory).await;
    // Both places have one state: a request_id for each.
    for (place, given) in [
        (&["--server", &address][..], "0196f1c2-7a4b-7c3d-8e5f-0123456789ab"),
        (&["--diagnostics"], "0196f1c2-7a4b-7c3d-8e5f-0123456789ad"),
    ] {
        let read = [&["debug_sleep", "duration=60s"], place].concat();
        let (call, mut lines, call_id) = accepted(&directory, &read).await;
        send(&call, Signal::INT);
        assert_eq!(lines.next_line().await.unwrap().unwrap(), "cancelling; Ctrl-C again leaves the call");
        let cancelled = format!("cancelled debug_sleep, call {call_id}");
        assert_eq!(lines.next_line().await.unwrap().unwrap(), cancelled);
        assert_eq!(exit_code(call).await, Some(130));

        // A write that has begun is carried out to its end.
        let write = [&["debug_write", "value=x", "duration=2s", "--request-id", given], place].concat();
        let (call, mut lines, _) = accepted(&directory, &write).await;
        send(&call, Signal::INT);
        assert_eq!(lines.next_line().await.unwrap().unwrap(), "cancelling; Ctrl-C again leaves the call");
        assert!(lines.next_line().await.unwrap().unwrap().starts_with("not cancelled: it had begun"));
        assert_eq!(exit_code(call).await, Some(130));
    }
    let given = "0196f1c2-7a4b-7c3d-8e5f-0123456789ac";
    let write = ["debug_write", "value=y", "duration=60s", "--request-id", given, "--server", &address];
    let (call, mut lines, call_id) = accepted(&directory, &write).await;
    send(&call, Signal::INT);
    assert_eq!(lines.next_line().await.unwrap().unwrap(), "cancelling; Ctrl-C again leaves the call");
    send(&call, Signal::INT);
    let mut rest = Vec::new();
    while let Some(line) = lines.next_line().await.unwrap() {
        rest.push(line);
    }
    let expected = [
        "error: interrupted before debug_write ended".to_owned(),
        "  A write that had begun goes on, and its outcome is not known.".to_owned(),
        format!("  Ask for its outcome with --request-id {given}: nothing is done twice."),
        format!("  `toolwire calls {call_id}` shows what becomes of it."),
    ];
    assert_eq!(rest, expected);
    assert_eq!(exit_code(call).await, Some(130));
    child.kill().await.unwrap();
}

#[tokio::test]
async fn health_is_an_exit_code_too() {
    let directory = tempfile::tempdir().unwrap();
    let (mut child, address) = diagnostics(&directory).await;
    for service in [&[][..], &["toolwire.v1.ToolService"]] {
        let health = run(&[&["health", "--server", &address], service].concat()).await;
        assert_eq!((health.status.code(), stdout(&health)), (Some(0), "SERVING\n"), "{health:?}");
    }
    let unknown = run(&["health", "toys.v1.ToyService", "--server", &address]).await;
    assert_fails(&unknown, 1, &["the server has no service toys.v1.ToyService"]);
    child.kill().await.unwrap();
    assert_fails(&run(&["health", "--server", &address]).await, 1, &["cannot reach"]);
}

#[tokio::test]
async fn a_program_reads_on_the_last_line_that_the_deadline_passed() {
    let call = ["call", "debug_sleep", "duration=30s", "--diagnostics", "--deadline", "300ms"];
    let output = run(&[&call[..], &["--format", "json"]].concat()).await;
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let last: Value = serde_json::from_str(stdout(&output).lines().last().expect("a line")).expect("JSON");
    assert_eq!(last["error"]["code"], "DEADLINE_EXCEEDED", "{last}");
    assert!(last["call_id"].as_str().is_some_and(|id| !id.is_empty()), "{last}");
}
