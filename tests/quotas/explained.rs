//! What a call would come to is counted as a call, and says what is left.

use serde_json::{Value, json};

use super::{call, house, quote};
use crate::http::talk::Talk;

async fn explain(talk: &Talk, tool: &str, arguments: &Value) -> Value {
    talk.post(&format!("/v1/tools/{tool}:explain"), arguments).await.ok()
}

#[tokio::test]
async fn an_explanation_is_counted_as_a_call_and_says_what_is_left() {
    let house = house("[[quota]]\ncalls = 3\nwindow = '1h'\nconcurrent = 2");
    let riley = house.talk("riley");
    let explained = explain(&riley, "get_quotes", &quote()).await;
    let quotas = &explained["quotas"];
    let calls = json!({"quota": "3 calls in 1h", "most": 3, "left": 2, "user_id": "riley",
                       "free_at": quotas[0]["free_at"]});
    let at_once = json!({"quota": "2 calls at once", "most": 2, "left": 2, "user_id": "riley"});
    assert_eq!(*quotas, json!([calls, at_once]), "{explained}");
    assert!(quotas[0]["free_at"].is_string(), "{explained}");
    assert_eq!(call(&riley, "get_quotes", &quote()).await.status, 200);
    let explained = explain(&riley, "get_quotes", &quote()).await;
    assert_eq!(explained["quotas"][0]["left"], 0, "{explained}");
    let refused = riley.post("/v1/tools/get_quotes:explain", &quote()).await;
    assert_eq!(refused.problem(), (429, "RATE_LIMITED".to_owned()), "{refused:?}");
    // Each user has counts of their own.
    assert_eq!(explain(&house.talk("demo"), "get_quotes", &quote()).await["quotas"][0]["left"], 2);
}

#[tokio::test]
async fn an_explanation_takes_no_permit() {
    let house = house("[[quota]]\nconcurrent = 1");
    let riley = house.talk("riley");
    for _ in 0..2 {
        let explained = explain(&riley, "get_quotes", &quote()).await;
        assert_eq!(explained["quotas"][0]["left"], 1, "{explained}");
    }
    assert_eq!(call(&riley, "get_quotes", &quote()).await.status, 200);
}
