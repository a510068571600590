//! Requests that are unusual and still good: what proxies, other libraries and later versions send.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::*;
use crate::support::raw::{RawCall, RawEnd};

const CALL: &str = "/toolwire.v1.ToolService/CallTool";

/// How an HTTP/2 client begins, with SETTINGS that are empty.
const BEGINNING: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00";

/// Types of frames of HTTP/2.
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const GOAWAY: u8 = 7;

/// Flags of frames.
const END_STREAM: u8 = 0x1;
const END_HEADERS: u8 = 0x4;
const PADDED: u8 = 0x8;

fn quotes() -> CallToolRequest {
    call("get_quotes", json!({"symbol": "AAPL"}))
}

/// That the response has quotes.
#[track_caller]
fn assert_quotes(response: CallToolResponse, what: &str) {
    let Some(call_tool_response::Outcome::Result(result)) = response.outcome else {
        panic!("{what}: no result")
    };
    assert!(data(result).to_string().contains("AAPL"), "{what}");
}

#[track_caller]
fn assert_answered(end: &RawEnd, what: &str) {
    assert_eq!((end.status(), end.messages.len()), (0, 1), "{what}: {end:?}");
    assert_quotes(end.decode().remove(0), what);
}

/// Sends a request just as it is, on a connection of its own, with a good call as its body.
async fn send(server: &Server, request: http::Request<()>) -> RawEnd {
    let socket = TcpStream::connect(server.address).await.expect("connects");
    let (sender, connection) = h2::client::handshake(socket).await.expect("speaks HTTP/2");
    tokio::spawn(connection);
    let mut sender = sender.ready().await.expect("ready");
    let (response, mut request) = sender.send_request(request, false).expect("sent");
    request.send_data(frame(&quotes()), true).expect("sent");
    RawCall { response, request }.end().await
}

#[tokio::test]
async fn headers_without_a_meaning_here_do_not_hinder_a_call() {
    let server = Server::start();
    let raw = Raw::connect(server.address).await;
    let long = "x".repeat(7_000);
    for headers in [
        &[("x_foo", "1")][..],
        &[("x-foo-bin", "AAE=")],
        &[("x-foo-bin", "AAE")],
        &[("x-foo-bin", "AAE=,AAI")],
        &[("x-foo-bin", "AAE="), ("x-foo-bin", "AAI")],
        &[("cookie", "a=1"), ("cookie", "b=2")],
        &[("grpc-previous-rpc-attempts", "2")],
        &[("grpc-message-type", "toolwire.v1.CallToolRequest")],
        &[("x-long", long.as_str())],
    ] {
        let end = raw.call(CALL, headers, &quotes()).await;
        let (name, value) = headers[0];
        assert_answered(&end, &format!("{name}: {value:.40}"));
    }
}

#[tokio::test]
async fn a_call_needs_neither_te_nor_an_authority() {
    let server = Server::start();
    let absolute = format!("http://test{CALL}");
    for (what, uri, host) in
        [("no te", absolute.as_str(), None), ("a host and no authority", CALL, Some("localhost"))]
    {
        let mut request = http::Request::post(uri).header("content-type", "application/grpc");
        if let Some(host) = host {
            request = request.header("host", host);
        }
        assert_answered(&send(&server, request.body(()).expect("a request")).await, what);
    }
}

#[tokio::test]
async fn fields_of_a_later_version_are_skipped() {
    let server = Server::start();
    let raw = Raw::connect(server.address).await;
    // All are field 1007.
    for (what, field) in [
        ("a number", &b"\xf8\x3e\x01"[..]),
        ("eight bytes", b"\xf9\x3e12345678"),
        ("a text", b"\xfa\x3e\x03abc"),
        ("four bytes", b"\xfd\x3e1234"),
    ] {
        let message = [&quotes().encode_to_vec()[..], field].concat();
        let length = u32::try_from(message.len()).expect("small").to_be_bytes();
        let body = [&[0_u8][..], &length, &message].concat();
        assert_answered(&raw.start_bytes(CALL, &[], body.into()).await.end().await, what);
    }
}

#[tokio::test]
async fn a_path_is_compared_as_it_stands_and_its_query_is_skipped() {
    let server = Server::start();
    let raw = Raw::connect(server.address).await;
    assert_answered(&raw.call(&format!("{CALL}?x=1"), &[], &quotes()).await, "a query");
    for path in ["/toolwire.v1.ToolService/Call%54ool", "/toolwire.v1.toolservice/CallTool"] {
        let status = raw.call(path, &[], &quotes()).await.grpc_status();
        assert_status(&status, Code::Unimplemented, "UNKNOWN_METHOD");
    }
}

/// A frame on the first stream.
fn on_first_stream(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("small").to_be_bytes();
    [&length[1..], &[kind, flags, 0, 0, 0, 1], payload].concat()
}

/// Headers as HPACK has them at their simplest: each in full, and none to be remembered.
fn in_full(headers: &[(&str, &str)]) -> Vec<u8> {
    let text = |text: &str| [&[u8::try_from(text.len()).expect("short")][..], text.as_bytes()].concat();
    headers.iter().flat_map(|(name, value)| [vec![0], text(name), text(value)].concat()).collect()
}

/// The data of the first stream, which must come to its end.
async fn data_of_first_stream(socket: &mut TcpStream) -> Vec<u8> {
    let mut data = Vec::new();
    loop {
        let mut head = [0; 9];
        socket.read_exact(&mut head).await.expect("a frame");
        let [.., kind, flags, _, _, _, stream] = head;
        assert!(![RST_STREAM, GOAWAY].contains(&kind), "a frame of the type {kind}");
        let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
        socket.read_exact(&mut payload).await.expect("what its length says");
        if (kind, stream) == (DATA, 1) {
            data.extend(payload);
        }
        if stream == 1 && [DATA, HEADERS].contains(&kind) && flags & END_STREAM != 0 {
            return data;
        }
    }
}

#[tokio::test]
async fn padding_is_not_a_part_of_a_message() {
    let server = Server::start();
    let headers = in_full(&[
        (":method", "POST"),
        (":scheme", "http"),
        (":path", CALL),
        (":authority", "test"),
        ("te", "trailers"),
        ("content-type", "application/grpc"),
    ]);
    for padding in [0, 1, 100, u8::MAX] {
        let padded = [&[padding][..], &frame(&quotes()), &vec![0; padding.into()]].concat();
        let request = [
            BEGINNING,
            &on_first_stream(HEADERS, END_HEADERS, &headers),
            &on_first_stream(DATA, END_STREAM | PADDED, &padded),
        ];
        let mut socket = TcpStream::connect(server.address).await.expect("connects");
        socket.write_all(&request.concat()).await.expect("sent");
        let data = data_of_first_stream(&mut socket).await;
        assert!(data.len() > 5, "{padding}: a status alone");
        let response = CallToolResponse::decode(&data[5..]).expect("decodes");
        assert_quotes(response, &format!("{padding} bytes of padding"));
    }
}
