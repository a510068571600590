//! Quotas as they are listed: whose, how much of each is used, and when there is room again.

use std::{
    path::Path,
    time::{Duration, SystemTime},
};

use prost_types::Timestamp;
use serde_json::{Value, json};
use tokio::time::timeout;
use toolwire::{
    config::{AuthUser, Flags, testing},
    contract::proto::v1::ListQuotasRequest,
};

use super::{call, configure, house, quote};
use crate::{
    http::{house::House, issuers::Issuer, raw::ask},
    mcp::client::SOON,
    support::state::keep_in,
};

const QUOTAS: &str = "[toolsets.market]\ntools = ['get_*']\n\
    [[auth.rules]]\nwho = ['group:corp/ops']\ntools = ['*']\n\
    [[quota]]\ncalls = 3\nwindow = '1h'\nconcurrent = 2\n\
    [[quota]]\nwho = ['group:corp/ops']\ncalls = 4\nwindow = '10m'\n";

/// A row of the list: the user, the quota, and what is left of it.
type Row = (String, String, u64);

fn bearer(user: &str) -> String {
    format!("authorization: Bearer {user}-0123456789abcdef")
}

fn row(user: &str, quota: &str, left: u64) -> Row {
    (user.to_owned(), quota.to_owned(), left)
}

/// A server with users of its own, of which olga may observe, and with those of an issuer.
fn world(issuer: &Issuer, state: &Path) -> House {
    let file = format!(
        "[[auth.issuers]]\nname = 'corp'\nissuer = '{}'\naudience = ['toolwire']\ngroups = 'groups'\n{QUOTAS}",
        issuer.server.uri()
    );
    let read = testing::load_text(&file, &[], Flags::default(), &[]).unwrap().config;
    House::with(|config| {
        let user =
            |name: &str| AuthUser::new(name.parse().unwrap(), format!("{name}-0123456789abcdef").into());
        config.auth = read.auth;
        config.auth.users = vec![user("riley"), user("demo"), AuthUser { observe: true, ..user("olga") }];
        config.toolsets = read.toolsets;
        config.quotas = read.quotas;
        config.server.diagnostics = true;
        keep_in(&mut config.state, state);
    })
}

