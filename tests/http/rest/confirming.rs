//! A call that a person must approve: where to, who may, and that it then happens once.

use serde_json::json;
use toolwire::config::{AuthUser, ToolPattern};

use super::{KEY, get, post, value};
use crate::support::server::{Server, config_with_http};

const CALL: &str = "/v1/tools/debug_confirm:call";
const BODY: &str = r#"{"value": "x"}"#;

#[tokio::test]
async fn a_confirmation_is_required_decided_and_used_once() {
    let mut config = config_with_http();
    let riley = AuthUser::new("riley".parse().unwrap(), "a-long-enough-t0ken".into());
    let mut alex = AuthUser::new("alex".parse().unwrap(), "an0ther-long-enough-one".into());
    alex.approve = ToolPattern::everything();
    config.auth.users = vec![riley, alex];
    let server = Server::with(config);
    let riley = "authorization: Bearer a-long-enough-t0ken";
    let alex = "authorization: Bearer an0ther-long-enough-one";

    let answer = post(&server, CALL, &[riley, KEY], BODY).await;
    assert_eq!((answer.status, answer.code().as_str()), (428, "CONFIRMATION_REQUIRED"));
    let location = answer.headers["location"].clone();
    let confirmation = &value(&answer)["confirmation"];
    assert_eq!(location, format!("/v1/confirmations/{}", confirmation["confirmation_id"].as_str().unwrap()));
    assert_eq!(confirmation["arguments"]["value"], "x");

    let seen = value(&get(&server, &location, &[riley]).await);
    assert_eq!(seen["confirmation"]["state"], "PENDING", "{seen}");
    let approve = json!({"approve": {"tool": "debug_confirm", "reason": "meant"}}).to_string();
    let own = post(&server, &format!("{location}:decide"), &[riley], &approve).await;
    assert_eq!((own.status, own.code().as_str()), (403, "MAY_NOT_DECIDE"));
    let decided = post(&server, &format!("{location}:decide"), &[alex], &approve).await;
    assert_eq!(decided.status, 200, "{decided:?}");

    let first = post(&server, CALL, &[riley, KEY], BODY).await;
    assert_eq!(first.status, 200, "{first:?}");
    let again = post(&server, CALL, &[riley, KEY], BODY).await;
    assert_eq!(value(&again)["data"], value(&first)["data"]);
    let deny = json!({"deny": {"reason": "late"}}).to_string();
    let late = post(&server, &format!("{location}:decide"), &[alex], &deny).await;
    assert_eq!((late.status, late.code().as_str()), (409, "CONFIRMATION_DECIDED"));
}
