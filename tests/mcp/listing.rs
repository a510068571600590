//! `server/discover`, `initialize` and `tools/list`.

use serde_json::{Value, json};
use toolwire::base::clock;

use super::client::{ERAS, Era, Message, NEW, OLD, ask, house};
use crate::{
    http::house::House,
    support::{data_directory, save},
};

pub(super) fn names(list: &Value) -> Vec<&str> {
    list["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn both_eras_are_told_what_there_is_and_how_to_use_it() {
    let house = house();
    let talk = house.talk("riley");
    let told = &ask(&talk, Era::New, "server/discover", json!({})).await["result"];
    let revisions = ["2025-03-26", "2025-06-18", OLD, NEW];
    assert_eq!(told["supportedVersions"], json!(revisions), "{told}");
    assert_eq!((&told["ttlMs"], &told["cacheScope"]), (&json!(60_000), &json!("private")));
    assert_eq!(
        told["capabilities"],
        json!({"tools": {"listChanged": true}, "extensions": {"io.modelcontextprotocol/tasks": {}}})
    );
    assert!(told["instructions"].as_str().unwrap().contains("Prioritize"), "{told}");
    for revision in revisions {
        let client = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": client});
        let mut message = Message::new(Era::Old, "initialize", params);
        message.headers.retain(|(name, _)| *name != "mcp-protocol-version");
        let answer = message.send(&talk, "/mcp").await;
        assert!(answer.headers.contains_key("mcp-session-id"), "{answer:?}");
        let result = &answer.ok()["result"];
        // The newest has no handshake: its clients are answered with the newest that has.
        assert_eq!(result["protocolVersion"], if revision == NEW { OLD } else { revision });
        assert_eq!(result["capabilities"], json!({"tools": {}}));
        assert_eq!(result["serverInfo"]["name"], "toolwire");
    }
}

#[tokio::test]
async fn the_list_has_every_tool_in_order_of_name() {
    let house = house();
    let talk = house.talk("riley");
    for era in ERAS {
        let list = ask(&talk, era, "tools/list", json!({})).await;
        let names = names(&list);
        assert!(names.len() > 40 && names.is_sorted() && names.contains(&"debug_write"), "{names:?}");
        assert!(list["result"].get("nextCursor").is_none());
        let tool = |name: &str| {
            list["result"]["tools"].as_array().unwrap().iter().find(|it| it["name"] == name).unwrap()
        };
        let quotes = tool("get_quotes");
        assert_eq!(quotes["annotations"]["readOnlyHint"], true);
        assert!(quotes["outputSchema"]["properties"].is_object() && quotes["title"] == "Quotes");
        for key in ["version", "digest", "consequence", "requires_confirmation", "status"] {
            assert!(!quotes["_meta"][format!("toolwire/{key}")].is_null(), "{key}: {quotes}");
        }
        assert!(quotes["inputSchema"]["properties"].get("request_id").is_none());
        let key = &tool("debug_write")["inputSchema"]["properties"]["request_id"];
        assert_eq!((&key["type"], &key["format"]), (&json!("string"), &json!("uuid")));
    }
}

#[tokio::test]
async fn pages_are_as_long_as_is_configured_and_tags_narrow_the_list() {
    let house = House::with(|config| {
        config.server.diagnostics = true;
        config.http.mcp_page = 10;
    });
    let talk = house.talk("riley");
    let mut all = Vec::new();
    let mut cursor = json!({});
    loop {
        let list = ask(&talk, Era::New, "tools/list", cursor).await;
        let page = names(&list);
        assert!(page.len() <= 10);
        all.extend(page.iter().map(ToString::to_string));
        match list["result"].get("nextCursor") {
            Some(next) => cursor = json!({"cursor": next}),
            None => break,
        }
    }
    assert!(all.len() > 40 && all.is_sorted_by(|a, b| a < b), "{all:?}");
    let message = Message::new(Era::New, "tools/list", json!({}));
    let list = message.send(&talk, "/mcp?tags=diagnostics").await.ok();
    let others: Vec<_> = names(&list).into_iter().filter(|name| !name.starts_with("debug_")).collect();
    assert_eq!(others, ["read_result"]);
}

#[tokio::test]
async fn a_tool_that_is_disabled_is_left_out() {
    let house = House::new();
    let talk = house.talk("riley");
    let list = ask(&talk, Era::New, "tools/list", json!({})).await;
    let status = |tool: &Value| tool["_meta"]["toolwire/status"]["state"].clone();
    assert!(list["result"]["tools"].as_array().unwrap().iter().all(|tool| status(tool) != "disabled"));
}

#[tokio::test]
async fn a_thousand_tools_are_on_the_first_page() {
    let data = data_directory();
    for number in 0..1_000 {
        let name = format!("bulk_{number:04}");
        let tool = json!({
            "name": name,
            "description": format!("Writes note {number} down, for a list that is long."),
            "type": "non_function_tool",
            "category": "write",
            "consequence_level": "low",
            "requires_confirmation": false,
            "parameters": {"note": {"type": "string", "required": true, "description": "What to write down."}},
        });
        save(&data.path().join(format!("tools/{name}.json")), &tool.to_string());
    }
    let house = House::with(|config| config.data.dir = Some(data.path().to_owned()));
    let talk = house.talk("riley");
    for _ in 0..3 {
        let began = clock::now();
        let list = ask(&talk, Era::New, "tools/list", json!({})).await;
        println!("1,000 tools were listed in {:?}", began.elapsed());
        assert_eq!(names(&list).len(), 1_000);
        let rest = ask(&talk, Era::New, "tools/list", json!({"cursor": list["result"]["nextCursor"]})).await;
        assert!(!names(&rest).is_empty() && rest["result"].get("nextCursor").is_none());
    }
}
