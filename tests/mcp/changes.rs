//! `subscriptions/listen`: clients hear that their tools have changed.

use serde_json::{Value, json};
use tokio::time::timeout;

use super::client::{Era, Message, SOON, Stdio, house};
use crate::{
    http::{house::House, raw::Raw},
    support::{data_directory, patch_json},
};

async fn listen(house: &House) -> Raw {
    let message =
        Message::new(Era::New, "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    let headers: Vec<_> = message.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    let headers: Vec<_> =
        headers.iter().map(String::as_str).chain(["content-type: application/json"]).collect();
    let mut raw = Raw::connect(house.server.http.unwrap()).await;
    raw.ask("POST", "/mcp", &headers, &message.body.to_string()).await;
    raw.until("notifications/subscriptions/acknowledged").await;
    raw
}

#[tokio::test]
async fn a_changed_manifest_is_one_notification() {
    let house = house();
    let mut raw = listen(&house).await;
    // The watch begins after the acknowledgement and reports no earlier change: repeat the change until it is seen.
    let mut snapshots = house.server.app.registry.watch();
    let mut version = 0;
    let notified = async {
        loop {
            version += 1;
            house.patch("get_quotes", &json!({"version": format!("9.0.{version}")}));
            tokio::select! {
                notified = raw.until("notifications/tools/list_changed") => return notified,
                taken_over = snapshots.changed() => taken_over.expect("it is served"),
            }
        }
    };
    timeout(SOON, notified).await.unwrap();
}

#[tokio::test]
async fn a_drain_ends_a_subscription_with_its_result() {
    let house = house();
    let mut raw = listen(&house).await;
    let House { server, .. } = house;
    let (_, rest) = tokio::join!(server.shut_down(), raw.rest());
    let result = rest.lines().filter_map(|line| line.strip_prefix("data:")).next_back().unwrap_or_default();
    let result: Value = serde_json::from_str(result.trim()).unwrap_or_else(|_| panic!("{rest}"));
    assert!(result["result"].is_object(), "{result}");
}

/// What changed while no watch was there is not known: the client lists again.
#[tokio::test]
async fn a_client_over_standard_input_is_notified_once_its_server_has_restarted() {
    let first = house();
    let address = first.server.address;
    let mut stdio = Stdio::start(&["--server", &format!("http://{address}")]);
    stdio.greet(Era::Old).await;
    let list = Message::new(Era::Old, "tools/list", json!({}));
    assert!(stdio.ask(&list).await["result"].is_object());
    first.server.shut_down().await;
    let _second = House::with(|config| config.server.listen = address);
    let notified = stdio.next().await;
    assert_eq!(notified["method"], "notifications/tools/list_changed", "{notified}");
}

/// Clients of the older revisions do not subscribe.
#[tokio::test]
async fn over_standard_input_a_client_that_has_initialized_is_notified() {
    let data = data_directory();
    let mut stdio = Stdio::start(&["--data", data.path().to_str().unwrap()]);
    stdio.greet(Era::Old).await;
    // The watch reports no change from before it began: repeat the change until one is reported.
    let mut changes = 0;
    let notified = async {
        loop {
            changes += 1;
            let title = format!("Quotes {changes}");
            patch_json(&data.path().join("tools/get_quotes.json"), &json!({"title": title}));
            // Until the change is listed, or told.
            let mut listed = Value::Null;
            while !listed.to_string().contains(&title) {
                let list = Message::new(Era::Old, "tools/list", json!({}));
                stdio.say(&list.body.to_string()).await;
                listed = stdio.next().await;
                if listed["method"].is_string() {
                    return listed;
                }
            }
        }
    };
    let notified = timeout(SOON, notified).await.unwrap();
    assert_eq!(notified["method"], "notifications/tools/list_changed", "{notified}");
}
