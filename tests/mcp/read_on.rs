//! Results that are too long for a client's model: the answer has a part, and `read_result` reads on.

use serde_json::json;

use super::{
    client::{ERAS, Era, Message, ask, call, text},
    listing::names,
};
use crate::http::house::House;

#[tokio::test]
async fn without_samples_a_long_result_is_cut_and_read_on_in() {
    let house = House::with(|config| {
        config.server.diagnostics = true;
        config.server.samples = false;
        // The manifests of the program itself.
        config.data.dir = None;
        config.http.mcp_max_result_tokens = 256;
    });
    let talk = house.talk("riley");
    let list = ask(&talk, Era::New, "tools/list", json!({})).await;
    let (debug, others): (Vec<_>, Vec<_>) = names(&list).into_iter().partition(|it| it.starts_with("debug_"));
    assert_eq!((debug.len(), others), (8, vec!["read_result"]));
    let value = (100..430).map(|number| number.to_string()).collect::<Vec<_>>().concat();
    for era in ERAS {
        let result = call(&talk, era, "debug_write", json!({"value": value}), json!({})).await;
        let kept = &result["_meta"]["toolwire/kept"];
        assert!(kept["tokens"].as_u64().unwrap() > 256, "{result}");
        assert!(text(&result, 1).contains("read_result with call_id "), "{result}");
        assert!(!result.to_string().contains(&value), "the answer has a part");
        let arguments = json!({"call_id": kept["call_id"], "pointer": "/value"});
        let rest = call(&talk, era, "read_result", arguments, json!({})).await;
        assert_eq!(rest["structuredContent"]["content"], json!(value).to_string(), "{rest}");
    }
}

#[tokio::test]
async fn it_is_listed_beside_the_tools_of_any_tags_and_not_alone() {
    let house = House::with(|config| config.server.diagnostics = true);
    let talk = house.talk("riley");
    for (tags, expected) in [
        ("market", vec!["get_quotes", "read_result"]),
        ("orchestration", vec!["read_result"]),
        ("none", Vec::new()),
        ("market&tags=none", Vec::new()),
    ] {
        let message = Message::new(Era::New, "tools/list", json!({}));
        let list = message.send(&talk, &format!("/mcp?tags={tags}")).await.ok();
        let names = names(&list);
        assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
        assert!(expected.iter().all(|name| names.contains(name)), "{tags}: {names:?}");
        assert_eq!(names.is_empty(), expected.is_empty(), "{tags}: {names:?}");
    }
}
