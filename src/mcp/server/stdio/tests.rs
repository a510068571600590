//! Bad lines, and clients that do not read.

use std::time::Duration;

use rmcp::{
    ErrorData,
    model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage},
    transport::Transport,
};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use super::{lines::Lines, open::MAX_IN_FLIGHT};

/// Nothing more comes: what is expected to has had its time.
const QUIET: Duration = Duration::from_millis(20);
const MIB: usize = 1024 * 1024;

/// The ends of a connection: the client writes to the first and reads the second, which holds `output` bytes.
fn connect(output: usize) -> (DuplexStream, DuplexStream, Lines<DuplexStream>, CancellationToken) {
    let ((requests, input), (output, answers)) = (duplex(4 * MIB), duplex(output));
    let ended = CancellationToken::new();
    let lines = Lines::new(input, output, ended.clone());
    (requests, answers, lines, ended)
}

fn ping(id: usize) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n")
}

fn cancel(id: usize) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id}}}}}\n"
    )
}

fn answer(id: i64) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(ErrorData::internal_error("none", None), Some(RequestId::Number(id)))
}

/// The identifiers of the requests that come until nothing does.
async fn receive_all(lines: &mut Lines<DuplexStream>) -> Vec<i64> {
    let mut ids = Vec::new();
    while let Ok(Some(message)) = timeout(QUIET, lines.receive()).await {
        if let ClientJsonRpcMessage::Request(request) = message
            && let RequestId::Number(id) = request.id
        {
            ids.push(id);
        }
    }
    ids
}

#[tokio::test]
async fn bad_lines_are_answered_and_the_next_message_is_read() {
    let (mut requests, mut answers, mut lines, ended) = connect(MIB);
    let text = format!("nonsense\r\n\n[]\n{}\n{}", "x".repeat(MIB + 1), ping(1));
    requests.write_all(text.as_bytes()).await.unwrap();
    assert!(matches!(lines.receive().await, Some(ClientJsonRpcMessage::Request(_))));
    drop(requests);
    // Not before the request has its answer.
    assert!(timeout(QUIET, lines.receive()).await.is_err() && ended.is_cancelled());
    lines.send(answer(1)).await.unwrap();
    assert!(lines.receive().await.is_none());
    drop(lines);
    let mut text = String::new();
    answers.read_to_string(&mut text).await.unwrap();
    let codes: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["error"]["code"].clone())
        .collect();
    assert_eq!(codes, [-32700, -32600, -32600, -32603]);
}

#[tokio::test(start_paused = true)]
async fn a_request_too_many_waits_until_an_answer_is_written_and_can_be_cancelled_meanwhile() {
    let (mut requests, answers, mut lines, _ended) = connect(16);
    let count = MAX_IN_FLIGHT + 4;
    requests.write_all((0..count).map(ping).collect::<String>().as_bytes()).await.unwrap();
    let begun = receive_all(&mut lines).await;
    assert_eq!(begun.len(), MAX_IN_FLIGHT);
    // Made, and not read.
    let written = tokio::spawn(lines.send(answer(0)));
    assert_eq!(receive_all(&mut lines).await, [0_i64; 0]);
    requests.write_all(cancel(MAX_IN_FLIGHT).as_bytes()).await.unwrap();
    assert_eq!(receive_all(&mut lines).await, [0_i64; 0], "the cancelled one waited");
    let mut answers = BufReader::new(answers).lines();
    assert!(answers.next_line().await.unwrap().unwrap().contains("-32603"));
    written.await.unwrap().unwrap();
    assert_eq!(receive_all(&mut lines).await, [i64::try_from(MAX_IN_FLIGHT).unwrap() + 1]);
    // One that is under way gives up its place too.
    requests.write_all(cancel(1).as_bytes()).await.unwrap();
    assert_eq!(receive_all(&mut lines).await, [i64::try_from(MAX_IN_FLIGHT).unwrap() + 2]);
}

#[tokio::test(start_paused = true)]
async fn reading_stops_while_too_much_waits() {
    let (mut requests, _answers, mut lines, _ended) = connect(16);
    let written = tokio::spawn(async move {
        for id in 0..1_000_000 {
            requests.write_all(ping(id).as_bytes()).await.unwrap();
        }
    });
    assert_eq!(receive_all(&mut lines).await.len(), MAX_IN_FLIGHT);
    assert!(!written.is_finished());
    written.abort();
}

#[tokio::test(start_paused = true)]
async fn the_end_of_input_is_an_end_though_the_output_is_never_read() {
    let (mut requests, _answers, mut lines, ended) = connect(16);
    let count = 2 * MAX_IN_FLIGHT;
    requests.write_all((0..count).map(ping).collect::<String>().as_bytes()).await.unwrap();
    drop(requests);
    let begun = receive_all(&mut lines).await;
    let sent: Vec<_> = begun.iter().map(|id| tokio::spawn(lines.send(answer(*id)))).collect();
    ended.cancelled().await;
    for sent in sent {
        assert!(sent.await.unwrap().is_err());
    }
    assert!(lines.receive().await.is_none());
    lines.close().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn all_that_was_written_before_the_end_of_input_is_carried_out_for_one_who_reads() {
    let (mut requests, mut answers, mut lines, _ended) = connect(MIB);
    let count = 10 * MAX_IN_FLIGHT;
    requests.write_all((0..count).map(ping).collect::<String>().as_bytes()).await.unwrap();
    drop(requests);
    let mut served = 0;
    while let Some(ClientJsonRpcMessage::Request(request)) = lines.receive().await {
        let RequestId::Number(id) = request.id else { panic!("a number") };
        lines.send(answer(id)).await.unwrap();
        served += 1;
    }
    assert_eq!(served, count);
    drop(lines);
    let mut text = String::new();
    answers.read_to_string(&mut text).await.unwrap();
    assert_eq!(text.lines().count(), count);
}
