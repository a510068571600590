//! What operators see of providers, and what a new version of a host's program costs their callers.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::process::Command;
use tonic::Request;
use toolwire::{
    config::AuthUser,
    contract::proto::{
        host::v1::{Offer, work_response::Message},
        v1::{HostState, ListProvidersRequest, ProviderStatus, tool_service_client::ToolServiceClient},
    },
    tool::context::RequestId,
};

use super::{
    attempt,
    host::{Host, offer},
};
use crate::support::server::Server;

const TIME: Duration = Duration::from_secs(20);

fn offers(description: &str) -> Vec<Offer> {
    vec![Offer { description: description.to_owned(), ..offer("order_status") }]
}

/// A call under way.
fn calling(
    server: &Arc<Server>,
) -> tokio::task::JoinHandle<Result<Value, toolwire::contract::proto::v1::ToolError>> {
    let server = Arc::clone(server);
    tokio::spawn(async move {
        let of = ("order_status", RequestId::generate());
        attempt(&server, of, &json!({"order_id": "A-1"}), TIME).await
    })
}

#[tokio::test]
async fn no_call_fails_when_another_version_of_a_host_takes_over() {
    let server = Arc::new(Server::start());
    let mut old = Host::dial(&server, None).await.expect("welcome");
    old.greet(offers("Where an order is.")).await.expect("welcome");
    let running = calling(&server);
    let start = old.start().await;
    // These wait for the only slot, under the definition that is about to change.
    let waiting: Vec<_> = (0..8).map(|_| calling(&server)).collect();
    let waits = async {
        while server.app.tools.in_flight().len() < 9 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(TIME, waits).await.expect("they begin");
    let mut new = Host::dial_as(&server, None, "c2").await.expect("welcome");
    new.greet(offers("Where an order is, and when it comes.")).await.expect("welcome");
    let by_new = calling(&server);
    let serving_new = tokio::spawn(async move {
        loop {
            let start = new.start().await;
            new.outcome(&start, &json!({"by": "new"})).await;
        }
    });
    assert_eq!(by_new.await.expect("no panic"), Ok(json!({"by": "new"})));
    old.outcome(&start, &json!({"by": "old"})).await;
    assert_eq!(running.await.expect("no panic"), Ok(json!({"by": "old"})));
    let serving_old = async {
        while let Ok(Some(Message::Start(start))) = old.next().await {
            old.outcome(&start, &json!({"by": "old"})).await;
        }
    };
    tokio::time::timeout(TIME, serving_old).await.expect("it leaves once it has no more calls");
    for call in waiting {
        call.await.expect("no panic").expect("no call fails");
    }
    serving_new.abort();
}

async fn providers(server: &Server, token: Option<&str>) -> Vec<ProviderStatus> {
    let mut request = Request::new(ListProvidersRequest {});
    if let Some(token) = token {
        request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().expect("ASCII"));
    }
    let mut tools = ToolServiceClient::new(server.channel().await);
    tools.list_providers(request).await.expect("OK").into_inner().providers
}

#[tokio::test]
async fn operators_see_the_programs_of_a_provider_and_what_is_not_served() {
    let server = Server::start();
    assert!(providers(&server, None).await.is_empty());
    let mut first = Host::dial(&server, None).await.expect("welcome");
    first.greet(vec![offer("get_quotes"), offer("order_status")]).await.expect("welcome");
    let mut second = Host::dial(&server, None).await.expect("welcome");
    second.greet(Vec::new()).await.expect("welcome");
    let [local] = &providers(&server, None).await[..] else { panic!("one") };
    assert_eq!((local.name.as_str(), local.tools, local.reason.as_str()), ("local", 1, ""));
    let [host] = &local.hosts[..] else { panic!("one process: {local:?}") };
    assert_eq!(
        (host.instance.as_str(), host.catalogue_id.as_str(), host.state()),
        ("i1", "c1", HostState::Serving)
    );
    assert_eq!((host.slots, host.idle), (2, 2));
    let [refused] = &local.refused[..] else { panic!("one: {local:?}") };
    assert_eq!(
        (refused.tool.as_str(), refused.problems[0].rule.as_str()),
        ("get_quotes", "owned-by-another")
    );

    let address = format!("http://{}", server.address);
    let run = async |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolwire"));
        command.arg("providers").args(["--server", &address]).args(arguments);
        let output = command.output().await.expect("runs");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("a text")
    };
    let shown = run(&[]).await;
    let lines: Vec<_> =
        shown.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(lines[0], "local (host): 1 tool, ready", "{shown}");
    assert_eq!(lines[2], "i1 c1 serves, 2 of 2 slots free", "{shown}");
    assert!(
        lines[3].starts_with("refused get_quotes /name Tool 'get_quotes' is already registered"),
        "{shown}"
    );
    let line: Value = serde_json::from_str(&run(&["--json"]).await).expect("a line of JSON");
    assert_eq!((&line["hosts"][0]["idle"], &line["refused"][0]["tool"]), (&json!(2), &json!("get_quotes")));
}

#[tokio::test]
async fn a_user_sees_the_providers_of_tools_that_the_user_may_call() {
    let mut config = super::limits::configured("");
    let user = |name: &str, tools: &str| AuthUser {
        tools: vec![tools.to_owned().try_into().expect("a pattern")],
        ..AuthUser::new(name.parse().expect("a user id"), format!("{name}-0123456789abcdef").into())
    };
    config.auth.users = vec![user("all", "*"), user("other", "get_*"), user("shopper", "order_*")];
    let server = Server::with(config);
    let names = async |user: &str| -> Vec<(String, u32)> {
        let token = format!("{user}-0123456789abcdef");
        providers(&server, Some(&token)).await.into_iter().map(|it| (it.name, it.tools)).collect()
    };
    let [bank, shop] = ["bank", "shop"].map(|name| (name.to_owned(), 0));
    assert_eq!(names("all").await, [bank.clone(), shop], "also before a program has joined");
    let mut host = Host::dial(&server, Some(super::limits::SHOP)).await.expect("welcome");
    host.greet(vec![offer("order_status")]).await.expect("welcome");
    let shop = ("shop".to_owned(), 1);
    for (user, expected) in [("all", vec![bank, shop.clone()]), ("shopper", vec![shop]), ("other", vec![])] {
        assert_eq!(names(user).await, expected, "{user}");
    }
}
