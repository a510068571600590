//! Over REST, by the query or the header.

use serde_json::{Value, json};

use super::{MARKET, house};
use crate::http::talk::Talk;

const HEADER: &str = "x-toolwire-toolset";

async fn get(talk: &Talk, path: &str, toolset: Option<&str>) -> crate::http::talk::Answer {
    let headers: Vec<_> = toolset.map(|name| (HEADER, name)).into_iter().collect();
    talk.send("GET", path, &headers, "").await
}

fn names(list: &Value) -> Vec<&str> {
    list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn the_query_and_the_header_narrow_alike() {
    let house = house();
    let talk = house.talk("riley");
    for (path, header) in [
        ("/v1/tools", Some("market")),
        ("/v1/tools?toolset=market", None),
        ("/v1/tools?toolset=market", Some("market")),
        ("/v1/tools?toolset=market&toolset=market", None),
        ("/v1/tools?limit=10&toolset=market&view=BASIC", None),
    ] {
        let list = get(&talk, path, header).await.ok();
        assert_eq!(names(&list), MARKET, "{path}");
    }
    let list = get(&talk, "/v1/tools?limit=1&toolset=market", None).await.ok();
    assert_eq!((names(&list), &list["next_cursor"]), (vec!["get_quotes"], &json!("get_quotes")));
    assert_eq!(get(&talk, "/v1/tools/get_quotes?toolset=market", None).await.status, 200);
    let other = get(&talk, "/v1/tools/get_positions?toolset=market", None).await;
    assert_eq!(other.problem(), (404, "UNKNOWN_TOOL".to_owned()));
    let guidance = get(&talk, "/v1/guidance?toolset=market", None).await.ok();
    assert_eq!(guidance["toolset_title"], "The market");
    assert!(guidance["guidance"].as_str().unwrap().starts_with("Name the currency."), "{guidance}");
    let export = get(&talk, "/v1/exports/mcp?toolset=market", None).await.ok();
    assert_eq!(export["export"]["tools"].as_array().unwrap().len(), 2, "{export}");
}

#[tokio::test]
async fn a_call_of_another_tool_is_unknown() {
    let house = house();
    let talk = house.talk("riley");
    let call = async |path: &str| talk.post(path, &json!({"symbol": "AMD"})).await;
    assert_eq!(call("/v1/tools/get_quotes:call?toolset=market").await.status, 200);
    assert_eq!(call("/v1/tools/get_quotes:call?format=model&toolset=market").await.status, 200);
    for path in
        ["/v1/tools/get_positions:call", "/v1/tools/get_positions:invoke", "/v1/tools/get_nothing:call"]
    {
        let refused = call(&format!("{path}?toolset=market")).await;
        assert_eq!(refused.problem(), (404, "UNKNOWN_TOOL".to_owned()), "{path}");
    }
    let intent = call("/v1/intents/positions:call?toolset=market").await;
    assert_eq!(intent.problem(), (404, "UNKNOWN_INTENT".to_owned()));
    // The routes of a domain are calls too.
    assert_eq!(get(&talk, "/api/quotes?symbol=AMD&toolset=market", None).await.status, 200);
    let refused = get(&talk, "/api/positions?symbol=AMD", Some("market")).await;
    assert_eq!(refused.problem(), (404, "UNKNOWN_TOOL".to_owned()));
}

#[tokio::test]
async fn an_agent_has_the_tools_of_the_toolset_alone() {
    let house = house();
    let talk = house.talk("riley");
    let asks = json!({"message": "What is AMD trading at?"});
    for (toolset, calls) in [("facts", 0), ("market", 1)] {
        talk.send("POST", "/api/chat", &[(HEADER, toolset)], &asks.to_string()).await;
        let made = get(&talk, "/v1/calls", None).await.ok();
        assert_eq!(made["calls"].as_array().map_or(0, Vec::len), calls, "{toolset}: {made}");
    }
}

#[tokio::test]
async fn what_is_no_toolset_is_refused_and_never_ignored() {
    let house = house();
    let talk = house.talk("riley");
    for (path, header) in [
        ("/v1/tools?toolset=shop", None),
        ("/v1/tools?toolset=", None),
        ("/v1/tools", Some("shop")),
        ("/v1/tools?toolset=market%20", None),
        ("/api/quotes?symbol=AMD&toolset=Market", None),
    ] {
        assert_eq!(get(&talk, path, header).await.problem(), (404, "UNKNOWN_TOOLSET".to_owned()), "{path}");
    }
    for (path, header) in [
        ("/v1/tools?toolset=market", Some("facts")),
        ("/v1/tools?toolset=market&toolset=facts", None),
        ("/v1/tools?toolset=market&toolset=shop", None),
    ] {
        assert_eq!(get(&talk, path, header).await.problem(), (400, "SEVERAL_TOOLSETS".to_owned()), "{path}");
    }
    for path in [
        "/v1/tools?toolset=a%0Ab",
        // Nothing else is taken for it.
        "/v1/tools?toolsets=market",
        "/v1/tools?Toolset=market",
        "/v1/tools?tools%65t=market",
        "/errors/NOT_FOUND?toolset=market",
    ] {
        assert_eq!(get(&talk, path, None).await.status, 400, "{path}");
    }
}
