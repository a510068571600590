//! Tokens that are bound to a toolset, by a scope or an audience, whatever a request names.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tonic::{Code, Request};
use toolwire::contract::proto::v1::{GetToolRequest, ListToolsRequest};

use super::{MARKET, configure};
use crate::{
    http::{
        house::House,
        issuers::{Issuer, RULES},
        talk::Answer,
    },
    mcp::client::{ERAS, Message},
    support::{assert_refused, server::definition},
};

const URL: &str = "https://tools.example";
const TOOLSET: &str = "x-toolwire-toolset";

fn house(issuer: &Issuer) -> House {
    House::with(|config| {
        config.auth = issuer.configured(RULES).auth;
        config.http.public_url = Some(URL.to_owned());
        configure(config);
    })
}

/// What a token of a user with all rights says besides.
fn bound_by(issuer: &Issuer, claim: &str, value: Value) -> String {
    let header = issuer.token("8f2c", &["support"], &[(claim, value)]);
    header.trim_start_matches("authorization: ").to_owned()
}

/// The tokens of which each is bound to `market`.
fn bound(issuer: &Issuer) -> [String; 3] {
    [
        bound_by(issuer, "scope", json!("openid tools:market")),
        bound_by(issuer, "aud", json!(format!("{URL}/mcp/market"))),
        bound_by(issuer, "aud", json!(["toolwire", format!("{URL}/mcp/market")])),
    ]
}

async fn get(house: &House, token: &str, path: &str, toolset: Option<&str>) -> Answer {
    let named = toolset.map(|name| (TOOLSET, name));
    let headers: Vec<_> = [("authorization", token)].into_iter().chain(named).collect();
    house.talk("riley").send("GET", path, &headers, "").await
}

fn with_token<T>(message: T, token: &str) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert("authorization", token.parse().unwrap());
    request
}

