//! Requests that are refused, and compressed ones.

use super::*;

#[tokio::test]
async fn a_malformed_request_is_refused_without_a_stream() {
    let server = Server::start();
    let raw = Raw::connect(server.address).await;
    let path = "/toolwire.v1.ToolService/InvokeTool";
    let with = |change: fn(&mut InvokeToolRequest)| {
        let mut request = invoke("get_quotes", json!({"symbol": "AAPL"}));
        change(&mut request);
        request
    };
    let requests = [
        ("no target", with(|request| request.target = None)),
        ("empty target", with(|r| r.target = Some(invoke_tool_request::Target::Tool(String::new())))),
        ("bad request_id", with(|r| r.request_id = "42".to_owned())),
        (
            "claimed identity",
            with(|r| r.context = Some(ToolContext { user_id: "riley".into(), ..ToolContext::default() })),
        ),
    ];
    for (what, request) in requests {
        let end = raw.call(path, &[], &request).await;
        assert!(end.is_trailers_only(), "{what}");
        let status = end.grpc_status();
        assert_status(&status, Code::InvalidArgument, "INVALID_REQUEST");
        assert!(status.get_details_bad_request().is_some(), "{what}");
    }
    let end = raw.call(path, &[("grpc-timeout", "soon")], &with(|_| {})).await;
    assert_eq!(end.status(), Code::InvalidArgument as i32);
    // The connection is as good as before.
    assert_eq!(raw.call(path, &[], &with(|_| {})).await.status(), 0);
}

#[tokio::test]
async fn what_is_too_large_or_no_message_ends_its_stream_only() {
    let server = Server::start();
    let raw = Raw::connect(server.address).await;
    let path = "/toolwire.v1.ToolService/CallTool";
    let mut large = call("get_quotes", json!({}));
    large.input = Some(call_tool_request::Input::ArgumentsJson("x".repeat(2 * 1024 * 1024)));
    assert_eq!(raw.call(path, &[], &large).await.grpc_status().code(), Code::ResourceExhausted);
    let garbage = bytes::Bytes::from_static(&[0, 0, 0, 0, 3, 0xff, 0xff, 0xff]);
    let end = raw.start_bytes(path, &[], garbage).await.end().await;
    assert_eq!(end.grpc_status().code(), Code::InvalidArgument);
    // Deeper than protobuf itself allows.
    let mut value = prost_types::Value::default();
    for _ in 0..1_000 {
        let list = prost_types::ListValue { values: vec![value] };
        value = prost_types::Value { kind: Some(prost_types::value::Kind::ListValue(list)) };
    }
    let mut deep = call("get_quotes", json!({}));
    let fields = [("symbol".to_owned(), value)].into_iter().collect();
    deep.input = Some(call_tool_request::Input::Arguments(prost_types::Struct { fields }));
    assert_eq!(raw.call(path, &[], &deep).await.grpc_status().code(), Code::InvalidArgument);
    assert_eq!(raw.call(path, &[], &call("get_quotes", json!({"symbol": "AAPL"}))).await.status(), 0);
}

/// The message of a frame, as a compressed one.
fn compressed(message: &[u8]) -> Bytes {
    let mut bytes = BytesMut::new();
    bytes.put_u8(1);
    bytes.put_u32(u32::try_from(message.len()).expect("small"));
    bytes.put_slice(message);
    bytes.freeze()
}

/// Just under 1 MiB of gzip that unpacks to 1 GiB of zeros: one compressed piece of 8 MiB, 128 times.
fn bomb() -> Vec<u8> {
    let zeros = vec![0; 8 << 20];
    let mut piece = Vec::with_capacity(64 << 10);
    Compress::new(Compression::best(), false)
        .compress_vec(&zeros, &mut piece, FlushCompress::Full)
        .expect("compresses");
    let header = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    let bomb: Vec<u8> = header.into_iter().chain(piece.repeat(128)).collect();
    assert!((900 << 10..1 << 20).contains(&bomb.len()), "{} bytes", bomb.len());
    bomb
}

