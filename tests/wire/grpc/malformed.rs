//! Requests that cannot be read are their caller's fault, on every service: never INTERNAL, which is a fault of ours.

use tonic_health::pb::HealthCheckRequest;
use tonic_reflection::pb::v1::{
    ServerReflectionRequest, ServerReflectionResponse, server_reflection_request::MessageRequest,
    server_reflection_response::MessageResponse,
};
use toolwire::contract::proto::workspace::v1::{PutDocumentRequest, PutHeader, put_document_request::Part};

use super::*;
use crate::support::raw::RawEnd;

const CHECK: &str = "/grpc.health.v1.Health/Check";
const REFLECTION: &str = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
const PUT: &str = "/toolwire.workspace.v1.WorkspaceService/PutDocument";

/// A method of each service that generated code or a library serves.
const METHODS: [&str; 8] = [
    "/toolwire.v1.ToolService/CallTool",
    "/toolwire.v1.ToolService/InvokeTool",
    "/toolwire.brokerage.v1.BrokerageService/GetQuotes",
    CHECK,
    "/grpc.health.v1.Health/Watch",
    REFLECTION,
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
    PUT,
];

/// A message in its frame, with a flag.
fn framed(flag: u8, message: &[u8]) -> Bytes {
    let mut bytes = BytesMut::new();
    bytes.put_u8(flag);
    bytes.put_u32(u32::try_from(message.len()).expect("small"));
    bytes.put_slice(message);
    bytes.freeze()
}

fn gzipped(message: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(message).expect("compresses");
    encoder.finish().expect("compresses")
}

async fn sent(raw: &Raw, path: &str, encoding: Option<&str>, body: Bytes) -> RawEnd {
    let headers: Vec<_> = encoding.map(|it| ("grpc-encoding", it)).into_iter().collect();
    raw.start_bytes(path, &headers, body).await.end().await
}

#[tokio::test]
async fn what_is_no_message_is_an_invalid_argument_on_every_service() {
    let server = Server::start();
    let raw = Raw::connect(server.address).await;
    for path in METHODS {
        for (what, encoding, body) in [
            ("not protobuf", None, framed(0, &[0xff, 0xff, 0xff])),
            ("text that is not UTF-8", None, framed(0, b"\x0a\x02\xff\xfe")),
            ("compressed without a coding", None, framed(1, b"")),
            ("compressed with none", Some("identity"), framed(1, b"")),
            ("an unknown flag", None, framed(2, b"")),
            ("JSON", None, Bytes::from_static(b"{\"symbol\": \"AAPL\"}")),
            ("a part of a frame", None, Bytes::from_static(&[0, 0])),
            ("a part of a message", None, Bytes::from_static(&[0, 0, 0, 0, 9, 1])),
        ] {
            let end = sent(&raw, path, encoding, body).await;
            let status = end.grpc_status();
            assert_eq!(status.code(), Code::InvalidArgument, "{path}: {what}: {status:?}");
            assert_status(&status, Code::InvalidArgument, "MALFORMED_REQUEST");
        }
    }
    // The connection is as good as before.
    assert_eq!(raw.call(CHECK, &[], &HealthCheckRequest::default()).await.status(), 0);
}

#[tokio::test]
async fn a_coding_that_is_not_supported_is_unimplemented_and_bad_gzip_an_invalid_argument() {
    let server = Server::start();
    let raw = Raw::connect(server.address).await;
    for path in METHODS {
        for flag in [0, 1] {
            for coding in ["zstd", "snappy", "deflate"] {
                let end = sent(&raw, path, Some(coding), framed(flag, b"")).await;
                assert_status(&end.grpc_status(), Code::Unimplemented, "UNSUPPORTED_ENCODING");
                assert!(end.grpc_status().message().contains(coding), "{end:?}");
                assert!(end.headers.contains_key("grpc-accept-encoding"), "{end:?}");
            }
        }
        let end = sent(&raw, path, Some("gzip"), framed(1, b"no gzip")).await;
        let expected = if path.contains("reflection") {
            (Code::Unimplemented, "UNSUPPORTED_ENCODING")
        } else {
            (Code::InvalidArgument, "MALFORMED_REQUEST")
        };
        assert_status(&end.grpc_status(), expected.0, expected.1);
    }
    let check = gzipped(&HealthCheckRequest::default().encode_to_vec());
    assert_eq!(sent(&raw, CHECK, Some("gzip"), framed(1, &check)).await.status(), 0);
}

#[tokio::test]
async fn a_stream_that_becomes_unreadable_says_so_at_its_end() {
    let server = Server::start();
    let raw = Raw::connect(server.address).await;
    let list = ServerReflectionRequest {
        message_request: Some(MessageRequest::ListServices(String::new())),
        ..ServerReflectionRequest::default()
    };
    let whole = sent(&raw, REFLECTION, None, frame(&list)).await;
    assert_eq!((whole.status(), whole.messages.len()), (0, 1));
    let unknown = [
        MessageRequest::FileContainingSymbol("toolwire.v1.Nothing".to_owned()),
        MessageRequest::FileByFilename("nothing.proto".to_owned()),
        MessageRequest::AllExtensionNumbersOfType("toolwire.v1.Nothing".to_owned()),
    ];
    let requests = unknown.into_iter().map(Some).chain([None]).map(|asked| {
        frame(&ServerReflectionRequest { message_request: asked, ..ServerReflectionRequest::default() })
    });
    let body = requests.chain([frame(&list)]).flatten().collect();
    let answered = sent(&raw, REFLECTION, None, body).await;
    assert_eq!((answered.status(), answered.messages.len()), (0, 5));
    let codes = answered.messages.iter().map(|message| {
        let answer = ServerReflectionResponse::decode(message.clone()).expect("an answer");
        match answer.message_response.expect("set") {
            MessageResponse::ErrorResponse(error) => error.error_code,
            _ => 0,
        }
    });
    assert_eq!(codes.collect::<Vec<_>>(), [5, 5, 5, 3, 0]);
    for broken in [&[0, 0, 0, 0, 1, 0xff][..], &[3, 0, 0, 0, 0], &[0, 0]] {
        let body = [frame(&list), Bytes::copy_from_slice(broken)].concat().into();
        let end = sent(&raw, REFLECTION, None, body).await;
        assert_eq!(end.messages.len(), 1, "{broken:?}");
        assert_status(&end.grpc_status(), Code::InvalidArgument, "MALFORMED_REQUEST");
    }
    let header = PutDocumentRequest { part: Some(Part::Header(PutHeader::default())) };
    let body = [frame(&header), framed(7, b"")].concat().into();
    let status = sent(&raw, PUT, None, body).await.grpc_status();
    assert_eq!(status.code(), Code::InvalidArgument, "{status:?}");
}

#[tokio::test]
async fn another_method_than_post_calls_nothing() {
    let server = Server::start();
    let raw = Raw::connect(server.address).await;
    let path = "/toolwire.v1.ToolService/CallTool";
    let message = call("add_to_watchlist", json!({"symbol": "WIPRO"}));
    for method in [Method::GET, Method::HEAD, Method::PUT, Method::DELETE, Method::OPTIONS] {
        let mut call = raw.begin_as(method.clone(), path, &[]).await;
        call.request.send_data(frame(&message), true).expect("sent");
        let end = call.response.await.expect("a response");
        assert_eq!(end.status(), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(end.headers()["allow"], "POST", "{method}");
    }
    let watched = data(called(&server, call("browse_watchlist", json!({}))).await.expect("a result"));
    assert!(!watched.to_string().contains("WIPRO"), "{watched}");
}