fn names(list: &Value) -> Vec<&str> {
    let tools = list["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn over_rest_a_bound_token_has_the_tools_of_its_toolset_alone() {
    let issuer = Issuer::start().await;
    let house = house(&issuer);
    for token in bound(&issuer) {
        for (path, toolset) in
            [("/v1/tools", None), ("/v1/tools", Some("market")), ("/v1/tools?toolset=market", None)]
        {
            assert_eq!(names(&get(&house, &token, path, toolset).await.ok()), MARKET, "{path}");
        }
        assert_eq!(names(&get(&house, &token, "/v1/tools?toolset=facts", None).await.ok()), [""; 0]);
        assert_eq!(get(&house, &token, "/v1/tools/get_quotes", None).await.status, 200);
        for (path, toolset) in [
            ("/v1/tools/get_positions", None),
            ("/v1/tools/get_nothing", None),
            // A toolset of which the token is not: its tools, and those that it is for.
            ("/v1/tools/get_facts", Some("facts")),
            ("/v1/tools/get_quotes", Some("facts")),
            ("/api/positions?symbol=AMD", None),
        ] {
            let refused = get(&house, &token, path, toolset).await;
            assert_eq!(refused.problem(), (404, "UNKNOWN_TOOL".to_owned()), "{path} {toolset:?}");
        }
        let headers = [("authorization", token.as_str())];
        let call = async |tool: &str| {
            let path = format!("/v1/tools/{tool}:call");
            house.talk("riley").send("POST", &path, &headers, r#"{"symbol": "AMD"}"#).await
        };
        // It is carried out, and has no data of this user.
        assert_eq!(call("get_quotes").await.problem(), (404, "NOT_FOUND".to_owned()));
        assert_eq!(call("get_positions").await.problem(), (404, "UNKNOWN_TOOL".to_owned()));
        let guidance = get(&house, &token, "/v1/guidance", None).await.ok();
        assert_eq!(guidance["toolset_title"], "The market");
    }
}

#[tokio::test]
async fn what_a_token_is_not_for_is_recorded_as_refused_and_what_a_request_leaves_out_is_not() {
    let issuer = Issuer::start().await;
    let house = house(&issuer);
    let token = bound_by(&issuer, "scope", json!("tools:market"));
    for (tool, toolset) in
        [("get_quotes", Some("facts")), ("get_positions", None), ("get_facts", Some("facts"))]
    {
        let path = format!("/v1/tools/{tool}");
        assert_eq!(get(&house, &token, &path, toolset).await.status, 404, "{tool}");
    }
    let mut targets = BTreeSet::new();
    // They are written as they come.
    while targets.len() < 2 {
        let refusals = get(&house, &token, "/v1/refusals", None).await.ok();
        let all = refusals["refusals"].as_array().into_iter().flatten();
        targets = all.map(|it| format!("{} {}", it["reason"], it["target"])).collect();
    }
    let expected = ["get_facts", "get_positions"].map(|tool| format!("\"tool_not_allowed\" \"{tool}\""));
    assert_eq!(targets, BTreeSet::from(expected));
}

#[tokio::test]
async fn it_sees_of_its_users_calls_and_confirmations_those_of_its_toolset_alone() {
    let issuer = Issuer::start().await;
    let house = house(&issuer);
    let whole = bound_by(&issuer, "aud", json!(format!("{URL}/mcp")));
    let talk = house.talk("riley");
    let call = async |tool: &str, key: &str| {
        let headers = [("authorization", whole.as_str()), ("idempotency-key", key)];
        let path = format!("/v1/tools/{tool}:call");
        talk.send("POST", &path, &headers, r#"{"symbol": "AMD"}"#).await
    };
    let own = call("get_quotes", "6f1c2e0a-7b1d-4e9b-9c50-0d6a0f2b7a11").await;
    let other = call("get_positions", "6f1c2e0a-7b1d-4e9b-9c50-0d6a0f2b7a12").await;
    let asked = call("add_to_watchlist", "6f1c2e0a-7b1d-4e9b-9c50-0d6a0f2b7a13").await;
    // The tools are carried out, and have no data of this user.
    assert_eq!((own.status, other.status, asked.status), (404, 404, 428), "{asked:?}");
    let path_of = |answer: &Answer| {
        let id = answer.headers["x-toolwire-call-id"].to_str().unwrap();
        format!("/v1/calls/{id}")
    };
    let confirmation = asked.headers["location"].to_str().unwrap();
    let count = |list: &Answer, of: &str| list.ok()[of].as_array().map_or(0, Vec::len);
    let calls = get(&house, &whole, "/v1/calls", None).await;
    let confirmations = get(&house, &whole, "/v1/confirmations", None).await;
    assert_eq!((count(&calls, "calls"), count(&confirmations, "confirmations")), (3, 1), "{calls:?}");
    for token in bound(&issuer) {
        let calls = get(&house, &token, "/v1/calls", None).await;
        assert_eq!(count(&calls, "calls"), 1, "{calls:?}");
        assert_eq!(calls.ok()["calls"][0]["tool"], "get_quotes");
        assert_eq!(get(&house, &token, &path_of(&own), None).await.status, 200);
        let refused = get(&house, &token, &path_of(&other), None).await;
        assert_eq!(refused.problem(), (404, "UNKNOWN_CALL".to_owned()));
        let confirmations = get(&house, &token, "/v1/confirmations", None).await;
        assert_eq!(count(&confirmations, "confirmations"), 0, "{confirmations:?}");
        let refused = get(&house, &token, confirmation, None).await;
        assert_eq!(refused.problem(), (404, "UNKNOWN_CONFIRMATION".to_owned()));
    }
}

#[tokio::test]
async fn it_cancels_calls_of_its_toolset_alone() {
    let issuer = Issuer::start().await;
    let house = house(&issuer);
    let whole = bound_by(&issuer, "aud", json!(format!("{URL}/mcp")));
    let talk = house.talk("riley");
    let asks = async |tool: &str| {
        let headers = [("authorization", whole.as_str()), ("x-toolwire-require-confirmation", "true")];
        let path = format!("/v1/tools/{tool}:call");
        let asked = talk.send("POST", &path, &headers, r#"{"symbol": "AMD"}"#).await;
        assert_eq!(asked.status, 428, "{asked:?}");
        format!("/v1/calls/{}:cancel", asked.headers["x-toolwire-call-id"].to_str().unwrap())
    };
    let cancels = async |path: &str, token: &str| {
        let answer = talk.send("POST", path, &[("authorization", token)], "{}").await.ok();
        answer["cancelled"].as_bool().unwrap_or_default()
    };
    for token in bound(&issuer) {
        let (own, other) = (asks("get_quotes").await, asks("get_positions").await);
        let unknown = "/v1/calls/01a20126-d81f-7c3d-8e5f-0123456789ab:cancel";
        assert!(!cancels(&other, &token).await && !cancels(unknown, &token).await);
        assert!(cancels(&own, &token).await);
        assert!(cancels(&other, &whole).await, "it waited still");
    }
}

#[tokio::test]
async fn a_token_for_the_whole_is_not_bound_and_one_for_nothing_has_no_tools() {
    let issuer = Issuer::start().await;
    let house = house(&issuer);
    let whole = bound_by(&issuer, "aud", json!(format!("{URL}/mcp")));
    let list = get(&house, &whole, "/v1/tools", None).await.ok();
    assert!(names(&list).len() > MARKET.len() && names(&list).contains(&"get_positions"), "{list}");
    assert_eq!(names(&get(&house, &whole, "/v1/tools?toolset=market", None).await.ok()), MARKET);
    let gone = bound_by(&issuer, "scope", json!("tools:gone"));
    assert_eq!(names(&get(&house, &gone, "/v1/tools", None).await.ok()), [""; 0]);
    let elsewhere = bound_by(&issuer, "aud", json!(format!("{URL}/mcp/gone")));
    let refused = get(&house, &elsewhere, "/v1/tools", None).await;
    assert_eq!(refused.problem(), (401, "CREDENTIALS_REJECTED".to_owned()));
}

#[tokio::test]
async fn over_mcp_and_grpc_it_is_bound_alike() {
    let issuer = Issuer::start().await;
    let house = house(&issuer);
    let talk = house.talk("riley");
    let whole = bound_by(&issuer, "aud", json!(format!("{URL}/mcp")));
    for era in ERAS {
        for token in bound(&issuer) {
            let send = async |mut message: Message, token: &str, path: &str| {
                message.headers.push(("authorization", token.to_owned()));
                message.send(&talk, path).await
            };
            for path in ["/mcp", "/mcp/market", "/mcp?toolset=market"] {
                let list = send(Message::new(era, "tools/list", json!({})), &token, path).await.ok();
                assert_eq!(names(&list["result"]), MARKET, "{path}");
            }
            let facts = send(Message::new(era, "tools/list", json!({})), &token, "/mcp/facts").await.ok();
            assert_eq!(names(&facts["result"]), [""; 0]);
            // The same user has called it with another token, and it is known there.
            let positions = || Message::call(era, "get_positions", &json!({"symbol": "AMD"}), &json!({}));
            send(positions(), &whole, "/mcp").await.ok();
            let refused = send(positions(), &token, "/mcp").await;
            assert!(refused.text.contains("Unknown tool: get_positions"), "{refused:?}");
        }
    }
    for token in bound(&issuer) {
        let mut tools = house.server.tools().await;
        let list = with_token(ListToolsRequest::default(), &token);
        let mut stream = tools.list_tools(list).await.unwrap().into_inner();
        let mut listed = Vec::new();
        while let Some(answer) = stream.message().await.unwrap() {
            listed.push(definition(&answer.tool).name);
        }
        assert_eq!(listed, MARKET);
        let other = GetToolRequest { name: "get_positions".to_owned(), ..GetToolRequest::default() };
        assert_refused(tools.get_tool(with_token(other, &token)).await, Code::NotFound, "UNKNOWN_TOOL");
    }
}

#[tokio::test]
async fn an_agent_has_the_tools_of_the_token_alone() {
    let issuer = Issuer::start().await;
    let house = house(&issuer);
    let asks = json!({"message": "What is AMD trading at?"}).to_string();
    for (toolset, calls) in [("facts", 0), ("market", 1)] {
        let token = bound_by(&issuer, "scope", json!(format!("tools:{toolset}")));
        house.talk("riley").send("POST", "/api/chat", &[("authorization", &token)], &asks).await;
        let made = get(&house, &token, "/v1/calls", None).await.ok();
        assert_eq!(made["calls"].as_array().map_or(0, Vec::len), calls, "{toolset}: {made}");
    }
}

#[tokio::test]
async fn a_toolset_has_a_document_of_its_own_that_its_challenge_names() {
    let issuer = Issuer::start().await;
    let house = house(&issuer);
    let at = "/.well-known/oauth-protected-resource/mcp/market";
    let refused =
        Message::new(ERAS[1], "tools/list", json!({})).send(&house.talk("riley"), "/mcp/market").await;
    assert_eq!(refused.status, 401);
    let challenge = refused.headers["www-authenticate"].to_str().unwrap();
    assert_eq!(challenge, format!("Bearer resource_metadata=\"{URL}{at}\", scope=\"tools\""));
    let answer = house.talk("riley").get(at).await;
    assert_eq!(answer.headers["cache-control"], "public, max-age=3600");
    assert_eq!(answer.ok()["resource"], format!("{URL}/mcp/market"));
    for nothing in ["gone", "Market", "market/more"] {
        let answer = house.talk("riley").get(&at.replace("market", nothing)).await;
        assert_eq!(answer.problem(), (404, "UNKNOWN_ROUTE".to_owned()), "{nothing}");
    }
}

#[tokio::test]
async fn toolsets_that_are_replaced_count_for_tokens_at_once() {
    let issuer = Issuer::start().await;
    let house = house(&issuer);
    let token = bound_by(&issuer, "aud", json!(format!("{URL}/mcp/market")));
    assert_eq!(names(&get(&house, &token, "/v1/tools", None).await.ok()), MARKET);
    let mut config = issuer.configured(RULES);
    let file = "[toolsets.market]\ntools = ['get_positions']\n[toolsets.more]\ntools = ['get_quotes']\n";
    config.toolsets = super::toolsets_of(file);
    let changes = house.server.app.replace_access(&config).unwrap();
    assert_eq!(changes, ["toolset removed: facts", "toolset changed: market", "toolset added: more"]);
    assert_eq!(names(&get(&house, &token, "/v1/tools", None).await.ok()), ["get_positions"]);
    let more = bound_by(&issuer, "aud", json!(format!("{URL}/mcp/more")));
    assert_eq!(names(&get(&house, &more, "/v1/tools", Some("more")).await.ok()), ["get_quotes"]);
    let gone = get(&house, &token, "/v1/tools", Some("facts")).await;
    assert_eq!(gone.problem(), (404, "UNKNOWN_TOOLSET".to_owned()));
    assert_eq!(house.talk("riley").get("/.well-known/oauth-protected-resource/mcp/more").await.status, 200);
    config.toolsets = super::toolsets_of("[toolsets.other]\ntools = ['*']\n");
    house.server.app.replace_access(&config).unwrap();
    let refused = get(&house, &token, "/v1/tools", None).await;
    assert_eq!(refused.problem(), (401, "CREDENTIALS_REJECTED".to_owned()), "its audience is gone");
}