async fn call_as(house: &House, bearer: &str) -> u16 {
    let headers = [bearer, "content-type: application/json"];
    let path = "/v1/tools/get_facts:call";
    ask(house.server.http.unwrap(), "POST", path, &headers, r#"{"topic": "etf"}"#).await.status
}

async fn page(house: &House, bearer: &str, query: &str) -> Value {
    let path = format!("/v1/quotas{query}");
    let answer = ask(house.server.http.unwrap(), "GET", &path, &[bearer], "").await;
    assert_eq!(answer.status, 200, "{answer:?}");
    serde_json::from_str(&answer.body).unwrap()
}

fn rows(page: &Value) -> Vec<Row> {
    let rows = page["quotas"].as_array().unwrap().iter();
    rows.map(|it| {
        let text = |name: &str| it[name].as_str().unwrap();
        row(text("user_id"), text("quota"), it["left"].as_u64().unwrap())
    })
    .collect()
}

async fn list(house: &House, bearer: &str, query: &str) -> Vec<Row> {
    rows(&page(house, bearer, query).await)
}

fn free_at(quota: &Value) -> SystemTime {
    let at: Timestamp = quota["free_at"].as_str().unwrap_or_else(|| panic!("{quota}")).parse().unwrap();
    at.try_into().unwrap()
}

#[tokio::test]
async fn an_observer_sees_the_quotas_of_all_users_and_a_user_their_own() {
    let (issuer, state) = (Issuer::start().await, tempfile::tempdir().unwrap());
    // What another replica counts is counted here.
    let (house, other) = (world(&issuer, state.path()), world(&issuer, state.path()));
    let (riley, demo, olga) = (bearer("riley"), bearer("demo"), bearer("olga"));
    let operator = issuer.token("8f2c", &["ops"], &[]);
    assert!(list(&house, &olga, "?user_id=*").await.is_empty());
    let begin = house.server.app.state.now();
    for (house, bearer, status) in [
        (&house, &riley, 200),
        (&house, &riley, 200),
        (&other, &riley, 200),
        (&house, &riley, 429),
        (&other, &demo, 200),
        (&other, &operator, 200),
    ] {
        assert_eq!(call_as(house, bearer).await, status);
    }
    let end = house.server.app.state.now();

    let all = [
        row("riley", "3 calls in 1h", 0),
        row("corp:8f2c", "3 calls in 1h", 2),
        row("demo", "3 calls in 1h", 2),
        row("corp:8f2c", "4 calls in 10m", 3),
    ];
    let shown = page(&house, &olga, "?user_id=*").await;
    assert_eq!(rows(&shown), all, "{shown}");
    assert!(shown["quotas"].as_array().unwrap().iter().all(|it| it["most"].as_u64() > it["left"].as_u64()));
    let (hour, moment) = (Duration::from_hours(1), Duration::from_millis(1));
    let free = free_at(&shown["quotas"][0]);
    assert!((begin + hour - moment..=end + hour + moment).contains(&free), "{begin:?} {shown}");

    // One's own are listed whether or not something is used, and those of others to observers alone.
    let at_once = |user: &str| row(user, "2 calls at once", 2);
    let own = [row("riley", "3 calls in 1h", 0), at_once("riley")];
    for query in ["", "?user_id=riley", "?user_id=*"] {
        assert_eq!(list(&house, &riley, query).await, own, "{query}");
    }
    assert_eq!(list(&house, &riley, "?user_id=demo").await, []);
    let of_operator = [all[1].clone(), all[3].clone(), at_once("corp:8f2c")];
    assert_eq!(list(&house, &operator, "").await, of_operator);
    assert_eq!(list(&house, &olga, "?user_id=corp:8f2c").await, of_operator);
    assert_eq!(
        list(&house, &olga, "?user_id=demo").await,
        [row("demo", "3 calls in 1h", 2), at_once("demo")]
    );
    assert_eq!(list(&house, &olga, "").await, [row("olga", "3 calls in 1h", 3), at_once("olga")]);
    // Quotas are not counted by tool, for which alone the token is.
    let bound = issuer.token("8f2c", &["ops"], &[("scope", json!("tools:market"))]);
    assert_eq!(list(&house, &bound, "").await, []);
}

#[tokio::test]
async fn who_asks_a_hundred_times_has_as_many_calls_left() {
    let house = house("[[quota]]\ncalls = 1\nwindow = '1h'\nconcurrent = 1\n");
    let riley = house.talk("riley");
    for _ in 0..100 {
        let asked = riley.get("/v1/quotas").await.ok();
        assert!(asked["quotas"].as_array().unwrap().iter().all(|it| it["left"] == 1), "{asked}");
    }
    assert_eq!(call(&riley, "get_quotes", &quote()).await.status, 200);
    // Nor does a quota that is used up refuse who asks about it.
    let asked = riley.get("/v1/quotas").await.ok();
    assert_eq!((&asked["quotas"][0]["left"], &asked["quotas"][1]["left"]), (&json!(0), &json!(1)), "{asked}");
}

#[tokio::test]
async fn a_call_is_refused_until_the_instant_that_is_told_and_carried_out_at_it() {
    let house = house("[[quota]]\ncalls = 2\nwindow = '1h'\n");
    let (riley, state) = (house.talk("riley"), &house.server.app.state);
    let begin = state.now();
    for minutes in [0, 5] {
        state.at_time(begin + Duration::from_mins(minutes));
        assert_eq!(call(&riley, "get_quotes", &quote()).await.status, 200);
    }
    let told = async |left: u64| {
        let quotas = riley.get("/v1/quotas").await.ok();
        assert_eq!(quotas["quotas"][0]["left"], left, "{quotas}");
        free_at(&quotas["quotas"][0])
    };
    let free = told(0).await;
    // In whole milliseconds, and not before there is room.
    state.at_time(free - Duration::from_millis(1));
    assert_eq!(call(&riley, "get_quotes", &quote()).await.status, 429);
    state.at_time(free);
    let next = told(1).await;
    assert!(next >= free + Duration::from_mins(4) && next <= free + Duration::from_mins(6), "{next:?}");
    assert_eq!(call(&riley, "get_quotes", &quote()).await.status, 200);
}

#[tokio::test]
async fn calls_at_once_are_listed_while_they_run_without_an_instant() {
    let house = house("[[quota]]\nconcurrent = 2\n");
    let riley = house.talk("riley");
    let talk = riley.clone();
    let sleep = json!({"duration": "60s"});
    let running = tokio::spawn(async move { call(&talk, "debug_sleep", &sleep).await });
    let until = async |left: u32| {
        let expected = json!([{"quota": "2 calls at once", "most": 2, "left": left, "user_id": "riley"}]);
        while riley.get("/v1/quotas").await.ok()["quotas"] != expected {}
    };
    timeout(SOON, until(1)).await.unwrap();
    running.abort();
    timeout(SOON, until(2)).await.unwrap();
}

#[tokio::test]
async fn pages_have_every_quota_once_and_a_token_is_of_its_list() {
    let house = House::with(|config| {
        configure(config, "[[quota]]\ncalls = 4\nwindow = '1h'\n[[quota]]\ncalls = 9\nwindow = '2h'\n");
        let user =
            |name: &str| AuthUser::new(name.parse().unwrap(), format!("{name}-0123456789abcdef").into());
        config.auth.users = ["a", "b", "c", "d"].map(user).to_vec();
        config.auth.users.push(AuthUser { observe: true, ..user("olga") });
    });
    let olga = bearer("olga");
    for (user, calls) in [("a", 1), ("b", 2), ("c", 2), ("d", 4)] {
        for _ in 0..calls {
            assert_eq!(call_as(&house, &bearer(user)).await, 200);
        }
    }
    let whole = list(&house, &olga, "?user_id=*").await;
    let users: Vec<_> = whole.iter().map(|(user, _, left)| (user.as_str(), *left)).collect();
    let expected = [("d", 0), ("b", 2), ("c", 2), ("d", 5), ("a", 3), ("b", 7), ("c", 7), ("a", 8)];
    assert_eq!(users, expected);
    for size in [1, 3, 8] {
        let (mut paged, mut query) = (Vec::new(), format!("?user_id=*&page_size={size}"));
        loop {
            let page = page(&house, &olga, &query).await;
            paged.extend(rows(&page));
            let token = page["next_page_token"].as_str().unwrap().to_owned();
            if token.is_empty() {
                break;
            }
            let foreign = format!("/v1/quotas?user_id=a&page_token={token}");
            let answer = ask(house.server.http.unwrap(), "GET", &foreign, &[&olga], "").await;
            assert_eq!(answer.status, 400, "{answer:?}");
            query = format!("?user_id=*&page_size={size}&page_token={token}");
        }
        assert_eq!(paged, whole, "{size}");
    }
    let own = page(&house, &bearer("d"), "?page_size=1").await;
    assert_eq!(rows(&own), [row("d", "4 calls in 1h", 0)]);
    let query = format!("?page_size=1&page_token={}", own["next_page_token"].as_str().unwrap());
    let rest = page(&house, &bearer("d"), &query).await;
    assert_eq!((rows(&rest), &rest["next_page_token"]), (vec![row("d", "9 calls in 2h", 5)], &json!("")));
    for bad in ["?page_size=1001", "?page_size=-1", "?user_id=%20"] {
        let answer = ask(house.server.http.unwrap(), "GET", &format!("/v1/quotas{bad}"), &[&olga], "").await;
        assert_eq!(answer.status, 400, "{bad} {answer:?}");
    }
}

#[tokio::test]
async fn without_quotas_there_is_none_and_grpc_says_the_same() {
    let house = House::new();
    assert_eq!(call(&house.talk("riley"), "get_quotes", &quote()).await.status, 200);
    let listed = house.server.tools().await.list_quotas(ListQuotasRequest::default()).await;
    let listed = listed.unwrap().into_inner();
    assert!(listed.quotas.is_empty() && listed.next_page_token.is_empty(), "{listed:?}");
    let asked = house.talk("riley").get("/v1/quotas").await.ok();
    assert_eq!(asked, json!({"quotas": [], "next_page_token": ""}));
}
