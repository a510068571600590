//! What was validated is what a function of another process gets, and what it says is what its caller reads: to the
//! last digit, or refused by name.

use std::{collections::BTreeMap, time::Duration};

use prost_types::{Struct, Value as ProtoValue, value::Kind};
use serde_json::{Value, json};
use toolwire::{
    contract::proto::{
        host::v1::Offer,
        v1::{
            CallToolRequest, ResultFormat, ToolCategory, ToolErrorCode,
            call_tool_request::{Input, Target},
            call_tool_response::Outcome,
            tool_result,
        },
    },
    tool::context::RequestId,
};

use super::{
    call,
    host::{Host, offer},
};
use crate::support::server::Server;

/// A tool that takes numbers, texts, either, and anything.
fn numbers(category: ToolCategory) -> Offer {
    let either =
        |types: &[&str]| json!({"anyOf": types.iter().map(|it| json!({"type": it})).collect::<Vec<_>>()});
    let input = json!({
        "type": "object",
        "properties": {
            "amount": {"type": "number"}, "count": {"type": "integer"}, "flag": {"type": "boolean"},
            "account": either(&["integer", "string"]), "price": either(&["integer", "number"]),
            "list": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "string"}]},
            "point": {"anyOf": [{"type": "object", "properties": {"x": {"type": "integer"}}}, {"type": "null"}]},
            "any": {},
        },
        "additionalProperties": false
    });
    Offer { input_schema_json: input.to_string(), category: category.into(), ..offer("numbers") }
}

async fn answer(server: &Server, input: Input, format: ResultFormat) -> tool_result::Outcome {
    let request = CallToolRequest {
        target: Some(Target::Tool("numbers".to_owned())),
        input: Some(input),
        request_id: RequestId::generate().to_string(),
        result_format: format.into(),
        ..CallToolRequest::default()
    };
    let answer = server.tools().await.call_tool(request).await.expect("OK").into_inner();
    match answer.outcome {
        Some(Outcome::Result(result)) => result.outcome.expect("an outcome"),
        other => panic!("{other:?}"),
    }
}

fn text_of(outcome: tool_result::Outcome) -> String {
    match outcome {
        tool_result::Outcome::DataJson(text) => text,
        other => panic!("{other:?}"),
    }
}

async fn serving(category: ToolCategory) -> (Server, Host) {
    let server = Server::start();
    let mut host = Host::dial(&server, None).await.expect("welcome");
    let welcome = host.greet(vec![numbers(category)]).await.expect("welcome");
    assert_eq!(welcome.accepted, 1, "{:?}", welcome.verdicts);
    (server, host)
}

