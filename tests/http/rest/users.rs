//! Two users: neither learns through any route of the table what the other has.

use toolwire::config::{AuthUser, ToolPattern};

use super::{KEY, get, post, value};
use crate::{
    raw::asked,
    support::server::{Server, config_with_http},
};

const RILEY: &str = "authorization: Bearer a-long-enough-t0ken";
const ALEX: &str = "authorization: Bearer an0ther-long-enough-one";
const SECRET: &str = "PLANTED-SECRET-7f3a";

#[tokio::test]
async fn neither_user_reads_what_the_other_has_and_policy_hides_tools_on_every_route() {
    let mut config = config_with_http();
    let mut alex = AuthUser::new("alex".parse().unwrap(), "an0ther-long-enough-one".into());
    alex.tools = vec![ToolPattern::try_from("get_*".to_owned()).unwrap()];
    config.auth.users = vec![AuthUser::new("riley".parse().unwrap(), "a-long-enough-t0ken".into()), alex];
    let server = Server::with(config);

    let body = format!(r#"{{"value": "{SECRET}"}}"#);
    let call = post(&server, "/v1/tools/debug_write:call", &[RILEY, KEY], &body).await;
    assert_eq!(call.status, 200, "{call:?}");
    let call_id = call.headers["x-toolwire-call-id"].clone();
    let asks = format!(r#"{{"request": "{SECRET}", "role": "analyst"}}"#);
    let task = value(&post(&server, "/v1/tasks", &[RILEY, KEY], &asks).await);
    let task = task["task"]["task_id"].as_str().unwrap().to_owned();
    let confirm = post(&server, "/v1/tools/debug_confirm:call", &[RILEY, KEY], &body).await;
    let confirmation = confirm.headers["location"].clone();

    for path in [
        "/v1/calls".to_owned(),
        "/v1/confirmations".to_owned(),
        "/v1/tasks".to_owned(),
        "/v1/records".to_owned(),
        format!("/v1/calls/{call_id}"),
        confirmation.clone(),
        format!("/v1/tasks/{task}"),
        format!("/v1/tasks/{task}/timeline"),
        format!("/v1/tasks/{task}/timeline/1"),
        format!("/v1/tasks/{task}/rendering"),
        format!("/v1/tasks/{task}/timeline:watch"),
        format!("/v1/workspaces/{task}/documents"),
        format!("/v1/workspaces/{task}/documents:search?query=x"),
        format!("/v1/workspaces/{task}/documents/a.txt"),
        format!("/v1/workspaces/{task}/versions/a.txt"),
    ] {
        let theirs = get(&server, &path, &[ALEX]).await;
        assert!(!theirs.body.contains(SECRET), "{path} {theirs:?}");
        assert!(theirs.status != 200 || path.matches('/').count() == 2, "{path} {theirs:?}");
    }
    for verb in ["lease", "release", "call", "append", "end", "cancel", "answer", "resolve"] {
        let answer = post(&server, &format!("/v1/tasks/{task}:{verb}"), &[ALEX, KEY], "{}").await;
        assert!(answer.status >= 400 && !answer.body.contains(SECRET), "{verb} {answer:?}");
    }
    let gone = asked(server.http.unwrap(), "DELETE", &format!("/v1/tasks/{task}"), &[ALEX], "").await;
    assert_eq!(gone.status, 404, "{gone:?}");
    let decided =
        post(&server, &format!("{confirmation}:decide"), &[ALEX], r#"{"deny": {"reason": "no"}}"#).await;
    assert!(matches!(decided.status, 403 | 404), "{decided:?}");

    for path in ["/v1/tools", "/openapi.json", "/v1/exports/mcp", "/v1/guidance"] {
        let (hers, theirs) = (get(&server, path, &[RILEY]).await, get(&server, path, &[ALEX]).await);
        assert!(theirs.status == 200 && !theirs.body.contains("debug_write"), "{path}");
        assert!(path == "/v1/guidance" || hers.body.contains("debug_write"), "{path}");
    }
    let refused = post(&server, "/v1/tools/debug_write:call", &[ALEX, KEY], &body).await;
    assert_eq!((refused.status, refused.code().as_str()), (403, "TOOL_NOT_ALLOWED"));
}

#[tokio::test]
async fn every_route_but_the_pages_of_errors_needs_credentials() {
    let mut config = config_with_http();
    config.auth.users = vec![AuthUser::new("riley".parse().unwrap(), "a-long-enough-t0ken".into())];
    let server = Server::with(config);
    for route in toolwire::faces::rest::routes() {
        let path = route.path.replace(['{', '}', '*'], "");
        let answer = asked(
            server.http.unwrap(),
            route.method.as_str(),
            &path,
            &["content-type: application/json"],
            "",
        )
        .await;
        let is_public = path.starts_with("/errors/");
        assert_eq!(answer.status == 401, !is_public, "{} {path} {answer:?}", route.method);
    }
}
