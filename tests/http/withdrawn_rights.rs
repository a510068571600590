//! Watches of users who lose a right while they are open.

use toolwire::config::{Auth, AuthUser, Flags, ToolPattern, testing};

use crate::{
    http::{
        issuers::{Issuer, RULES},
        raw::{Raw, ask},
        toys::{COUNT, Toys, WATCH},
    },
    support::server::config_with_http,
};

const RILEY: &str = "authorization: Bearer a-long-enough-t0ken";
const ALEX: &str = "authorization: Bearer an0ther-long-token";

/// Riley, who may call these tools, and alex.
fn users(tools: &str) -> Auth {
    let user = |name: &str, header: &str| {
        let token = header.trim_start_matches("authorization: Bearer ");
        AuthUser::new(name.parse().unwrap(), token.to_owned().into())
    };
    let tools = vec![ToolPattern::try_from(tools.to_owned()).unwrap()];
    Auth { users: vec![AuthUser { tools, ..user("riley", RILEY) }, user("alex", ALEX)], ..Auth::default() }
}

fn toys() -> Toys {
    let mut config = config_with_http();
    config.auth = users("*");
    Toys::with(config)
}

async fn watch(toys: &Toys, header: &str) -> Raw {
    let mut watch = Raw::connect(toys.http).await;
    watch.ask("GET", WATCH, &[header], "").await;
    watch.until("event: first").await;
    watch
}

#[tokio::test]
async fn a_watch_ends_when_its_user_loses_a_right_and_only_then() {
    let toys = toys();
    let (mut riley, mut alex) = (watch(&toys, RILEY).await, watch(&toys, ALEX).await);
    let replace = |auth: Auth| toys.server.app.replace_auth(auth).unwrap();
    // The same, and more than before.
    assert_eq!(replace(users("*")), [""; 0]);
    let mut more = users("*");
    more.users[0].approve = ToolPattern::everything();
    assert_eq!(replace(more), ["user changed: riley"]);
    assert_eq!(replace(users("get_*")), ["user changed: riley"]);
    riley.until("\"code\":\"RIGHT_WITHDRAWN\"").await;
    riley.until("0\r\n\r\n").await;
    // With what is left it goes on until that is gone, too.
    let mut riley = watch(&toys, RILEY).await;
    let mut gone = users("*");
    gone.users.remove(0);
    assert_eq!(replace(gone), ["user removed: riley"]);
    riley.until("\"code\":\"CREDENTIALS_REJECTED\"").await;
    let answer = ask(toys.http, "POST", COUNT, &["content-type: application/json", RILEY], "{}").await;
    assert_eq!((answer.status, answer.code().as_str()), (401, "CREDENTIALS_REJECTED"));
    // Nobody else noticed.
    let mut none = users("*");
    none.users.remove(1);
    replace(none);
    assert!(!alex.until("CREDENTIALS_REJECTED").await.contains("RIGHT_WITHDRAWN"));
}

#[tokio::test]
async fn a_watch_ends_with_the_token_that_it_began_with() {
    let toys = toys();
    let mut riley = watch(&toys, RILEY).await;
    let mut rotated = users("*");
    let old = rotated.users[0].clone();
    rotated.users[0].token = Some(secrecy::SecretString::from("a-r0tated-long-token").into());
    // While both are there, both are accepted.
    let mut both = rotated.clone();
    both.users.push(old);
    let app = &toys.server.app;
    assert_eq!(app.replace_auth(both).unwrap(), ["tokens changed of user: riley"]);
    let mut next = watch(&toys, "authorization: Bearer a-r0tated-long-token").await;
    app.replace_auth(rotated).unwrap();
    riley.until("\"code\":\"CREDENTIALS_REJECTED\"").await;
    // Neither is this token there any more, so that it does not matter what else is lost.
    app.replace_auth(users("get_*")).unwrap();
    assert!(!next.until("\"code\":\"CREDENTIALS_REJECTED\"").await.contains("RIGHT_WITHDRAWN"));
}

