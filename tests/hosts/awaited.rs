//! Right after its start a server does not know the tools of its providers: their names are not unknown ones.

use tonic::{Code, Status};
use tonic_types::StatusExt;
use toolwire::contract::proto::v1::{CallToolRequest, GetToolRequest, call_tool_request};

use super::{
    host::{Host, offer},
    limits::{SHOP, by_riley, configured},
};
use crate::support::server::Server;

/// How a call of a tool, and a query of it, are refused.
async fn refusals(server: &Server, tool: &str) -> [Status; 2] {
    let target = Some(call_tool_request::Target::Tool(tool.to_owned()));
    let call = by_riley(CallToolRequest { target, ..CallToolRequest::default() });
    let get = by_riley(GetToolRequest { name: tool.to_owned(), ..GetToolRequest::default() });
    let mut tools = server.tools().await;
    [tools.call_tool(call).await.unwrap_err(), tools.get_tool(get).await.unwrap_err()]
}

#[tokio::test]
async fn a_tool_whose_provider_is_not_back_yet_is_unavailable_rather_than_unknown() {
    let server = Server::with(configured("tools = ['order_*']"));
    let mut bank = Host::dial(&server, Some("bank-0123456789abcdef")).await.expect("a slot");
    bank.greet(vec![offer("balance")]).await.expect("welcome");
    for status in refusals(&server, "order_status").await {
        assert_eq!(status.code(), Code::Unavailable, "{status:?}");
        let details = status.get_error_details();
        assert_eq!(details.error_info().expect("a reason").reason, "TOOL_AWAITED");
        assert!(details.retry_info().is_some_and(|it| it.retry_delay.is_some()), "{status:?}");
    }
    // No provider that is awaited may own it.
    for status in refusals(&server, "balances").await {
        assert_eq!(status.code(), Code::NotFound, "{status:?}");
    }
    let mut shop = Host::dial(&server, Some(SHOP)).await.expect("a slot");
    shop.greet(vec![offer("order_status")]).await.expect("welcome");
    for status in refusals(&server, "order_state").await {
        assert_eq!(status.code(), Code::NotFound, "{status:?}");
    }
}
