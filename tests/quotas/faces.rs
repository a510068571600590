//! A call over the quota of its user is refused alike on every face, and is nobody else's matter.

use serde_json::json;
use tonic::{Code, Request};
use tonic_types::StatusExt;
use toolwire::{
    contract::proto::v1::{CallToolRequest, InvokeToolRequest, call_tool_request, invoke_tool_request},
    domains::brokerage::proto::v1::GetQuotesRequest,
    server::app::App,
};

use super::{call, configure, house, quote};
use crate::{
    http::{house::House, talk::Talk},
    mcp::client::{ERAS, Message, messages, text},
    support::server::Server,
};

const TWO: &str = "[[quota]]\nwho = ['user:riley']\ncalls = 2\nwindow = '1h'\n";

fn of_riley<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert("x-toolwire-user", "riley".parse().unwrap());
    request
}

#[tokio::test]
async fn the_call_after_the_last_is_refused_on_every_face() {
    let house = house(TWO);
    let riley = house.talk("riley");
    for _ in 0..2 {
        assert_eq!(call(&riley, "get_quotes", &quote()).await.status, 200);
    }
    let over = call(&riley, "get_quotes", &quote()).await;
    assert_eq!(over.problem(), (429, "RATE_LIMITED".to_owned()));
    let wait: u64 = over.headers["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((3_500..=3_600).contains(&wait), "{over:?}");
    let detail = over.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.starts_with("your quota of 2 calls in 1h is used up; call again in 3"), "{detail}");

    let mut tools = house.server.tools().await;
    let message = CallToolRequest {
        target: Some(call_tool_request::Target::Tool("get_quotes".to_owned())),
        input: Some(call_tool_request::Input::ArgumentsJson(quote().to_string())),
        ..CallToolRequest::default()
    };
    let status = tools.call_tool(of_riley(message.clone())).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    let details = status.get_error_details();
    assert_eq!(details.error_info().unwrap().reason, "RATE_LIMITED");
    let violation = &details.quota_failure().unwrap().violations[0];
    assert_eq!((violation.subject.as_str(), violation.description.as_str()), ("user:riley", "2 calls in 1h"));
    assert!(details.retry_info().unwrap().retry_delay.unwrap().as_secs() > 3_000);
    let message_of_events = InvokeToolRequest {
        target: Some(invoke_tool_request::Target::Tool("get_quotes".to_owned())),
        input: Some(invoke_tool_request::Input::ArgumentsJson(quote().to_string())),
        ..InvokeToolRequest::default()
    };
    let status = tools.invoke_tool(of_riley(message_of_events)).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    let mut typed = house.server.brokerage().await;
    let status =
        typed.get_quotes(of_riley(GetQuotesRequest { symbol: Some("AMD".to_owned()) })).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);

    for era in ERAS {
        let message = Message::call(era, "get_quotes", &quote(), &json!({}));
        let answer = messages(&message.send(&riley, "/mcp").await).pop().unwrap();
        assert!(
            text(&answer["result"], 0).starts_with("FAILED RATE_LIMITED: your quota of 2 calls in 1h"),
            "{answer}"
        );
        let error = &answer["result"]["_meta"]["toolwire/error"];
        assert!(
            error["retryable"] == true && error["retry_after_ms"].as_u64().unwrap() > 3_000_000,
            "{error}"
        );
    }
    for path in ["/v1/intents/quotes:call", "/v1/tools/get_quotes:invoke"] {
        assert_eq!(riley.post(path, &quote()).await.problem().0, 429, "{path}");
    }
    assert_eq!(riley.get("/api/quotes?symbol=AMD").await.status, 429);

    // Everything that is no call goes on, and so does everybody else.
    assert_eq!(riley.get("/v1/tools").await.status, 200);
    assert_eq!(call(&house.talk("demo"), "get_facts", &json!({"topic": "etf"})).await.status, 200);
    tools.call_tool(message).await.unwrap();
    let ended = riley.get("/v1/calls").await.ok();
    let refused =
        ended["calls"].as_array().unwrap().iter().filter(|call| call["code"] == "RATE_LIMITED").count();
    assert!(refused > 5, "{ended}");
}

#[tokio::test]
async fn each_user_has_a_count_and_the_first_quota_that_is_used_up_counts() {
    let house = house(
        "[[quota]]\ncalls = 1\nwindow = '1h'\n[[quota]]\nwho = ['user:riley']\ncalls = 3\nwindow = '1m'\n",
    );
    for user in ["riley", "demo", "a:b", "a"] {
        let (talk, facts) = (house.talk(user), json!({"topic": "etf"}));
        assert_eq!(call(&talk, "get_facts", &facts).await.status, 200, "{user}");
        let over = call(&talk, "get_facts", &facts).await;
        assert!(over.text.contains("1 call in 1h"), "{over:?}");
    }
}

#[tokio::test]
async fn the_processes_of_a_state_count_together() {
    let state = tempfile::tempdir().unwrap();
    let house = House::with(|config| {
        configure(config, TWO);
        config.state.dir = Some(state.path().to_owned());
    });
    let mut config = crate::support::server::config_with_http();
    configure(&mut config, TWO);
    config.state.dir = Some(state.path().to_owned());
    let app = App::build(&config, &toolwire::domains::bundled()).unwrap();
    let other = Server::of(app, config);
    let talks = [house.talk("riley"), Talk::to(other.http.unwrap(), "riley")];
    for talk in &talks {
        assert_eq!(call(talk, "get_quotes", &quote()).await.status, 200);
    }
    for talk in &talks {
        assert_eq!(call(talk, "get_quotes", &quote()).await.status, 429);
    }
}

#[tokio::test]
async fn a_flood_is_admitted_as_often_as_the_quota_says() {
    let house = house("[[quota]]\ncalls = 7\nwindow = '1h'\n");
    let talk = house.talk("riley");
    let quote = quote();
    let answers = futures_util::future::join_all((0..40).map(|_| call(&talk, "get_quotes", &quote))).await;
    let admitted = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(admitted, 7);
    assert!(answers.iter().all(|answer| matches!(answer.status, 200 | 429)));
}
