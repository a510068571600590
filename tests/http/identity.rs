//! Who calls: nobody but this machine without credentials, and with them whoever presents a token.

use toolwire::config::AuthUser;

use crate::{
    http::{
        raw::ask,
        toys::{COUNT, READY, Toys},
    },
    support::server::config_with_http,
};

const JSON: &str = "content-type: application/json";

#[tokio::test]
async fn without_credentials_whoever_a_proxy_brings_is_refused() {
    let toys = Toys::start();
    for header in ["forwarded: for=192.0.2.1", "via: 1.1 proxy", "x-forwarded-for: 192.0.2.1"] {
        let answer = ask(toys.http, "POST", COUNT, &[JSON, header], "{}").await;
        assert_eq!((answer.status, answer.code().as_str()), (401, "CREDENTIALS_MISSING"), "{header}");
    }
    assert_eq!(ask(toys.http, "POST", COUNT, &[JSON, "x-toolwire-user: riley"], "{}").await.status, 200);
    let answer = ask(toys.http, "POST", COUNT, &[JSON, "x-toolwire-user: a b"], "{}").await;
    assert_eq!((answer.status, answer.code().as_str()), (400, "INVALID_USER"));
}

#[tokio::test]
async fn with_credentials_a_token_is_wanted_and_no_host_is_foreign_unless_it_is_said() {
    let mut config = config_with_http();
    config.auth.users = vec![AuthUser::new("riley".parse().unwrap(), "a-long-enough-t0ken".into())];
    let toys = Toys::with(config.clone());
    let answer = ask(toys.http, "POST", COUNT, &[JSON], "{}").await;
    assert_eq!((answer.status, answer.code().as_str()), (401, "CREDENTIALS_MISSING"));
    assert_eq!(answer.headers["www-authenticate"], "Bearer");
    for token in ["authorization: Bearer wrong", "authorization: Basic YTpi"] {
        let answer = ask(toys.http, "POST", COUNT, &[JSON, token], "{}").await;
        assert_eq!((answer.status, answer.code().as_str()), (401, "CREDENTIALS_REJECTED"), "{token}");
    }
    let token = "authorization: Bearer a-long-enough-t0ken";
    assert_eq!(ask(toys.http, "POST", COUNT, &[JSON, token], "{}").await.status, 200);
    let answer = ask(toys.http, "POST", COUNT, &[JSON, token, token], "{}").await;
    assert_eq!((answer.status, answer.code().as_str()), (401, "CREDENTIALS_REJECTED"));
    assert_eq!(ask(toys.http, "GET", READY, &[], "").await.status, 200, "a public route");

    config.http.allowed_hosts = vec!["tools.example".to_owned()];
    let toys = Toys::with(config);
    assert_eq!(ask(toys.http, "POST", COUNT, &[JSON, token], "{}").await.code(), "FOREIGN_HOST");
}