#[tokio::test]
async fn a_watch_ends_with_the_settings_of_the_issuer_by_which_its_token_was_accepted() {
    let issuer = Issuer::start().await;
    let config = issuer.configured(RULES);
    let auth = config.auth.clone();
    let toys = Toys::with(config);
    let replace = |change: &dyn Fn(&mut Auth)| {
        let mut changed = auth.clone();
        change(&mut changed);
        toys.server.app.replace_auth(changed).unwrap()
    };
    let token = issuer.token("8f2c", &["support"], &[]);
    let changes: [&dyn Fn(&mut Auth); 5] = [
        &|it| it.issuers[0].issuer = "https://login.example".to_owned(),
        &|it| it.issuers[0].tokens.audience = vec!["else".to_owned()],
        &|it| it.issuers[0].user = "email".parse().unwrap(),
        &|it| it.issuers[0].groups = None,
        &|it| it.issuers[0].tokens.algorithms.truncate(1),
    ];
    for change in changes {
        replace(&|_| ());
        let mut watch = watch(&toys, &token).await;
        assert_eq!(replace(change), ["issuer changed: corp"]);
        watch.until("\"code\":\"CREDENTIALS_REJECTED\"").await;
    }
    replace(&|_| ());
    let mut watch = watch(&toys, &token).await;
    // By these the token is accepted as before.
    replace(&|it| it.issuers[0].tokens.audience.push("else".to_owned()));
    replace(&|it| it.issuers[0].email = None);
    replace(&|it| it.rules.truncate(0));
    assert!(!watch.until("\"code\":\"RIGHT_WITHDRAWN\"").await.contains("CREDENTIALS"));
}

