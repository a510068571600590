//! Quotas that replace others while a server runs.

use toolwire::config::Config;

use super::{call, house, quotas, quote};

#[tokio::test]
async fn a_quota_that_is_replaced_counts_from_the_next_call() {
    let house = house("");
    let talk = house.talk("riley");
    let replace = |file: &str| {
        let mut config = Config::default();
        config.quotas = quotas(file);
        house.server.app.replace_access(&config).unwrap()
    };
    assert_eq!(call(&talk, "get_quotes", &quote()).await.status, 200);
    let changes = replace("[[quota]]\ncalls = 1\nwindow = '1h'\n");
    assert_eq!(changes, ["quota added: everybody in 1h"]);
    assert_eq!(call(&talk, "get_quotes", &quote()).await.status, 200);
    assert_eq!(call(&talk, "get_quotes", &quote()).await.problem(), (429, "RATE_LIMITED".to_owned()));
    // What was counted stays counted.
    assert_eq!(replace("[[quota]]\ncalls = 2\nwindow = '1h'\n"), ["quota changed: everybody in 1h"]);
    assert_eq!(call(&talk, "get_quotes", &quote()).await.status, 200);
    assert_eq!(call(&talk, "get_quotes", &quote()).await.status, 429);
    assert_eq!(replace(""), ["quota removed: everybody in 1h"]);
    assert_eq!(call(&talk, "get_quotes", &quote()).await.status, 200);
}
