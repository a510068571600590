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
    for name in ["forwarded", "via", "x-forwarded-for", "x-forwarded-proto"] {
        let answer = ask(toys.http, "POST", COUNT, &[JSON, &format!("{name}: 1.1 edge")], "{}").await;
        assert_eq!((answer.status, answer.code().as_str()), (401, "CREDENTIALS_MISSING"), "{name}");
        let words = &answer.body;
        assert!(words.contains(&format!("header {name}")) && words.contains("[[auth.users]]"), "{words}");
    }
    for header in ["x-toolwire-user: riley", "x-forward: x"] {
        assert_eq!(ask(toys.http, "POST", COUNT, &[JSON, header], "{}").await.status, 200, "{header}");
    }
    let (long, twice) =
        (format!("x-toolwire-user: {}", "a".repeat(129)), "x-toolwire-user: a\r\nx-toolwire-user: b");
    for header in ["x-toolwire-user: a b", "x-toolwire-user:", "x-toolwire-user: caf\u{e9}", &long, twice] {
        let answer = ask(toys.http, "POST", COUNT, &[JSON, header], "{}").await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "INVALID_USER"), "{header}");
    }
}

#[tokio::test]
async fn with_credentials_a_token_is_wanted_and_no_host_is_foreign_unless_it_is_said() {
    let mut config = config_with_http();
    config.auth.users = vec![AuthUser::new("riley".parse().unwrap(), "a-long-enough-t0ken".into())];
    let toys = Toys::with(config.clone());
    for headers in [&[JSON][..], &[JSON, "x-toolwire-user: riley"]] {
        let answer = ask(toys.http, "POST", COUNT, headers, "{}").await;
        assert_eq!((answer.status, answer.code().as_str()), (401, "CREDENTIALS_MISSING"));
        assert_eq!(answer.headers["www-authenticate"], "Bearer");
    }
    for wrong in [
        "Bearer wrong",
        "Bearer",
        "Bearer ",
        "Basic YTpi",
        "Basic a-long-enough-t0ken",
        "a-long-enough-t0ken",
    ] {
        let answer = ask(toys.http, "POST", COUNT, &[JSON, &format!("authorization: {wrong}")], "{}").await;
        assert_eq!((answer.status, answer.code().as_str()), (401, "CREDENTIALS_REJECTED"), "{wrong}");
    }
    let token = "authorization: Bearer a-long-enough-t0ken";
    for beside in ["via: 1.1 edge", "x-toolwire-user: mallory"] {
        assert_eq!(ask(toys.http, "POST", COUNT, &[JSON, token, beside], "{}").await.status, 200, "{beside}");
    }
    for second in [token, "authorization: Bearer wrong", "authorization:"] {
        let answer = ask(toys.http, "POST", COUNT, &[JSON, token, second], "{}").await;
        assert_eq!((answer.status, answer.code().as_str()), (401, "CREDENTIALS_REJECTED"), "{second}");
    }
    assert_eq!(ask(toys.http, "GET", READY, &[], "").await.status, 200, "a public route");

    config.http.allowed_hosts = vec!["tools.example".to_owned()];
    let toys = Toys::with(config);
    assert_eq!(ask(toys.http, "POST", COUNT, &[JSON, token], "{}").await.code(), "FOREIGN_HOST");
}