#[tokio::test]
async fn a_stream_of_a_page_that_is_resumed_shows_what_its_user_may_still_see() {
    const EVENTS: &str = "/v1/events?topics=calls&user_id=*";
    let mut observed = users("*");
    observed.users[1].observe = true;
    let mut config = config_with_http();
    config.auth = observed.clone();
    let toys = Toys::with(config);
    let call = async |header: &str| {
        let headers = ["content-type: application/json", header];
        let body = "{\"symbol\": \"AMD\"}";
        let answer = ask(toys.http, "POST", "/v1/tools/get_quotes:call", &headers, body).await;
        serde_json::from_str::<serde_json::Value>(&answer.body).unwrap()["call_id"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let open = async |headers: &[&str]| {
        let mut stream = Raw::connect(toys.http).await;
        stream.ask("GET", EVENTS, headers, "").await;
        stream
    };
    let mut alex = open(&[ALEX]).await;
    alex.until("calls.synced").await;
    let seen = call(RILEY).await;
    let text = alex.until(&seen).await;
    let last = text.lines().filter_map(|line| line.strip_prefix("id: ")).next_back().unwrap();
    let resumed = [ALEX, &format!("last-event-id: {last}")];
    toys.server.app.replace_auth(users("*")).unwrap();
    alex.until("\"code\":\"RIGHT_WITHDRAWN\"").await;
    let mut alex = open(&resumed).await;
    alex.until("event: reset").await;
    let hidden = call(RILEY).await;
    let own = call(ALEX).await;
    let text = alex.until(&own).await;
    assert!(!text.contains(&hidden) && !text.contains(&seen), "{text}");
    // And what the user may see again.
    toys.server.app.replace_auth(observed).unwrap();
    let mut alex = open(&resumed).await;
    alex.until("calls.synced").await;
    alex.until(&call(RILEY).await).await;
}

/// Nothing is left to riley, whatever else the file says.
fn without_riley(mut auth: Auth) -> Auth {
    let rule = "[[auth.users]]\nuser_id = 'riley'\ntoken = 'a-long-enough-t0ken'\n\
                [[auth.rules]]\nwho = ['user:riley', 'user:corp:8f2c']\ntools = ['*']\neffect = 'deny'\n\
                [[auth.issuers]]\nname = 'corp'\nissuer = 'https://login.example'\naudience = ['toolwire']\n";
    auth.rules = testing::load_text(rule, &[], Flags::default(), &[]).unwrap().config.auth.rules;
    auth
}

#[tokio::test]
async fn a_user_whom_a_rule_shuts_out_is_refused_whatever_is_asked_for() {
    let mut all = users("*");
    all.users[1].observe = true;
    let mut config = config_with_http();
    config.auth = all.clone();
    let toys = Toys::with(config);
    let app = &toys.server.app;
    let (mut riley, mut alex) = (watch(&toys, RILEY).await, watch(&toys, ALEX).await);
    app.replace_auth(without_riley(all.clone())).unwrap();
    assert!(!riley.until("\"code\":\"CREDENTIALS_REJECTED\"").await.contains("RIGHT_WITHDRAWN"));
    riley.until("0\r\n\r\n").await;
    let asked = async |method: &str, path: &str, header: &str| {
        let json = ["content-type: application/json", "accept: application/json, text/event-stream", header];
        ask(toys.http, method, path, &json, if method == "GET" { "" } else { "{}" }).await
    };
    for (method, path) in [
        ("POST", COUNT),
        ("POST", "/v1/tasks"),
        ("GET", "/v1/calls"),
        ("GET", "/v1/confirmations"),
        ("GET", "/v1/tools"),
        ("PUT", "/v1/workspaces/task_1/documents/notes.md"),
        ("POST", "/mcp"),
    ] {
        let answer = asked(method, path, RILEY).await;
        assert_eq!((answer.status, answer.code().as_str()), (401, "CREDENTIALS_REJECTED"), "{method} {path}");
        assert!(answer.body.contains("serves the user of these credentials no longer"), "{answer:?}");
        assert_ne!(asked(method, path, ALEX).await.status, 401, "{method} {path}");
    }
    // The audit names the user.
    app.state.write_refusals(true).await.unwrap();
    let refusals = asked("GET", "/v1/refusals", ALEX).await.body;
    assert!(refusals.contains("\"shut_out\"") && refusals.contains("\"riley\""), "{refusals}");
    app.replace_auth(all.clone()).unwrap();
    assert_eq!(asked("POST", COUNT, RILEY).await.status, 200);
    all.users[1].tools = Vec::new();
    app.replace_auth(all).unwrap();
    assert!(!alex.until("RIGHT_WITHDRAWN").await.contains("CREDENTIALS"), "nobody else noticed");
}

#[tokio::test]
async fn a_user_of_an_issuer_whom_a_rule_shuts_out_has_no_watch() {
    let issuer = Issuer::start().await;
    let config = issuer.configured(RULES);
    let auth = config.auth.clone();
    let toys = Toys::with(config);
    let (left, stays) = (issuer.token("8f2c", &["support"], &[]), issuer.token("91d0", &["support"], &[]));
    let mut watch = watch(&toys, &left).await;
    let mut denied = auth.clone();
    denied.rules.extend(without_riley(Auth::default()).rules);
    toys.server.app.replace_auth(denied).unwrap();
    watch.until("\"code\":\"CREDENTIALS_REJECTED\"").await;
    let status = async |token: &str| {
        ask(toys.http, "POST", COUNT, &["content-type: application/json", token], "{}").await.status
    };
    assert_eq!((status(&left).await, status(&stays).await), (401, 200));
}

#[tokio::test]
async fn whether_credentials_are_required_is_replaced_by_nothing() {
    let toys = toys();
    assert!(toys.server.app.replace_auth(Auth::default()).unwrap_err().contains("restart"));
    assert_eq!(ask(toys.http, "POST", COUNT, &["content-type: application/json"], "{}").await.status, 401);
    let open = Toys::start();
    assert!(open.server.app.replace_auth(users("*")).unwrap_err().contains("restart"));
    assert_eq!(ask(open.http, "POST", COUNT, &["content-type: application/json"], "{}").await.status, 200);
}
