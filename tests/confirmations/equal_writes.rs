//! `resume_equal_write`: a call that waits for a person lends its `request_id` to an equal call without one, so that
//! the approval is found and the write is made once.

use super::*;
use toolwire::contract::proto::v1::{
    CancelCallRequest, GetCallRequest, ToolContext, cancel_call_request, get_call_request,
};

fn resuming(value: &str) -> CallToolRequest {
    CallToolRequest { resume_equal_write: true, ..call("debug_confirm", &json!({"value": value}), None) }
}

impl Person {
    async fn asks_again(&self, value: &str) -> ConfirmationRequired {
        confirmation(self.call(resuming(value)).await)
    }
}

#[tokio::test]
async fn an_equal_call_finds_the_confirmation_and_then_the_approval() {
    let house = House::with_users();
    let (riley, alex) = (house.person("riley").await, house.person("alex").await);
    let asked = riley.asks_again("x").await;
    for _ in 0..3 {
        assert_eq!(riley.asks_again("x").await, asked);
    }
    alex.approve(&asked.confirmation_id).await.unwrap();
    assert_eq!(data(riley.call(resuming("x")).await)["writes"], 1);
    assert_eq!(riley.state(&asked.confirmation_id).await, ConfirmationState::Used);
    assert_ne!(riley.asks_again("x").await.confirmation_id, asked.confirmation_id, "another write");
}

#[tokio::test]
async fn a_denial_is_told_once_and_then_another_equal_call_asks_anew() {
    let house = House::with_users();
    let (riley, alex) = (house.person("riley").await, house.person("alex").await);
    let asked = riley.asks_again("x").await;
    alex.deny(&asked.confirmation_id).await.unwrap();
    let (code, message) = error(riley.call(resuming("x")).await);
    assert_eq!(code, ToolErrorCode::ConfirmationDenied);
    assert!(message.contains("not today"), "{message}");
    assert_ne!(riley.asks_again("x").await.confirmation_id, asked.confirmation_id);
}

#[tokio::test]
async fn a_changed_definition_lends_nothing_of_the_earlier_one() {
    let house = House::open();
    let riley = house.person("riley").await;
    house.patch("add_to_watchlist", &json!({"requires_confirmation": true}));
    let add = || CallToolRequest {
        resume_equal_write: true,
        ..call("add_to_watchlist", &json!({"symbol": "TCS"}), None)
    };
    let asked = confirmation(riley.call(add()).await);
    assert_eq!(confirmation(riley.call(add()).await), asked);
    house.patch("add_to_watchlist", &json!({"title": "Another"}));
    let again = confirmation(riley.call(add()).await);
    assert_ne!((&again.confirmation_id, &again.request_id), (&asked.confirmation_id, &asked.request_id));
}

#[tokio::test]
async fn neither_another_user_nor_another_task_is_lent_a_confirmation() {
    let house = House::with_users();
    let (riley, sam) = (house.person("riley").await, house.person("sam").await);
    let asked = riley.asks_again("x").await;
    assert_ne!(sam.asks_again("x").await.confirmation_id, asked.confirmation_id);
    let mut of_task = resuming("x");
    of_task.context = Some(ToolContext { task_id: "t-1".to_owned(), ..ToolContext::default() });
    assert_ne!(confirmation(riley.call(of_task).await).confirmation_id, asked.confirmation_id);
    assert_eq!(riley.asks_again("x").await, asked);
}

#[tokio::test]
async fn a_withdrawn_call_lends_nothing() {
    let house = House::open();
    let riley = house.person("riley").await;
    let asked = riley.asks_again("x").await;
    let id = cancel_call_request::Call::RequestId(asked.request_id.clone());
    let cancel = CancelCallRequest { call: Some(id) };
    riley.tools.clone().cancel_call(riley.request(cancel)).await.unwrap();
    assert_ne!(riley.asks_again("x").await.request_id, asked.request_id);
}