#[tokio::test]
async fn a_value_reaches_the_function_as_it_was_written_and_so_does_its_answer() {
    let (server, mut host) = serving(ToolCategory::Read).await;
    for (given, received) in [
        (r#"{"price":149.99,"account":"00123"}"#, r#"{"price":149.99,"account":"00123"}"#),
        (r#"{"price":149.990,"amount":1.4999e2}"#, r#"{"price":149.99,"amount":149.99}"#),
        (r#"{"count":18446744073709551615}"#, r#"{"count":18446744073709551615}"#),
        (r#"{"count":-9223372036854775808}"#, r#"{"count":-9223372036854775808}"#),
        (r#"{"count":5.0,"price":5.0}"#, r#"{"count":5,"price":5.0}"#),
        (r#"{"amount":0.30000000000000004}"#, r#"{"amount":0.30000000000000004}"#),
        (r#"{"amount":5e-324,"any":1e30}"#, r#"{"amount":5e-324,"any":1e+30}"#),
        (r#"{"account":"12","list":"12"}"#, r#"{"account":"12","list":"12"}"#),
        (r#"{"list":["1",2],"any":"[1]"}"#, r#"{"list":[1,2],"any":"[1]"}"#),
        (r#"{"flag":"true","count":"7","amount":"0.5"}"#, r#"{"flag":true,"count":7,"amount":0.5}"#),
        (r#"{"point":"{\"x\":\"5\"}"}"#, r#"{"point":{"x":5}}"#),
        (r#"{"point":"null","any":"null"}"#, r#"{"any":"null"}"#),
    ] {
        let calling = answer(&server, Input::ArgumentsJson(given.to_owned()), ResultFormat::Json);
        let answering = async {
            let start = host.start().await;
            assert_eq!(start.arguments_json, received, "{given}");
            let data: Value = serde_json::from_str(&start.arguments_json).expect("JSON");
            host.outcome(&start, &data).await;
        };
        let (outcome, ()) = tokio::join!(calling, answering);
        assert_eq!(text_of(outcome), received, "{given}");
    }
}

#[tokio::test]
async fn what_would_change_on_the_way_never_reaches_the_function() {
    let (server, _host) = serving(ToolCategory::Read).await;
    for (given, pointer) in [
        (r#"{"count":18446744073709551617}"#, "/count"),
        (r#"{"any":{"a":[1000000000000000000000001]}}"#, "/any/a/0"),
        (r#"{"amount":0.10000000000000001}"#, "/amount"),
        (r#"{"count":1e30}"#, "/count"),
        (r#"{"count":"1e30"}"#, "/count"),
        (r#"{"count":"18446744073709551616"}"#, "/count"),
        (r#"{"amount":"149.99000000000000001"}"#, "/amount"),
        (r#"{"amount":1e400}"#, "/amount"),
    ] {
        let outcome = answer(&server, Input::ArgumentsJson(given.to_owned()), ResultFormat::Json).await;
        let tool_result::Outcome::Error(error) = outcome else { panic!("{given}: {outcome:?}") };
        assert_eq!(error.code(), ToolErrorCode::InvalidArgument, "{given}");
        let pointers: Vec<_> = error.field_violations.iter().map(|it| it.pointer.as_str()).collect();
        assert_eq!(pointers, [pointer], "{given}: {error:?}");
    }
}

fn structure(name: &str, number: f64) -> Struct {
    let value = ProtoValue { kind: Some(Kind::NumberValue(number)) };
    Struct { fields: BTreeMap::from([(name.to_owned(), value)]) }
}

#[tokio::test]
async fn a_structure_carries_no_integer_that_it_would_round_in_or_out() {
    let (server, mut host) = serving(ToolCategory::Read).await;
    for number in [9_007_199_254_740_992.0, -9_007_199_254_740_992.0, 1e24] {
        let outcome = answer(&server, Input::Arguments(structure("count", number)), ResultFormat::Json).await;
        let tool_result::Outcome::Error(error) = outcome else { panic!("{outcome:?}") };
        let violation = &error.field_violations[0];
        assert_eq!((violation.pointer.as_str(), violation.rule.as_str()), ("/count", "exact"));
        assert!(violation.description.contains("JSON text"), "{}", violation.description);
    }
    for (data, is_structure) in [
        (json!({"id": 9_007_199_254_740_991_i64, "share": 0.1}), true),
        (json!({"ids": [1, 9_007_199_254_740_993_i64]}), false),
        (json!({"id": u64::MAX}), false),
    ] {
        let given = Input::Arguments(structure("count", 9_007_199_254_740_991.0));
        let calling = answer(&server, given, ResultFormat::Struct);
        let answering = async {
            let start = host.start().await;
            assert_eq!(start.arguments_json, r#"{"count":9007199254740991}"#);
            host.outcome(&start, &data).await;
        };
        let (outcome, ()) = tokio::join!(calling, answering);
        match outcome {
            tool_result::Outcome::Data(_) => assert!(is_structure, "{data}"),
            outcome => assert_eq!((text_of(outcome), is_structure), (data.to_string(), false)),
        }
    }
}

#[tokio::test]
async fn a_write_whose_result_cannot_be_carried_says_that_it_was_done() {
    let (server, mut host) = serving(ToolCategory::Write).await;
    for (data, pointer) in [
        (r#"{"x": 1000000000000000000000001}"#, "/x"),
        (r#"{"a": [{"y": 18446744073709551617}]}"#, "/a/0/y"),
        (r#"{"neg": -9223372036854775809}"#, "/neg"),
        (r#"{"share": 0.1000000000000000055511151231257827}"#, "/share"),
    ] {
        let calling = answer(&server, Input::ArgumentsJson("{}".to_owned()), ResultFormat::Json);
        let answering = async {
            let start = host.start().await;
            host.outcome_text(&start, data).await;
        };
        let (outcome, ()) = tokio::join!(calling, answering);
        let tool_result::Outcome::Error(error) = outcome else { panic!("{outcome:?}") };
        assert_eq!(error.code(), ToolErrorCode::ParseError, "{error:?}");
        assert!(
            error.message.starts_with("The write was done. The result must hold no number but"),
            "{error:?}"
        );
        assert!(error.message.contains(&format!("at \"{pointer}\"")), "{error:?}");
    }
    let none = json!({});
    let calling = call(&server, "numbers", &none);
    let answering = async {
        let start = host.start().await;
        host.outcome_text(&start, r#"{"z": 18446744073709551615, "y": 1e300}"#).await;
    };
    let answered =
        tokio::time::timeout(Duration::from_secs(20), async { tokio::join!(calling, answering).0 });
    assert_eq!(answered.await.expect("in time"), Ok(json!({"z": u64::MAX, "y": 1e300})));
}