#[tokio::test]
async fn gzip_is_taken_and_given_to_those_who_use_it() {
    let server = Server::start();
    let raw = Raw::connect(server.address).await;
    let path = "/toolwire.v1.ToolService/CallTool";
    let message = frame(&call("get_quotes", json!({"symbol": "AAPL"}))).slice(5..);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&message).expect("compresses");
    let body = compressed(&encoder.finish().expect("compresses"));
    let plain = raw.start_bytes(path, &[("grpc-encoding", "gzip")], body.clone()).await.end().await;
    assert_eq!(plain.status(), 0);
    assert!(!plain.headers.contains_key("grpc-encoding"), "{:?}", plain.headers);
    assert!(!plain.decode::<CallToolResponse>().is_empty());

    let asked = [("grpc-encoding", "gzip"), ("grpc-accept-encoding", "identity,deflate,gzip")];
    let packed = raw.start_bytes(path, &asked, body).await.end().await;
    assert_eq!(packed.headers["grpc-encoding"], "gzip");
    let mut unpacked = Vec::new();
    GzDecoder::new(&*packed.messages[0]).read_to_end(&mut unpacked).expect("gzip");
    assert!(CallToolResponse::decode(&*unpacked).is_ok_and(|response| response.outcome.is_some()));

    // Most libraries accept it unasked.
    let request = frame(&call("get_quotes", json!({"symbol": "AAPL"})));
    for encoding in [None, Some("identity")] {
        let accepted = [("grpc-accept-encoding", "identity,deflate,gzip")];
        let encoding = encoding.map(|encoding| ("grpc-encoding", encoding));
        let headers: Vec<_> = accepted.into_iter().chain(encoding).collect();
        let plain = raw.start_bytes(path, &headers, request.clone()).await.end().await;
        assert!(!plain.headers.contains_key("grpc-encoding"), "{headers:?}: {:?}", plain.headers);
        assert!(!plain.decode::<CallToolResponse>().is_empty());
    }
}

#[tokio::test]
async fn a_gzip_bomb_is_refused_in_bounded_memory() {
    const BOUND: u64 = 64 << 10;
    let program = Program::start(Path::new("."), &[], &[]).await;
    let raw = Raw::connect(program.address).await;
    let before = program.peak_memory_kib();
    for path in ["/toolwire.v1.ToolService/CallTool", "/toolwire.brokerage.v1.BrokerageService/GetQuotes"] {
        let end = raw.start_bytes(path, &[("grpc-encoding", "gzip")], compressed(&bomb())).await.end().await;
        assert_status(&end.grpc_status(), Code::ResourceExhausted, "MESSAGE_TOO_LARGE");
    }
    let grown = program.peak_memory_kib() - before;
    assert!(grown < BOUND, "{grown} KiB");
    let path = "/toolwire.v1.ToolService/CallTool";
    assert_eq!(raw.call(path, &[], &call("get_quotes", json!({"symbol": "AAPL"}))).await.status(), 0);
}

#[tokio::test]
async fn an_unknown_tool_or_intent_is_not_found_with_near_names() {
    let server = Server::start();
    let status = called(&server, call("get_quote", json!({}))).await.unwrap_err();
    assert_status(&status, Code::NotFound, "UNKNOWN_TOOL");
    assert!(status.message().contains("get_quotes"), "{status:?}");
    assert_eq!(status.get_details_resource_info().expect("a ResourceInfo").resource_name, "get_quote");
    let mut request = call("x", json!({}));
    request.target = Some(call_tool_request::Target::Intent("nonsense".to_owned()));
    let status = called(&server, request).await.unwrap_err();
    assert_status(&status, Code::NotFound, "UNKNOWN_INTENT");
    assert!(status.message().starts_with("Unknown intent: nonsense"), "{status:?}");
}

#[tokio::test]
async fn arguments_that_break_the_schema_are_a_result_with_every_violation() {
    let server = Server::start();
    let result =
        called(&server, call("get_performance", json!({"timefram": "YTD"}))).await.expect("status OK");
    let Some(Outcome::Error(error)) = result.outcome else { panic!("an error") };
    assert_eq!(error.code(), ToolErrorCode::InvalidArgument);
    let rules: Vec<_> = error.field_violations.iter().map(|violation| violation.rule.as_str()).collect();
    assert_eq!(rules.len(), 2, "{rules:?}");
    assert!(rules.contains(&"additionalProperties") && rules.contains(&"required"), "{rules:?}");
}

#[tokio::test]
async fn a_missing_parameter_of_an_empty_struct_comes_with_a_hint_about_proto_loaders() {
    let server = Server::start();
    let missing = async |input: Option<call_tool_request::Input>| {
        let request = CallToolRequest { input, ..call("get_performance", json!({})) };
        let result = called(&server, request).await.expect("status OK");
        let Some(Outcome::Error(error)) = result.outcome else { panic!("an error") };
        let missing = error.field_violations.into_iter().find(|violation| violation.rule == "required");
        missing.expect("timeframe is required").description
    };
    let structure = |value| Some(call_tool_request::Input::Arguments(to_struct(&arguments(value))));
    let description = missing(structure(json!({}))).await;
    assert!(description.starts_with("`timeframe` is required: "), "{description}");
    assert!(description.contains("proto loader"), "{description}");
    assert!(description.contains("arguments_json"), "{description}");

    let json = Some(call_tool_request::Input::ArgumentsJson("{}".to_owned()));
    for input in [None, json, structure(json!({"account": "x"}))] {
        let description = missing(input.clone()).await;
        assert!(!description.contains("proto loader"), "{input:?}: {description}");
    }
}
