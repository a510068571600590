//! A provider is a source: its limits, the pauses it asks for and its cool-downs hold for all its tools, and are shown.

use std::{fs, time::Duration};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::timeout;
use tonic::{Request, metadata::MetadataValue};
use toolwire::{
    config::{self, Config, Environment, Flags, Sources},
    contract::proto::{
        host::v1::{Offer, Start},
        v1::{
            CachePolicy, CallToolRequest, ExportToolsRequest, GetLimitsRequest, GetToolRequest, ResultFormat,
            SourceLimit, ToolError, ToolErrorCode, ToolState, ToolView, call_tool_request,
            call_tool_response, tool_result,
        },
    },
};

use super::host::{Host, offer};
use crate::support::server::{Server, definition};

pub(super) const SHOP: &str = "shop-0123456789abcdef";
const BANK: &str = "bank-0123456789abcdef";
const RILEY: &str = "riley-0123456789abcdef";

/// A server with two providers, of which `shop` has these limits.
pub(super) fn configured(limits: &str) -> Config {
    let file = format!(
        "[server]\nlisten = '127.0.0.1:0'\n[[auth.users]]\nuser_id = 'riley'\ntoken = '{RILEY}'\n\
         [providers.shop]\nkind = 'host'\ntoken_env = 'SHOP_TOKEN'\n{limits}\n\
         [providers.bank]\nkind = 'host'\ntoken_env = 'BANK_TOKEN'"
    );
    let directory: TempDir = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("toolwire.toml"), file).expect("written");
    let environment = Environment::of(&[("SHOP_TOKEN", SHOP), ("BANK_TOKEN", BANK)]);
    let sources = Sources { flags: Flags::default(), environment, directory: directory.path().to_owned() };
    let mut config = config::load(&sources, &[]).expect("good").config;
    // A state of its own, which a pause of another test would outlive.
    config.state.dir = None;
    config
}

pub(super) fn by_riley<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    let token: MetadataValue<_> = format!("Bearer {RILEY}").parse().expect("ASCII");
    request.metadata_mut().insert("authorization", token);
    request
}

async fn call(server: &Server, tool: &str, order: &str, time: Duration) -> Result<Value, ToolError> {
    let mut request = by_riley(CallToolRequest {
        target: Some(call_tool_request::Target::Tool(tool.to_owned())),
        input: Some(call_tool_request::Input::ArgumentsJson(json!({"order_id": order}).to_string())),
        result_format: ResultFormat::Json.into(),
        ..CallToolRequest::default()
    });
    request.set_timeout(time);
    let answer = server.tools().await.call_tool(request).await.expect("OK").into_inner();
    let Some(call_tool_response::Outcome::Result(result)) = answer.outcome else { panic!("no result") };
    match result.outcome.expect("an outcome") {
        tool_result::Outcome::DataJson(text) => Ok(serde_json::from_str(&text).expect("JSON")),
        tool_result::Outcome::Error(error) => Err(error),
        other => panic!("{other:?}"),
    }
}

/// A call that the host carries out.
async fn served(server: &Server, host: &mut Host, tool: &str, order: &str) -> Result<Value, ToolError> {
    let serving = async {
        let start = host.start().await;
        host.outcome(&start, &json!({"state": "sent"})).await;
    };
    tokio::join!(call(server, tool, order, LONG), serving).0
}

/// A call that the host answers with this error.
async fn refused(server: &Server, host: &mut Host, tool: &str, error: ToolError) -> ToolError {
    let refusing = async {
        let start: Start = host.start().await;
        host.fail(&start, error).await;
    };
    tokio::join!(call(server, tool, "A-1", LONG), refusing).0.expect_err("an error")
}

async fn limit_of(server: &Server, source: &str) -> SourceLimit {
    let request = by_riley(GetLimitsRequest { source: source.to_owned() });
    server.tools().await.get_limits(request).await.expect("OK").into_inner().limits.remove(0)
}

fn seconds(duration: Option<&prost_types::Duration>) -> i64 {
    duration.expect("stated").seconds
}

const SHORT: Duration = Duration::from_secs(3);
const LONG: Duration = Duration::from_secs(20);

