//! What agents and watchers are told of limits and cool-downs, over gRPC.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::{Duration, UNIX_EPOCH},
};

use futures_util::future::{BoxFuture, ready};
use tonic::Code;
use toolwire::{
    contract::proto::v1::{
        DescribeForPlannerRequest, GetLimitsRequest, LimitPolicy, ListToolsRequest, SourceLimit, ToolState,
        ToolView, WatchEventType, WatchToolsRequest, tool_service_client::ToolServiceClient,
    },
    db::StoreError,
    server::app::App,
    sources::upstream::{
        limiter::Budget,
        source_status::{SourceBudget, SourceLimits, SourceStatus},
    },
    tool::context::UserId,
};

use crate::support::server::{Server, config, definition};

const BUDGET: Budget =
    Budget { max_requests: 12, window: Duration::from_mins(1), min_delay: Duration::from_secs(5) };

/// Limits the bundled source as if it were a forum.
#[derive(Debug, Default)]
struct Limited {
    refused: Mutex<BTreeMap<String, String>>,
}

impl SourceLimits for Limited {
    fn status<'a>(&'a self, user: &'a UserId, _: &'a str) -> BoxFuture<'a, SourceStatus> {
        let status = match user.as_str() {
            "demo" => SourceStatus {
                wait_time: Duration::from_millis(2500),
                budget: Some(BUDGET),
                used: 12,
                ceiling: Some((BUDGET, 12)),
                cool_down_until: None,
                reason: Some("Its scrape of the day is spent.".to_owned()),
            },
            _ => SourceStatus { cool_down_until: Some(UNIX_EPOCH), ..SourceStatus::default() },
        };
        Box::pin(ready(status))
    }

    fn budgets(&self) -> Vec<SourceBudget> {
        vec![SourceBudget { name: "brokerage".to_owned(), title: "Brokerage".to_owned(), budget: BUDGET }]
    }

    fn cool_downs(&self) -> BoxFuture<'_, Result<BTreeMap<String, String>, StoreError>> {
        Box::pin(ready(Ok(self.refused.lock().expect("not poisoned").clone())))
    }
}

/// A server whose source is limited.
fn start() -> (Server, Arc<Limited>) {
    let limited = Arc::new(Limited::default());
    let config = config();
    let app = App::build(&config, &toolwire::domains::bundled()).expect("starts");
    (Server::of(app.with_limits(Arc::clone(&limited) as _), config), limited)
}

async fn limits(server: &Server, user: &str) -> Vec<SourceLimit> {
    let mut request = tonic::Request::new(GetLimitsRequest::default());
    request.metadata_mut().insert("x-toolwire-user", user.parse().expect("a value"));
    server.tools().await.get_limits(request).await.expect("answers").into_inner().limits
}

#[tokio::test]
async fn limits_are_those_of_the_user() {
    let (server, _) = start();
    let of = |seconds, nanos| Some(prost_types::Duration { seconds, nanos });
    let waiting = SourceLimit {
        source: "brokerage".to_owned(),
        can_make_request: false,
        wait_time: of(2, 500_000_000),
        policy: Some(LimitPolicy { max_requests: 12, window: of(60, 0), min_delay: of(5, 0) }),
        cool_down_until: None,
        reason: "Its scrape of the day is spent.".to_owned(),
        used: 12,
        // How much others use is for observers.
        ceiling: None,
        ceiling_used: 0,
    };
    assert_eq!(limits(&server, "demo").await.first(), Some(&waiting));
    let cooling = limits(&server, "riley").await;
    assert_eq!(cooling[0].cool_down_until, Some(prost_types::Timestamp::default()));

    let nowhere = GetLimitsRequest { source: "nowhere".to_owned() };
    let status = server.tools().await.get_limits(nowhere).await.expect_err("refused");
    assert_eq!(status.code(), Code::InvalidArgument);
}

#[tokio::test]
async fn guidance_names_the_budget_and_the_tools_that_share_it() {
    let (server, _) = start();
    let guidance = async |tags: &[&str]| {
        let tags = tags.iter().map(ToString::to_string).collect();
        let response = server
            .tools()
            .await
            .describe_for_planner(DescribeForPlannerRequest { tags, ..Default::default() })
            .await;
        response.expect("answers").into_inner().guidance
    };
    let expected = "## Tool Usage Guidelines\n- Brokerage tools: Max 12 calls per cycle. Use sparingly. (get_quotes: at most \
                    12 requests a minute, 5 s apart.)\n- If a tool returns a rate limit error, wait before retrying.";
    assert_eq!(guidance(&["market"]).await, expected);
    assert_eq!(guidance(&["diagnostics"]).await, "");
}

#[tokio::test]
async fn watchers_hear_that_a_source_refuses_us_and_that_it_is_over() {
    let (server, limited) = start();
    let mut client: ToolServiceClient<_> = server.tools().await;
    let mut watch = client.watch_tools(WatchToolsRequest::default()).await.expect("answers").into_inner();
    let mut next = async |wanted: WatchEventType| loop {
        let event = watch.message().await.expect("no status").expect("no end");
        if event.r#type() == wanted {
            return event;
        }
        assert_ne!(event.r#type(), WatchEventType::DataChanged, "the data is the same");
    };
    next(WatchEventType::Synced).await;

    let refused = BTreeMap::from([("brokerage".to_owned(), "It refuses to serve us".to_owned())]);
    *limited.refused.lock().expect("not poisoned") = refused;
    let told = definition(&next(WatchEventType::Degraded).await.tool).status.expect("a status");
    assert_eq!((told.state(), told.reason.as_str()), (ToolState::Degraded, "It refuses to serve us"));

    limited.refused.lock().expect("not poisoned").clear();
    let told = definition(&next(WatchEventType::Changed).await.tool).status.expect("a status");
    assert_eq!((told.state(), told.reason.as_str()), (ToolState::Ready, ""));
    let request = ListToolsRequest { view: ToolView::Basic.into(), ..Default::default() };
    let mut tools = server.tools().await.list_tools(request).await.expect("answers").into_inner();
    while let Some(response) = tools.message().await.expect("no status") {
        let tool = definition(&response.tool);
        assert_ne!(tool.status.expect("a status").state(), ToolState::Degraded, "{}", tool.name);
    }
}
