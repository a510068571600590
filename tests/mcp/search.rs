//! `?mode=search`: four tools in place of the list, whose calls are those of the tools found.

use serde_json::{Value, json};

use super::{
    client::{ERAS, Era, Message, Stdio, house, messages, text},
    confirming::{Approver, confirmation_id, house_with},
    listing::names,
};
use crate::http::talk::Talk;

const URL: &str = "/mcp?mode=search";
const FOUR: [&str; 4] = ["call_read_tool", "call_tool", "describe_tool", "find_tools"];

async fn ask_at(talk: &Talk, path: &str, era: Era, method: &str, params: Value) -> Value {
    let answer = Message::new(era, method, params).send(talk, path).await;
    messages(&answer).pop().unwrap_or_else(|| panic!("{answer:?}"))
}

async fn call(talk: &Talk, era: Era, tool: &str, arguments: Value) -> Value {
    ask_at(talk, URL, era, "tools/call", json!({"name": tool, "arguments": arguments})).await
}

async fn result(talk: &Talk, tool: &str, arguments: Value) -> Value {
    let mut answer = call(talk, Era::New, tool, arguments).await;
    assert!(answer["result"].is_object(), "{answer}");
    answer["result"].take()
}

fn found(result: &Value) -> Vec<&str> {
    let tools = result["structuredContent"]["tools"].as_array().unwrap_or_else(|| panic!("{result}"));
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn four_tools_stand_for_all_and_a_write_is_none_of_the_reads() {
    let house = house();
    let talk = house.talk("riley");
    for era in ERAS {
        let list = ask_at(&talk, URL, era, "tools/list", json!({})).await;
        assert_eq!(names(&list), FOUR, "{list}");
        for tool in list["result"]["tools"].as_array().unwrap() {
            let hints = &tool["annotations"];
            let is_write = tool["name"] == "call_tool";
            assert_eq!(
                (&hints["readOnlyHint"], &hints["destructiveHint"]),
                (&json!(!is_write), &json!(is_write))
            );
            assert_eq!(tool["inputSchema"]["type"], "object");
        }
        let list = ask_at(&talk, "/mcp?mode=list", era, "tools/list", json!({})).await;
        assert!(names(&list).len() > 40);
    }
    let told = ask_at(&talk, URL, Era::New, "server/discover", json!({})).await;
    let told = told["result"]["instructions"].as_str().unwrap();
    assert!(
        told.starts_with("The tools are not listed. Find one by find_tools") && told.contains("Prioritize")
    );
    for mode in ["", "Search", "all", "search&mode=list"] {
        let answer =
            Message::new(Era::New, "tools/list", json!({})).send(&talk, &format!("/mcp?mode={mode}")).await;
        assert_eq!(answer.status, if mode.is_empty() { 200 } else { 400 }, "{mode}");
    }
}

#[tokio::test]
async fn a_tool_is_found_described_and_called() {
    let house = house();
    let talk = house.talk("riley");
    for query in ["quotes", "QUOTES of the market!", "quotes zzzz"] {
        let answer = result(&talk, "find_tools", json!({"query": query})).await;
        assert!(found(&answer).contains(&"get_quotes"), "{query}: {answer}");
        let one = &answer["structuredContent"]["tools"][0];
        assert!(one["description"].is_string() && one["read_only"].is_boolean(), "{one}");
        assert_eq!(serde_json::from_str::<Value>(text(&answer, 0)).unwrap(), answer["structuredContent"]);
    }
    let all = result(&talk, "find_tools", json!({"query": "", "limit": 3})).await;
    assert_eq!(found(&all).len(), 3);
    assert!(all["structuredContent"]["more"].as_u64().unwrap() > 30, "{all}");
    let none = result(&talk, "find_tools", json!({"query": "zzzz"})).await;
    assert!(found(&none).is_empty() && none["structuredContent"]["advice"].is_string(), "{none}");

    let list = ask_at(&talk, "/mcp", Era::New, "tools/list", json!({})).await;
    let listed = list["result"]["tools"].as_array().unwrap();
    for name in ["get_quotes", "debug_write"] {
        let described = result(&talk, "describe_tool", json!({"name": name})).await;
        let listed = listed.iter().find(|tool| tool["name"] == name).unwrap();
        assert_eq!(described["structuredContent"], *listed);
    }
    for era in ERAS {
        let quotes = json!({"name": "get_quotes", "arguments": {"symbol": "AMD"}});
        for tool in ["call_read_tool", "call_tool"] {
            let answer = call(&talk, era, tool, quotes.clone()).await;
            let direct = ask_at(&talk, "/mcp", era, "tools/call", quotes.clone()).await;
            assert_eq!(
                answer["result"]["structuredContent"], direct["result"]["structuredContent"],
                "{answer}"
            );
        }
    }
}

#[tokio::test]
async fn a_read_is_no_write_whatever_it_is_called_by() {
    let house = house();
    let talk = house.talk("riley");
    let write = json!({"name": "debug_write", "arguments": {"value": "once"}});
    let refused = result(&talk, "call_read_tool", write.clone()).await;
    assert_eq!(refused["isError"], true, "{refused}");
    assert!(text(&refused, 0).contains("debug_write does more than read: call it by call_tool"), "{refused}");
    let made = talk.get("/v1/calls").await.ok();
    assert_eq!(made["calls"].as_array().map_or(0, Vec::len), 0, "{made}");

    let first = result(&talk, "call_tool", write).await;
    let key = first["_meta"]["toolwire/request_id"].as_str().unwrap();
    let again = json!({"name": "debug_write", "arguments": {"value": "once", "request_id": key}});
    let again = result(&talk, "call_tool", again).await;
    assert_eq!(first["structuredContent"], again["structuredContent"]);
    let made = talk.get("/v1/calls").await.ok();
    assert!(made["calls"].as_array().unwrap().iter().all(|call| call["tool"] == "debug_write"), "{made}");
    let other = json!({"name": "debug_write", "arguments": {"value": "twice", "request_id": key}});
    assert!(text(&result(&talk, "call_tool", other).await, 0).contains("REQUEST_ID_REUSED"));
}

#[tokio::test]
async fn a_tool_that_becomes_a_write_is_called_as_a_read_no_longer() {
    let house = house();
    let talk = house.talk("riley");
    let facts = json!({"name": "get_facts", "arguments": {"topic": "etf"}});
    let read = result(&talk, "call_read_tool", facts.clone()).await;
    assert_ne!(read["isError"], true, "{read}");
    house.patch("get_facts", &json!({"category": "write"}));
    let snapshot = house.server.app.registry.snapshot();
    assert!(snapshot.problems().is_empty(), "{:?}", snapshot.problems());
    let refused = result(&talk, "call_read_tool", facts).await;
    assert!(text(&refused, 0).contains("does more than read"), "{refused}");
}

#[tokio::test]
async fn a_person_approves_the_call_of_the_tool_found() {
    let house = house_with(|_| ());
    let talk = house.talk("riley");
    let call = json!({"name": "debug_confirm", "arguments": {"value": "x"}});
    let told = result(&talk, "call_tool", call).await;
    assert!(text(&told, 0).starts_with("FAILED CONFIRMATION_REQUIRED"), "{told}");
    let id = confirmation_id(&told);
    let approver = Approver::of(&house, "riley").await;
    let confirmation = approver.get(&id).await;
    assert_eq!(confirmation.tool, "debug_confirm");
    assert!(confirmation.arguments_json.starts_with(r#"{"value":"x""#), "{}", confirmation.arguments_json);
    approver.approve(&id).await;
    let key = told["_meta"]["toolwire/request_id"].as_str().unwrap();
    let again = json!({"name": "debug_confirm", "arguments": {"value": "x", "request_id": key}});
    let done = result(&talk, "call_tool", again).await;
    assert_ne!(done["isError"], true, "{done}");
}

#[tokio::test]
async fn what_is_none_of_the_four_or_names_no_tool_is_refused() {
    let house = house();
    let talk = house.talk("riley");
    let error = async |tool: &str, arguments: Value| {
        let answer = call(&talk, Era::New, tool, arguments).await;
        answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    };
    assert!(
        error("get_quotes", json!({"symbol": "AMD"}))
            .await
            .contains("Unknown tool: get_quotes. This URL has")
    );
    for four in ["describe_tool", "call_read_tool", "call_tool"] {
        let words = error(four, json!({"name": "get_quote"})).await;
        assert!(words.contains("Unknown tool: get_quote") && words.contains("get_quotes"), "{four}: {words}");
        // None of the four is one of the tools.
        assert!(error(four, json!({"name": four})).await.contains("Unknown tool"), "{four}");
    }
    for (tool, arguments, words) in [
        ("find_tools", json!({}), "missing field `query`"),
        ("find_tools", json!({"query": 7}), "expected a string"),
        ("find_tools", json!({"query": "a", "limit": 0}), "limit must be 1 to 50"),
        ("find_tools", json!({"query": "a", "limit": 51}), "limit must be 1 to 50"),
        ("find_tools", json!({"query": "a", "tool": "b"}), "unknown field `tool`"),
        ("describe_tool", json!({}), "missing field `name`"),
        ("call_tool", json!({"arguments": {}}), "missing field `name`"),
        ("call_tool", json!({"name": "get_quotes", "symbol": "AMD"}), "unknown field `symbol`"),
        (
            "call_tool",
            json!({"name": "get_quotes", "arguments": "{\"symbol\": \"AMD\"}"}),
            "INVALID_ARGUMENT",
        ),
        ("call_read_tool", json!({"name": "get_quotes", "arguments": [1]}), "INVALID_ARGUMENT"),
        ("call_read_tool", json!({"name": "get_quotes", "arguments": {"symbols": 7}}), "INVALID_ARGUMENT"),
    ] {
        let answer = result(&talk, tool, arguments.clone()).await;
        assert!(
            answer["isError"] == true && text(&answer, 0).contains(words),
            "{tool} {arguments}: {answer}"
        );
    }
}

#[tokio::test]
async fn it_is_of_the_tools_of_the_url_alone() {
    let house = crate::http::house::House::with(crate::toolsets::configure);
    let talk = house.talk("riley");
    let search = "/mcp/market?mode=search";
    let call = async |tool: &str, arguments: Value| {
        let params = json!({"name": tool, "arguments": arguments});
        ask_at(&talk, search, Era::New, "tools/call", params).await
    };
    let all = call("find_tools", json!({"query": ""})).await;
    assert_eq!(found(&all["result"]), crate::toolsets::MARKET);
    for four in ["describe_tool", "call_read_tool", "call_tool"] {
        let refused = call(four, json!({"name": "get_positions"})).await;
        let words = refused["error"]["message"].as_str().unwrap_or_else(|| panic!("{refused}"));
        assert!(words.contains("Unknown tool: get_positions"), "{words}");
    }
    let tagged = ask_at(
        &talk,
        "/mcp?mode=search&tags=market",
        Era::New,
        "tools/call",
        json!({"name": "find_tools", "arguments": {"query": ""}}),
    );
    assert_eq!(found(&tagged.await["result"]), ["get_quotes"]);
}

#[tokio::test]
async fn a_client_on_standard_input_asks_for_it_by_a_flag() {
    let house = house();
    let server = format!("http://{}", house.server.address);
    for flags in [&["--mode", "search"][..], &["--mode", "search", "--server", &server]] {
        for era in ERAS {
            let mut stdio = Stdio::start(flags);
            stdio.greet(era).await;
            let list = stdio.ask(&Message::new(era, "tools/list", json!({}))).await;
            assert_eq!(names(&list), FOUR);
            let find = Message::call(era, "find_tools", &json!({"query": "quotes"}), &json!({}));
            assert!(found(&stdio.ask(&find).await["result"]).contains(&"get_quotes"));
            let quotes = json!({"name": "get_quotes", "arguments": {"symbol": "AAPL"}});
            let answer = stdio.ask(&Message::call(era, "call_read_tool", &quotes, &json!({}))).await;
            assert!(answer["result"]["structuredContent"].is_object(), "{answer}");
        }
    }
}