#[tokio::test(flavor = "multi_thread")]
async fn equal_calls_that_wait_at_the_same_time_use_one_approval() {
    let house = House::with_users();
    let (riley, alex) = (house.person("riley").await, house.person("alex").await);
    let asked = riley.asks_again("x").await;
    let waiting = (0..8).map(|_| {
        let riley = riley.clone();
        let wait_for_confirmation = Some(prost_types::Duration { seconds: 30, nanos: 0 });
        let message = CallToolRequest { wait_for_confirmation, ..resuming("x") };
        tokio::spawn(async move { data(riley.call(message).await)["writes"].clone() })
    });
    let waiting: Vec<_> = waiting.collect();
    alex.approve(&asked.confirmation_id).await.unwrap();
    for one in waiting {
        assert_eq!(one.await.unwrap(), 1);
    }
}

/// Every answer names the identifier, so that a caller can go on with it.
#[tokio::test]
async fn answers_name_the_request_id() {
    let house = House::open();
    let riley = house.person("riley").await;
    let asked = riley.asks_again("x").await;
    let answer = riley.tools.clone().call_tool(riley.request(resuming("x"))).await.unwrap().into_inner();
    assert_eq!(answer.request_id, asked.request_id);
    let message = InvokeToolRequest {
        target: Some(invoke_tool_request::Target::Tool("debug_write".to_owned())),
        input: Some(invoke_tool_request::Input::ArgumentsJson(json!({"value": "x"}).to_string())),
        resume_equal_write: true,
        ..InvokeToolRequest::default()
    };
    let mut stream = riley.tools.clone().invoke_tool(riley.request(message)).await.unwrap().into_inner();
    let mut named = Vec::new();
    while let Some(message) = stream.message().await.unwrap() {
        named.push(message.event.unwrap().request_id);
    }
    assert!(
        named.len() >= 2 && named.iter().all(|id| id.parse::<RequestId>().is_ok() && *id == named[0]),
        "{named:?}"
    );
    let plain = call("debug_write", &json!({"value": "x"}), Some(RequestId::generate()));
    let answer = riley.tools.clone().call_tool(riley.request(plain)).await.unwrap().into_inner();
    assert_eq!(answer.request_id, "");
}

/// A caller that does not hand the outcome on leaves it to a query of the call.
#[tokio::test]
async fn an_outcome_that_is_delivered_by_get_call_is_lent_until_then() {
    let house = House::open();
    let riley = house.person("riley").await;
    let write = || CallToolRequest {
        resume_equal_write: true,
        deliver_by_get_call: true,
        ..call("debug_write", &json!({"value": "x"}), None)
    };
    assert_eq!(data(riley.call(write()).await)["writes"], 1);
    let answer = riley.tools.clone().call_tool(riley.request(write())).await.unwrap().into_inner();
    let get = GetCallRequest {
        call: Some(get_call_request::Call::RequestId(answer.request_id)),
        tool: "debug_write".to_owned(),
        delivers: true,
        ..GetCallRequest::default()
    };
    let looks = GetCallRequest { delivers: false, ..get.clone() };
    riley.tools.clone().get_call(riley.request(looks)).await.unwrap();
    assert_eq!(data(riley.call(write()).await)["writes"], 1);
    let got = riley.tools.clone().get_call(riley.request(get)).await.unwrap().into_inner();
    assert!(matches!(came(got.result.unwrap().outcome), Came::Data(data) if data["writes"] == 1));
    assert_eq!(data(riley.call(write()).await)["writes"], 2);
}

/// The identifier by which the caller knows a call stays good although another attempt carries it out.
#[tokio::test]
async fn a_call_is_found_by_the_attempt_that_asked() {
    let house = House::open();
    let riley = house.person("riley").await;
    let first = riley.tools.clone().call_tool(riley.request(resuming("x"))).await.unwrap().into_inner();
    let asked = riley.asks_again("x").await;
    riley.approve(&asked.confirmation_id).await.unwrap();
    assert_eq!(data(riley.call(resuming("x")).await)["writes"], 1);
    let get =
        GetCallRequest { call: Some(get_call_request::Call::CallId(first.call_id)), ..Default::default() };
    let got = riley.tools.clone().get_call(riley.request(get)).await.unwrap().into_inner();
    assert_eq!(got.call.unwrap().request_id, first.request_id);
    assert!(matches!(got.result.unwrap().outcome, Some(Outcome::Data(_))));
}
