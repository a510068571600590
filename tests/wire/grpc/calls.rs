//! Calls and their results, in every form.

use super::*;

#[tokio::test]
async fn a_tool_is_invoked_with_a_stream_of_events() {
    let server = Server::start();
    let request = invoke("get_quotes", json!({"symbol": "AAPL"}));
    let mut stream = server.tools().await.invoke_tool(request).await.expect("accepted").into_inner();
    let mut events = Vec::new();
    while let Some(message) = stream.message().await.expect("no status") {
        events.push(message.event.expect("an event"));
    }
    let sequences: Vec<_> = events.iter().map(|event| event.sequence).collect();
    assert_eq!(sequences, [0, 1]);
    assert!(matches!(&events[0].event, Some(Event::Accepted(accepted)) if accepted.tool == "get_quotes"));
    let Some(Event::Result(result)) = events.pop().and_then(|event| event.event) else { panic!("a result") };
    assert_eq!(result.provenance.as_ref().expect("provenance").source_ids, ["tool:quotes:v1"]);
    assert_eq!(data(result)["quotes"], json!([{"symbol": "AAPL", "price": 193.12, "change_pct": 1.1}]));
}

#[tokio::test]
async fn both_forms_of_arguments_and_of_results_say_the_same() {
    let server = Server::start();
    let structure =
        called(&server, call("get_positions", json!({"symbol": "AAPL"}))).await.expect("a result");
    let mut request = call("get_positions", json!({}));
    request.input = Some(call_tool_request::Input::ArgumentsJson(r#"{"symbol": "AAPL"}"#.to_owned()));
    request.result_format = ResultFormat::Json.into();
    let text = called(&server, request).await.expect("a result");
    assert_eq!(data(structure), data(text));
}

#[tokio::test]
async fn a_typed_rpc_gives_the_same_numbers() {
    let server = Server::start();
    let generic =
        data(called(&server, call("get_positions", json!({"symbol": "AAPL"}))).await.expect("a result"));
    let request = GetPositionsRequest { symbol: Some("AAPL".to_owned()), account: None };
    let typed = server.brokerage().await.get_positions(request).await.expect("a response").into_inner();
    let typed_data = typed.data.expect("data");
    assert_eq!(typed.provenance.expect("provenance").source_ids, ["tool:positions:v1"]);
    let quantities: Vec<_> = typed_data.positions.iter().map(|position| position.quantity).collect();
    let generic_quantities: Vec<_> = generic["positions"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|position| position["quantity"].as_f64().expect("a number"))
        .collect();
    assert_eq!(quantities, generic_quantities);
    assert_eq!(json!(typed_data.position.expect("held").cost_basis), generic["position"]["cost_basis"]);
}

#[tokio::test]
async fn a_tool_error_on_a_typed_rpc_is_a_status() {
    let server = Server::start();
    let request = GetPositionsRequest { symbol: Some("APPL".to_owned()), account: None };
    let status = server.brokerage().await.get_positions(request).await.unwrap_err();
    assert_status(&status, Code::NotFound, "NOT_FOUND");
    assert!(status.message().contains("AAPL"), "{status:?}");
    let status = server.brokerage().await.get_positions(GetPositionsRequest::default()).await.unwrap_err();
    assert_status(&status, Code::InvalidArgument, "INVALID_ARGUMENT");
    let details = status.get_details_bad_request().expect("a BadRequest");
    assert_eq!(details.field_violations[0].field, "/symbol");
}

#[tokio::test]
async fn chunks_have_the_form_of_the_result() {
    let server = Server::start();
    let mut client = server.tools().await;
    for format in [ResultFormat::Unspecified, ResultFormat::Struct, ResultFormat::Json] {
        let request = InvokeToolRequest {
            result_format: format.into(),
            ..invoke("debug_stream", json!({"count": 2, "interval": "0.01s"}))
        };
        let stream = client.invoke_tool(request).await.expect("accepted").into_inner();
        let events: Vec<_> =
            stream.map(|message| message.expect("no status").event.and_then(|it| it.event)).collect().await;
        let chunks = events.into_iter().flatten().filter_map(|event| match event {
            Event::Chunk(chunk) => Some(chunk),
            _ => None,
        });
        let indexes: Vec<_> = chunks
            .map(|Chunk { data, data_json }| {
                let data = data.map(|data| Value::Object(from_struct(data)));
                let text = serde_json::from_str::<Value>(&data_json).ok();
                assert_eq!(text.is_some(), format == ResultFormat::Json);
                assert!(data.is_none() || text.is_none());
                data.or(text).expect("one of them")["index"].clone()
            })
            .collect();
        assert_eq!(indexes, [0, 1]);
    }
}

#[tokio::test]
async fn a_panic_leaves_the_connection_and_the_other_streams_alive() {
    let server = Server::start();
    let mut client = server.tools().await;
    let other = invoke("debug_stream", json!({"count": 2, "interval": "0.2s"}));
    let mut other = client.invoke_tool(other).await.expect("accepted").into_inner();
    for when in ["start", "stream"] {
        let mut stream = client
            .invoke_tool(invoke("debug_panic", json!({"when": when})))
            .await
            .expect("accepted")
            .into_inner();
        let mut last = None;
        while let Some(message) = stream.message().await.expect("no status") {
            last = message.event.and_then(|event| event.event);
        }
        let Some(Event::Result(result)) = last else { panic!("a result") };
        assert!(
            matches!(result.outcome, Some(Outcome::Error(error)) if error.code() == ToolErrorCode::Unknown)
        );
    }
    let mut last = None;
    while let Some(message) = other.message().await.expect("no status") {
        last = message.event.and_then(|event| event.event);
    }
    assert!(matches!(last, Some(Event::Result(result)) if matches!(result.outcome, Some(Outcome::Data(_)))));
}

#[tokio::test]
async fn a_call_is_cancelled_by_its_user_and_says_so() {
    let server = Server::start();
    let mut client = server.tools().await;
    let request = invoke("debug_sleep", json!({"duration": "60s"}));
    let mut stream = client.invoke_tool(request).await.expect("accepted").into_inner();
    let accepted = stream.message().await.expect("no status").expect("an event").event.expect("an event");
    let cancel = |user: &'static str| {
        let call = Some(cancel_call_request::Call::CallId(accepted.call_id.clone()));
        let mut request = Request::new(CancelCallRequest { call });
        request.metadata_mut().insert("x-toolwire-user", user.parse().expect("a value"));
        request
    };
    assert!(!client.cancel_call(cancel("riley")).await.expect("answers").into_inner().cancelled);
    assert!(client.cancel_call(cancel("demo")).await.expect("answers").into_inner().cancelled);
    let last = stream.message().await.expect("no status").expect("an event").event.expect("an event");
    let Some(Event::Result(result)) = last.event else { panic!("a result") };
    let Some(Outcome::Error(error)) = result.outcome else { panic!("an error") };
    assert_eq!((error.code(), error.message.as_str()), (ToolErrorCode::Cancelled, "Request was cancelled"));
    assert!(stream.message().await.expect("no status").is_none());
}

#[tokio::test]
async fn a_result_beyond_what_clients_accept_is_an_error_that_says_so() {
    let directory = crate::support::data_directory();
    let master = directory.path().join("brokerage/user_master.json");
    let trade = json!({"timestamp": "2026-01-14T15:42:00Z", "symbol": "AAPL", "side": "BUY", "quantity": 1, "price": 1.5});
    let trades = vec![trade; 40_000];
    patch_json(
        &master,
        &json!({"activity": {"as_of": "2026-01-15", "account": "Brokerage", "trades": trades}}),
    );
    let mut config = config();
    config.data.dir = Some(directory.path().to_owned());
    let server = Server::with(config);
    for format in [ResultFormat::Struct, ResultFormat::Json] {
        let mut request = call("get_activity", json!({}));
        request.result_format = format.into();
        let result = called(&server, request).await.expect("status OK");
        let Some(Outcome::Error(error)) = result.outcome else { panic!("an error") };
        assert_eq!(error.code(), ToolErrorCode::ResultTooLarge);
        assert!(error.message.contains("Narrow the arguments"), "{}", error.message);
    }
}

#[tokio::test]
async fn a_typed_method_whose_tool_only_records_is_an_internal_error_of_that_call() {
    let directory = crate::support::data_directory();
    let manifest = directory.path().join("tools/get_positions.json");
    patch_json(&manifest, &json!({"type": "non_function_tool"}));
    let mut config = config();
    config.data.dir = Some(directory.path().to_owned());
    let server = Server::with(config);
    let request = GetPositionsRequest { symbol: Some("AAPL".to_owned()), account: None };
    let status = server.brokerage().await.get_positions(request).await.expect_err("refused");
    assert_status(&status, Code::Internal, "INTERNAL");
    assert!(status.message().contains("call_id"), "{status:?}");
}

#[tokio::test]
async fn the_data_of_one_user_is_not_reachable_by_another() {
    let server = Server::start();
    let as_user = |user: &str| {
        let mut request = Request::new(call("get_account_summary", json!({})));
        request.metadata_mut().insert("x-toolwire-user", user.parse().expect("a value"));
        request
    };
    let demo = data(called(&server, as_user("demo")).await.expect("a result"));
    let riley = data(called(&server, as_user("riley")).await.expect("a result"));
    assert_eq!(demo["accounts"][0]["total_value"], 128_450.22);
    assert_ne!(demo["accounts"], riley["accounts"]);
    let nobody = called(&server, as_user("nobody")).await.expect("a result");
    assert!(matches!(nobody.outcome, Some(Outcome::Error(error)) if error.code() == ToolErrorCode::NotFound));
}
