//! Over MCP: a URL of its own over HTTP, and a flag over standard input and output.

use std::fs;

use serde_json::{Value, json};

use super::{FILE, MARKET, house};
use crate::mcp::client::{ERAS, Era, Message, OLD, Stdio, messages};

fn names(list: &Value) -> Vec<&str> {
    list["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

fn call(era: Era, tool: &str) -> Message {
    Message::call(era, tool, &json!({"symbol": "AMD"}), &json!({}))
}

/// A call for the user of a program, who has other symbols.
fn quotes(era: Era) -> Message {
    Message::call(era, "get_quotes", &json!({"symbol": "AAPL"}), &json!({}))
}

#[tokio::test]
async fn its_url_lists_and_calls_its_tools_alone() {
    let house = house();
    let talk = house.talk("riley");
    for era in ERAS {
        for path in ["/mcp/market", "/mcp/market/", "/mcp?toolset=market", "/mcp/market?toolset=market"] {
            let list = Message::new(era, "tools/list", json!({})).send(&talk, path).await.ok();
            assert_eq!(names(&list), MARKET, "{path}");
            let tagged = format!("{path}{}tags=account", if path.contains('?') { '&' } else { '?' });
            let list = Message::new(era, "tools/list", json!({})).send(&talk, &tagged).await.ok();
            assert_eq!(names(&list), ["get_symbol_performance"], "{path}");
            let answer = call(era, "get_quotes").send(&talk, path).await.ok();
            assert!(answer["result"]["structuredContent"].is_object(), "{answer}");
        }
        // The same user has called it by the other URL, and it is known there.
        call(era, "get_positions").send(&talk, "/mcp").await.ok();
        let [other, nothing] = ["get_positions", "get_anything"].map(|tool| call(era, tool));
        let (other, nothing) =
            (other.send(&talk, "/mcp/market").await, nothing.send(&talk, "/mcp/market").await);
        let error = |answer: &Value| answer["error"]["message"].as_str().map(str::to_owned);
        let (other, nothing) = (messages(&other).pop().unwrap(), messages(&nothing).pop().unwrap());
        let words = error(&other).unwrap_or_else(|| other.to_string());
        assert!(words.contains("Unknown tool: get_positions"), "{other}");
        assert_eq!(
            words.replace("get_positions", "get_anything"),
            error(&nothing).unwrap_or_else(|| nothing.to_string())
        );
    }
}

#[tokio::test]
async fn it_says_its_title_and_its_instructions() {
    let house = house();
    let talk = house.talk("riley");
    let told = Message::new(Era::New, "server/discover", json!({})).send(&talk, "/mcp/market").await.ok();
    assert!(told["result"]["instructions"].as_str().unwrap().starts_with("Name the currency."), "{told}");
    assert!(told["result"].to_string().contains("The market"), "{told}");
    let client = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": OLD, "capabilities": {}, "clientInfo": client});
    let mut message = Message::new(Era::Old, "initialize", params);
    message.headers.retain(|(name, _)| *name != "mcp-protocol-version");
    for (path, title) in [("/mcp/market", "The market"), ("/mcp/facts", "Toolwire"), ("/mcp", "Toolwire")] {
        let told = message.send(&talk, path).await.ok();
        assert_eq!(told["result"]["serverInfo"]["title"], title, "{told}");
    }
}

#[tokio::test]
async fn a_url_of_no_toolset_is_not_there() {
    let house = house();
    let talk = house.talk("riley");
    for path in ["/mcp/shop", "/mcp/Market", "/mcp/mark%65ts", "/mcp?toolset=shop"] {
        let answer = Message::new(Era::New, "tools/list", json!({})).send(&talk, path).await;
        assert_eq!(answer.problem(), (404, "UNKNOWN_TOOLSET".to_owned()), "{path}");
    }
    let two = Message::new(Era::New, "tools/list", json!({})).send(&talk, "/mcp/market?toolset=facts").await;
    assert_eq!(two.problem(), (400, "SEVERAL_TOOLSETS".to_owned()));
    let deeper = Message::new(Era::New, "tools/list", json!({})).send(&talk, "/mcp/market/facts").await;
    assert_eq!(deeper.problem(), (404, "UNKNOWN_ROUTE".to_owned()));
}

#[tokio::test]
async fn a_client_on_standard_input_names_it_by_a_flag() {
    let house = house();
    let server = format!("http://{}", house.server.address);
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("toolwire.toml");
    fs::write(&file, FILE).unwrap();
    for flags in [["--server", &*server], ["--config", file.to_str().unwrap()]] {
        for era in ERAS {
            let mut stdio = Stdio::start(&[flags[0], flags[1], "--toolset", "market"]);
            stdio.greet(era).await;
            let list = stdio.ask(&Message::new(era, "tools/list", json!({}))).await;
            assert_eq!(names(&list), MARKET);
            let answer = stdio.ask(&quotes(era)).await;
            assert!(answer["result"]["structuredContent"].is_object(), "{answer}");
            let other = stdio.ask(&call(era, "get_positions")).await;
            assert!(other.to_string().contains("Unknown tool: get_positions"), "{other}");
        }
    }
}
