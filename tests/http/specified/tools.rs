//! The eight GETs of the brokerage: flat `{source_id, data, as_of}`.

use std::fmt::Write as _;

use serde_json::json;

use crate::{
    http::house::House,
    support::{patch_json, save},
};

#[tokio::test]
async fn each_of_the_eight_answers_flat_with_source_and_date() {
    let house = House::new();
    let talk = house.talk("demo");
    let mut told = String::new();
    for path in [
        "/api/activity",
        "/api/positions?symbol=AAPL",
        "/api/positions_list?asset_class=etf",
        "/api/performance?timeframe=YTD",
        "/api/quotes?symbol=AAPL,MSFT",
        "/api/facts?topic=roth",
        "/api/transfers?account=Brokerage",
        "/api/account_summary",
    ] {
        let answer = talk.get(path).await;
        assert!(answer.headers.contains_key("x-toolwire-call-id"), "{answer:?}");
        let answer = answer.ok();
        let keys: Vec<_> = answer.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["source_id", "data", "as_of"]);
        let _ = writeln!(told, "GET {path}\n{answer:#}\n");
    }
    insta::assert_snapshot!(told);
}

/// The shape has no member for warnings, so that what a result warns of stands beside it.
#[tokio::test]
async fn what_a_result_warns_of_is_in_headers() {
    let mut data = None;
    let house = House::with(|config| data.clone_from(&config.data.dir));
    let talk = house.talk("demo");
    let warnings = async |path: &str| {
        let answer = talk.get(path).await;
        let keys: Vec<_> = answer.ok().as_object().unwrap().keys().cloned().collect();
        assert_eq!(keys, ["source_id", "data", "as_of"]);
        let told = answer.headers.get_all("warning").iter().map(|it| it.to_str().unwrap().to_owned());
        told.collect::<Vec<_>>()
    };
    assert!(warnings("/api/quotes?symbol=AAPL").await.is_empty());
    let missing = warnings("/api/quotes?symbol=AAPL,NOPE").await;
    assert!(
        missing.len() == 1 && missing[0].starts_with("199 toolwire \"Unknown symbol 'NOPE'."),
        "{missing:?}"
    );
    save(&data.unwrap().join("brokerage/user_master.json"), "{");
    let stale = warnings("/api/account_summary").await;
    assert!(stale[0].contains("last good content"), "{stale:?}");
    assert!(stale.len() == 2 && stale[1].contains("AVUV has no quote"), "{stale:?}");
    let chat = talk.post("/api/chat", &json!({"message": "What is my account worth?"})).await;
    assert!(chat.headers["warning"].to_str().unwrap().contains("last good content"), "{chat:?}");
}

#[tokio::test]
async fn what_is_wrong_with_a_query_is_what_is_wrong_with_the_arguments() {
    let house = House::new();
    let talk = house.talk("demo");
    let lacking = talk.get("/api/positions").await;
    assert_eq!(lacking.problem().1, "INVALID_ARGUMENT");
    assert!(lacking.text.contains("symbol"), "{lacking:?}");
    let unknown = talk.get("/api/quotes?symbol=AAPL&when=now").await;
    assert_eq!(unknown.problem().1, "INVALID_ARGUMENT");
    let absent = talk.get("/api/quotes?symbol=NOPE").await;
    assert_eq!(absent.problem(), (404, "NOT_FOUND".to_owned()));
}

#[tokio::test]
async fn a_tool_that_an_operator_lets_a_person_approve_is_waited_for() {
    let house = House::with(|config| {
        let tools = config.data.dir.as_ref().unwrap().join("tools");
        for name in ["get_quotes", "browse_screener"] {
            patch_json(&tools.join(format!("{name}.json")), &json!({"requires_confirmation": true}));
        }
    });
    let talk = house.talk("demo");
    let asked = talk.get("/api/quotes?symbol=AAPL").await;
    assert_eq!(asked.problem(), (428, "CONFIRMATION_REQUIRED".to_owned()));
    assert!(asked.headers["location"].to_str().unwrap().starts_with("/v1/confirmations/"), "{asked:?}");
    let imported = talk.post("/api/integrations/screener/import", &json!({})).await;
    assert_eq!(imported.problem().1, "CONFIRMATION_REQUIRED");
}