#[tokio::test]
async fn calls_of_a_provider_spend_its_budget_and_what_is_cached_spends_nothing() {
    let server = Server::with(configured("max_requests = 2"));
    let mut host = Host::dial(&server, Some(SHOP)).await.expect("a slot");
    let ttl = Some(prost_types::Duration { seconds: 60, nanos: 0 });
    let cache = Some(CachePolicy { ttl, tier: "persistent".to_owned(), scope: "user".to_owned() });
    let welcome = host.greet(vec![Offer { cache, ..offer("order_status") }]).await.expect("welcome");
    assert_eq!(welcome.accepted, 1, "{:?}", welcome.verdicts);
    let get = by_riley(GetToolRequest { name: "order_status".into(), ..GetToolRequest::default() });
    let tool = server.tools().await.get_tool(get).await.expect("served").into_inner().tool;
    assert_eq!(definition(&tool).source.expect("a source").name, "shop");
    let limit = limit_of(&server, "shop").await;
    assert!(limit.can_make_request);
    let policy = limit.policy.expect("a budget");
    assert_eq!((policy.max_requests, seconds(policy.window.as_ref())), (2, 60));

    for order in ["A-1", "A-2"] {
        served(&server, &mut host, "order_status", order).await.expect("within the budget");
    }
    let error = call(&server, "order_status", "A-3", SHORT).await.expect_err("it is spent");
    assert_eq!(error.code(), ToolErrorCode::RateLimited);
    assert!((50..=60).contains(&seconds(error.retry_after.as_ref())), "{error:?}");
    let limit = limit_of(&server, "shop").await;
    assert!(!limit.can_make_request && seconds(limit.wait_time.as_ref()) >= 50, "{limit:?}");
    assert_eq!(call(&server, "order_status", "A-2", SHORT).await, Ok(json!({"state": "sent"})), "cached");

    let export = by_riley(ExportToolsRequest { format: "mcp".to_owned(), ..ExportToolsRequest::default() });
    let export = server.tools().await.export_tools(export).await.expect("OK").into_inner().json;
    let export: Value = serde_json::from_str(&export).expect("JSON");
    let exported = export["tools"].as_array().expect("tools").iter().find(|it| it["name"] == "order_status");
    assert_eq!(exported.expect("exported")["annotations"]["openWorldHint"], json!(true));
}

#[tokio::test]
async fn a_call_waits_for_its_permit_within_its_deadline() {
    let server = Server::with(configured("max_requests = 1\nwindow = '2s'"));
    let mut host = Host::dial(&server, Some(SHOP)).await.expect("a slot");
    host.greet(vec![offer("order_status")]).await.expect("welcome");
    for order in ["A-1", "A-2"] {
        served(&server, &mut host, "order_status", order).await.expect("carried out");
    }
}

#[tokio::test]
async fn a_pause_that_a_host_asks_for_holds_for_all_its_tools_and_for_no_other_provider() {
    let server = Server::with(configured(""));
    let mut shop = Host::dial(&server, Some(SHOP)).await.expect("a slot");
    shop.greet(vec![offer("order_status"), offer("order_list")]).await.expect("welcome");
    let mut bank = Host::dial(&server, Some(BANK)).await.expect("a slot");
    bank.greet(vec![offer("balance")]).await.expect("welcome");
    let asks = ToolError {
        code: ToolErrorCode::RateLimited.into(),
        message: "riley asks too often".to_owned(),
        retry_after: Some(prost_types::Duration { seconds: 30, nanos: 0 }),
        ..ToolError::default()
    };
    let error = refused(&server, &mut shop, "order_status", asks).await;
    assert_eq!(error.message, "riley asks too often");
    let error = call(&server, "order_list", "A-1", SHORT).await.expect_err("nothing is started");
    assert_eq!(error.code(), ToolErrorCode::RateLimited);
    assert!((20..=30).contains(&seconds(error.retry_after.as_ref())), "{error:?}");
    let limit = limit_of(&server, "shop").await;
    assert!(!limit.can_make_request && limit.reason.contains("shop"), "{limit:?}");
    assert!(!limit.reason.contains("riley"), "words of one call are not for all");
    served(&server, &mut bank, "balance", "A-1").await.expect("another provider");
}

#[tokio::test]
async fn refused_credentials_degrade_all_tools_of_a_provider_for_a_minute() {
    let server = Server::with(configured(""));
    let mut host = Host::dial(&server, Some(SHOP)).await.expect("a slot");
    host.greet(vec![offer("order_status"), offer("order_list")]).await.expect("welcome");
    let denied = ToolError { code: ToolErrorCode::AuthFailed.into(), ..ToolError::default() };
    let error = refused(&server, &mut host, "order_status", denied).await;
    assert_eq!((error.code(), seconds(error.retry_after.as_ref())), (ToolErrorCode::AuthFailed, 60));
    let error = call(&server, "order_list", "A-1", SHORT).await.expect_err("nothing is started");
    assert_eq!(error.code(), ToolErrorCode::AuthFailed);
    assert!(limit_of(&server, "shop").await.cool_down_until.is_some());
    let is_degraded = || {
        let snapshot = server.app.registry.snapshot();
        let tool = &snapshot.get("order_list").expect("served").definition;
        definition(tool.encoded(ToolView::FullJson))
            .status
            .is_some_and(|it| it.state() == ToolState::Degraded)
    };
    let mut snapshots = server.app.registry.watch();
    let said = async {
        while !is_degraded() {
            snapshots.changed().await.expect("it is served");
        }
    };
    timeout(Duration::from_secs(10), said).await.expect("it is said");
}
