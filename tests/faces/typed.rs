//! The tools of the brokerage through their typed RPCs, beside the faces that take the calls of any tool.

use prost_reflect::{DynamicMessage, Kind, MessageDescriptor};
use serde_json::{Value, json};
use tonic_types::StatusExt;

use super::{NONE, program};
use crate::{
    faces::{
        asked::{Answer, Asked, FACES, Face, Places},
        noted::Noted,
    },
    support::{
        descriptors,
        raw::{Raw, RawEnd},
    },
};

const SERVICE: &str = "toolwire.brokerage.v1.BrokerageService";

/// RPC, tool, arguments, and the code of the failure if there is one.
fn cases() -> Vec<(&'static str, &'static str, Value, Option<&'static str>)> {
    vec![
        ("GetActivity", "get_activity", json!({}), None),
        ("GetPositions", "get_positions", json!({"symbol": "AAPL"}), None),
        ("GetPositionsList", "get_positions_list", json!({"asset_class": "stocks"}), None),
        ("GetPerformance", "get_performance", json!({"timeframe": "YTD"}), None),
        ("GetQuotes", "get_quotes", json!({"symbol": "AAPL,MSFT"}), None),
        ("GetFacts", "get_facts", json!({"topic": "etf"}), None),
        ("GetTransfers", "get_transfers", json!({}), None),
        ("GetAccountSummary", "get_account_summary", json!({}), None),
        ("GetSymbolPerformance", "get_symbol_performance", json!({"symbol": "aapl"}), None),
        ("RankPortfolio", "rank_portfolio", json!({"direction": "worst"}), None),
        ("GetPerformanceWithTransfers", "get_performance_with_transfers", json!({"timeframe": "1Y"}), None),
        ("GetQuotes", "get_quotes", json!({"symbol": "NOSUCH"}), Some("NOT_FOUND")),
        ("GetActivity", "get_activity", json!({"account": "nobody's"}), Some("NOT_FOUND")),
        ("GetQuotes", "get_quotes", json!({}), Some("INVALID_ARGUMENT")),
        ("GetPerformance", "get_performance", json!({"timeframe": "2D"}), Some("INVALID_ARGUMENT")),
        (
            "RankPortfolio",
            "rank_portfolio",
            json!({"direction": "up", "basis": "x"}),
            Some("INVALID_ARGUMENT"),
        ),
    ]
}

#[tokio::test]
async fn a_typed_rpc_returns_what_the_other_faces_do() {
    let mut program = program(NONE).await;
    let places = Places::of(&program);
    let service = descriptors().get_service_by_name(SERVICE).unwrap();
    for (at, (rpc, tool, arguments, code)) in cases().into_iter().enumerate() {
        let method = service.methods().find(|it| it.name() == rpc).unwrap();
        let request = DynamicMessage::deserialize(method.input(), arguments.clone()).unwrap();
        let end = Raw::connect(places.grpc).await.call(&format!("/{SERVICE}/{rpc}"), &[], &request).await;
        let noted = Noted::read(&mut program, tool, 0).await;
        assert_eq!(noted.face, Face::Grpc.name());
        let (end, lines) = (End::of(&end, &method.output()), noted.lines);
        for face in FACES {
            let answer = face.ask(&places, &Asked::new(tool, &arguments, face, at)).await;
            assert_eq!(answer.code(), code, "{face:?} {rpc} {arguments}: {answer:?}");
            assert_eq!(End::of_any(answer, &method.output()), end, "{face:?} {rpc} {arguments}");
            let noted = Noted::read(&mut program, tool, 0).await;
            assert_eq!(noted.lines, lines, "{face:?} {rpc} {arguments}");
        }
    }
}

/// What came of a call, as far as a typed RPC can say it.
#[derive(Debug, PartialEq)]
enum End {
    Data(Value),
    /// Code, message, and pointer and description of each violation.
    Failed(String, String, Vec<(String, String)>),
}

impl End {
    fn of(end: &RawEnd, output: &MessageDescriptor) -> Self {
        if end.status() == 0 {
            let response = DynamicMessage::decode(output.clone(), end.messages[0].clone()).unwrap();
            return Self::data(response.get_field_by_name("data").unwrap().as_message().unwrap());
        }
        let status = end.grpc_status();
        let details = status.get_error_details();
        let violations = details.bad_request().map(|it| it.field_violations.clone()).unwrap_or_default();
        let violations = violations.into_iter().map(|it| (it.field, it.description)).collect();
        Self::Failed(details.error_info().unwrap().reason.clone(), status.message().to_owned(), violations)
    }

    fn data(message: &DynamicMessage) -> Self {
        Self::Data(serde_json::to_value(message).unwrap())
    }

    fn of_any(answer: Answer, output: &MessageDescriptor) -> Self {
        let code = answer.code().unwrap_or_default().to_owned();
        match answer {
            Answer::Data(data) => {
                let Kind::Message(of) = output.get_field_by_name("data").unwrap().kind() else { panic!() };
                Self::data(&DynamicMessage::deserialize(of, data).unwrap())
            }
            Answer::Error(error) => {
                let violations = error.field_violations.into_iter();
                let violations = violations.map(|it| (it.pointer, it.description)).collect();
                Self::Failed(code, error.message, violations)
            }
            other => panic!("{other:?}"),
        }
    }
}
