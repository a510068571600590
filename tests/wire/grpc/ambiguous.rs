//! What two readers could understand differently, and what is longer than it need be.

use super::*;

/// A model may have written it, so it is told in the result.
#[tokio::test]
async fn what_json_cannot_express_or_takes_two_ways_is_a_mistake_in_the_result() {
    let server = Server::start();
    let mut inputs = Vec::new();
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let kind = Some(prost_types::value::Kind::NumberValue(number));
        let fields = [("symbol".to_owned(), prost_types::Value { kind })].into_iter().collect();
        inputs.push((call_tool_request::Input::Arguments(prost_types::Struct { fields }), "NaN"));
    }
    let twice = r#"{"symbol": "AAPL", "symbol": "MSFT"}"#;
    inputs.push((call_tool_request::Input::ArgumentsJson(twice.to_owned()), "twice"));
    for (input, words) in inputs {
        let mut request = call("get_quotes", json!({}));
        request.input = Some(input);
        let result = called(&server, request).await.expect("a result");
        let Some(Outcome::Error(error)) = result.outcome else { panic!("an error") };
        let said = format!("{error:?}");
        assert!(said.contains("InvalidArgument") && said.contains(words), "{said}");
    }
}

#[tokio::test]
async fn a_header_that_cannot_be_read_is_not_taken_for_absent() {
    let server = Server::start();
    let raw = Raw::connect(server.address).await;
    let path = "/toolwire.brokerage.v1.BrokerageService/GetPositions";
    let request = GetPositionsRequest { symbol: Some("AAPL".to_owned()), account: None };
    let id = "0196f1c2-7a4b-7c3d-8e5f-0123456789ab";
    for name in ["x-toolwire-request-id", "x-toolwire-task-id", "x-toolwire-session-id"] {
        for headers in [&[(name, "caf\u{e9}")][..], &[(name, id), (name, id)]] {
            let status = raw.call(path, headers, &request).await.grpc_status();
            assert_status(&status, Code::InvalidArgument, "INVALID_REQUEST");
            assert!(status.message().contains(name), "{status:?}");
        }
        assert_eq!(raw.call(path, &[(name, id)], &request).await.status(), 0, "{name}");
    }
}

#[tokio::test]
async fn a_callers_own_words_come_back_cut() {
    let server = Server::start();
    let key = "k".repeat(500_000);
    let result = called(&server, call("get_quotes", json!({"symbol": "AAPL", &key: 1}))).await;
    let Some(Outcome::Error(error)) = result.expect("a result").outcome else { panic!("an error") };
    let [violation] = &error.field_violations[..] else { panic!("{error:?}") };
    assert!(
        violation.pointer.starts_with("/kkk") && violation.pointer.len() < 100,
        "{}",
        violation.pointer.len()
    );
    assert!(error.encoded_len() < 2_000, "{} bytes", error.encoded_len());
}

#[tokio::test]
async fn a_search_is_bounded() {
    let server = Server::start();
    let mut client = server.tools().await;
    let text = "get ".repeat(100);
    let request = ListToolsRequest { text, ..ListToolsRequest::default() };
    let status = client.list_tools(request).await.expect_err("refused");
    assert_status(&status, Code::InvalidArgument, "INVALID_REQUEST");
    let tags = vec!["market".to_owned(); 33];
    let request = ListToolsRequest { tags: tags.clone(), ..ListToolsRequest::default() };
    let status = client.list_tools(request).await.expect_err("refused");
    assert_status(&status, Code::InvalidArgument, "INVALID_REQUEST");
    let status = client
        .describe_for_planner(DescribeForPlannerRequest { tags, ..Default::default() })
        .await
        .expect_err("refused");
    assert_status(&status, Code::InvalidArgument, "INVALID_REQUEST");
}
