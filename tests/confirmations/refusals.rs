//! Refusals are listed by reason and with a count: all of them to observers, and to other users their own.

use std::process::{Command, Output};

use toolwire::contract::proto::v1::{ListRefusalsRequest, RefusalRecord};

use super::*;

/// A server with a user who may call little, and what it refused: three calls of one tool, two unknown tokens, no
/// token, and a decision.
async fn refused() -> House {
    let house = House::with(|config| {
        config.auth = users();
        config.auth.users[0].tools = vec![ToolPattern::try_from("debug_*".to_owned()).unwrap()];
    });
    let (riley, olga) = (house.person("riley").await, house.person("olga").await);
    for _ in 0..3 {
        riley.call(call("get_quotes", &json!({"symbol": "AAPL"}), None)).await.unwrap_err();
    }
    let mut stranger = riley.clone();
    for name in ["stranger", "stranger2"] {
        stranger.name = name.to_owned();
        stranger.call(call("debug_write", &json!({"value": "s3cret"}), None)).await.unwrap_err();
    }
    let message = call("debug_write", &json!({"value": "s3cret"}), None);
    stranger.tools.call_tool(message).await.unwrap_err();
    let asked = riley.asks(RequestId::generate(), "x").await;
    olga.approve(&asked.confirmation_id).await.unwrap_err();
    house.server.app.state.write_refusals(true).await.unwrap();
    house
}

async fn all(person: &Person, request: ListRefusalsRequest) -> Vec<RefusalRecord> {
    let (mut found, mut request) = (Vec::new(), ListRefusalsRequest { page_size: 1, ..request });
    loop {
        let answer = person.audit.clone().list_refusals(person.request(request.clone())).await.unwrap();
        let answer = answer.into_inner();
        found.extend(answer.refusals);
        request.page_token = answer.next_page_token;
        if request.page_token.is_empty() {
            return found;
        }
    }
}

/// How often each was refused for what.
fn counts(found: &[RefusalRecord]) -> Vec<(String, u64)> {
    let mut counts = std::collections::BTreeMap::new();
    for it in found {
        *counts.entry(format!("{} {} {}", it.user_id, it.reason, it.target)).or_default() += it.count;
    }
    counts.into_iter().collect()
}

fn of(counted: &[(&str, u64)]) -> Vec<(String, u64)> {
    counted.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
}

#[tokio::test]
async fn who_observes_sees_all_refusals_and_everybody_their_own() {
    let house = refused().await;
    let found = all(&house.person("olga").await, ListRefusalsRequest::default()).await;
    let method = "toolwire.v1.ToolService/CallTool";
    assert_eq!(
        counts(&found),
        of(&[
            (&format!(" missing {method}"), 1),
            (&format!(" rejected {method}"), 2),
            ("olga may_not_decide debug_confirm", 1),
            ("riley tool_not_allowed get_quotes", 3),
        ])
    );
    for it in &found {
        assert_eq!((it.face.as_str(), it.peer.as_str()), ("grpc", "127.0.0.1"));
        assert_eq!(it.known_by, if it.user_id.is_empty() { "" } else { "token" });
        assert!(it.time.is_some() && it.last_time.is_some());
    }
    let (riley, sam) = (house.person("riley").await, house.person("sam").await);
    let own = of(&[("riley tool_not_allowed get_quotes", 3)]);
    assert_eq!(counts(&all(&riley, ListRefusalsRequest::default()).await), own);
    assert!(all(&sam, ListRefusalsRequest::default()).await.is_empty());
    let of_olga = ListRefusalsRequest { user_id: "olga".to_owned(), ..ListRefusalsRequest::default() };
    assert!(all(&riley, of_olga).await.is_empty());
}

#[tokio::test]
async fn refusals_are_found_by_reason_and_time_and_a_token_is_good_for_its_filter_only() {
    let house = refused().await;
    let olga = house.person("olga").await;
    let reasons = |reasons: &[&str]| ListRefusalsRequest {
        reasons: reasons.iter().map(|it| (*it).to_owned()).collect(),
        ..ListRefusalsRequest::default()
    };
    let found = all(&olga, reasons(&["rejected", "missing"])).await;
    assert_eq!(found.iter().map(|it| it.count).sum::<u64>(), 3);
    let until =
        ListRefusalsRequest { until: found.last().unwrap().last_time, ..reasons(&["rejected", "missing"]) };
    assert!(all(&olga, until).await.len() < found.len());
    let first = ListRefusalsRequest { page_size: 1, ..ListRefusalsRequest::default() };
    let answer = olga.audit.clone().list_refusals(olga.request(first)).await.unwrap().into_inner();
    let foreign = ListRefusalsRequest { page_token: answer.next_page_token, ..reasons(&["missing"]) };
    assert_refused(
        olga.audit.clone().list_refusals(olga.request(foreign)).await,
        Code::InvalidArgument,
        "INVALID_REQUEST",
    );
    let many = reasons(&["missing"; 33]);
    assert_refused(
        olga.audit.clone().list_refusals(olga.request(many)).await,
        Code::InvalidArgument,
        "INVALID_REQUEST",
    );
}

#[tokio::test]
async fn records_and_refusals_are_exported_a_line_each() {
    let house = refused().await;
    let riley = house.person("riley").await;
    data(riley.call(call("debug_write", &json!({"value": "s3cret"}), Some(RequestId::generate()))).await);
    let url = format!("http://{}", house.server.address);
    let exported = async |arguments: &[&str]| {
        let Output { status, stdout, stderr } =
            tokio::process::Command::from(Command::new(env!("CARGO_BIN_EXE_toolwire")))
                .args(["audit"])
                .args(arguments)
                .args(["--server", &url])
                .env("TOOLWIRE_TOKEN", token("olga"))
                .output()
                .await
                .unwrap();
        assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
        String::from_utf8(stdout).unwrap()
    };
    let lines =
        |text: &str| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>();
    let text = exported(&["export", "--format", "jsonl", "--since", "1h"]).await;
    let found = lines(&text);
    let of_type = |name: &str| found.iter().filter(|it| it["type"] == name).count();
    assert_eq!(of_type("record"), 1, "{text}");
    assert!(of_type("refusal") >= 4 && of_type("record") + of_type("refusal") == found.len(), "{text}");
    assert_eq!((&found[0]["tool"], &found[0]["user_id"]), (&json!("debug_write"), &json!("riley")));
    let text = exported(&["export", "--format", "ocsf"]).await;
    let events = lines(&text);
    assert_eq!(events.len(), found.len());
    let count = |class: u32| {
        events
            .iter()
            .filter(|it| it["class_uid"] == class)
            .map(|it| it["count"].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!((count(6003), count(3002)), (1 + 4, 3), "{text}");
    let listed = exported(&["--refused"]).await;
    assert!(listed.contains("tool_not_allowed") && listed.contains("(nobody)"), "{listed}");
    assert!(!text.contains("s3cret") && !listed.contains("s3cret"));
}
