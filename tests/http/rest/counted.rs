//! Statistics of calls: each user's own, and those of all users for observers.

use serde_json::{Value, json};
use toolwire::config::{AuthUser, Config};

use super::value;
use crate::http::{house::House, raw::ask};

fn bearer(user: &str) -> String {
    format!("authorization: Bearer {user}-0123456789abcdef")
}

fn house() -> House {
    House::with(|config: &mut Config| {
        let user =
            |name: &str| AuthUser::new(name.parse().unwrap(), format!("{name}-0123456789abcdef").into());
        config.auth.users = vec![user("riley"), user("demo"), AuthUser { observe: true, ..user("olga") }];
        config.server.diagnostics = true;
    })
}

async fn stats(house: &House, user: &str, query: &str) -> Value {
    let path = format!("/v1/stats{query}");
    let answer = ask(house.server.http.unwrap(), "GET", &path, &[&bearer(user)], "").await;
    assert_eq!(answer.status, 200, "{answer:?}");
    value(&answer)
}

/// The statistics once the second of the last call is over.
async fn counted(house: &House, user: &str, query: &str, least: u64) -> Value {
    loop {
        let found = stats(house, user, query).await;
        if sum(&found) >= least {
            return found;
        }
        tokio::task::yield_now().await;
    }
}

fn sum(stats: &Value) -> u64 {
    stats["buckets"].as_array().unwrap().iter().map(|it| it["calls"].as_u64().unwrap()).sum()
}

#[tokio::test]
async fn a_user_sees_own_calls_and_an_observer_those_of_all() {
    let house = house();
    let address = house.server.http.unwrap();
    let call = async |user: &str, tool: &str, body: &str| {
        let bearer = bearer(user);
        let headers = [&*bearer, "content-type: application/json"];
        ask(address, "POST", &format!("/v1/tools/{tool}:call"), &headers, body).await.status
    };
    assert_eq!(call("riley", "get_quotes", r#"{"symbol": "AMD"}"#).await, 200);
    assert_eq!(call("riley", "debug_fail", r#"{"code": "NOT_FOUND"}"#).await, 404);
    // A tool that calls others is one call.
    assert_eq!(call("demo", "get_symbol_performance", r#"{"symbol": "AAPL"}"#).await, 200);
    let all = counted(&house, "olga", "?user_id=*", 3).await;
    assert_eq!((sum(&all), all["buckets"].as_array().unwrap().len()), (3, 900), "{all}");
    let own = stats(&house, "riley", "?step=60s").await;
    assert_eq!(own["buckets"].as_array().unwrap().len(), 15);
    let errors: Vec<_> =
        own["buckets"].as_array().unwrap().iter().flat_map(|it| it["errors"].as_array().unwrap()).collect();
    assert_eq!(errors, [&json!({"code": "NOT_FOUND", "calls": 1})], "{own}");
    // Without the right to observe, all are one's own, and those of another user are none.
    for (query, calls) in [("?user_id=*", 2), ("?user_id=riley", 2), ("?user_id=demo", 0), ("", 2)] {
        assert_eq!(sum(&stats(&house, "riley", query).await), calls, "{query}");
    }
    assert_eq!(sum(&stats(&house, "olga", "?user_id=demo").await), 1);
    for bad in ["?step=7s", "?step=90s", "?step=1500ms", "?window=16m"] {
        let answer = ask(address, "GET", &format!("/v1/stats{bad}"), &[&bearer("riley")], "").await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "INVALID_REQUEST"), "{bad}: {answer:?}");
    }
    assert_eq!(stats(&house, "riley", "?window=90s&step=60s").await["buckets"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn what_waits_for_a_person_is_counted_for_its_user() {
    let house = house();
    let bearer_of_riley = bearer("riley");
    let key = "idempotency-key: 6f1c2e0a-7b1d-4e9b-9c50-0d6a0f2b7a11";
    let headers = [&*bearer_of_riley, "content-type: application/json", key];
    let path = "/v1/tools/debug_confirm:call";
    let asked = ask(house.server.http.unwrap(), "POST", path, &headers, r#"{"value": "x"}"#).await;
    assert_eq!(asked.status, 428, "{asked:?}");
    let waiting = async |user: &str, query: &str| stats(&house, user, query).await["waiting"].clone();
    assert_eq!(
        (waiting("riley", "").await, waiting("demo", "").await, waiting("olga", "?user_id=*").await),
        (json!(1), json!(0), json!(1))
    );
}
