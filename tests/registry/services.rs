//! The services that tools declare: start-up refuses a missing one, and a tool gets no others.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tempfile::TempDir;
use toolwire::{
    base::clock,
    config::Config,
    contract::{Provenance, Refusal, Terminal, ToolError},
    domains::{self, brokerage::proto},
    engine::{
        pipeline::{Call, Target},
        registry::Status,
    },
    server::{
        app::App,
        domain::{Domain, Opened},
    },
    tool::{
        Executor, Reply, Tool,
        context::{RequestId, Required, Services, ToolContext, Unfinished, User},
        erase,
    },
};

use super::support::{Data, manifest};

/// A service of the toys.
struct Shelf;

/// A tool that declares the shelf.
struct Declared;

/// A tool that takes from the shelf without declaring it.
struct Undeclared;

impl Tool for Declared {
    const NAME: &'static str = "get_quotes";
    type Input = proto::v1::GetQuotesRequest;
    type Output = proto::v1::GetQuotesOutput;

    fn services() -> Required {
        Required::none().of::<Shelf>()
    }

    async fn execute(
        &self,
        _input: Self::Input,
        context: &ToolContext,
    ) -> Result<Reply<Self::Output>, Unfinished> {
        context.services.get::<Shelf>();
        Ok(Reply { data: Self::Output::default(), provenance: Provenance::default() })
    }
}

impl Tool for Undeclared {
    const NAME: &'static str = "get_positions";
    type Input = proto::v1::GetPositionsRequest;
    type Output = proto::v1::GetPositionsOutput;

    async fn execute(
        &self,
        _input: Self::Input,
        context: &ToolContext,
    ) -> Result<Reply<Self::Output>, Unfinished> {
        context.services.get::<Shelf>();
        Ok(Reply { data: Self::Output::default(), provenance: Provenance::default() })
    }
}

fn toys(tools: Vec<Arc<dyn Executor>>, services: &Services) -> Domain {
    let services = services.clone();
    Domain {
        tools,
        descriptors: proto::DESCRIPTORS,
        open: Box::new(move |_| Ok(Opened { services: services.clone(), ..Opened::default() })),
        ..Domain::new("toys")
    }
}

/// The configuration of a service whose state is kept in a directory.
fn config(state: &TempDir) -> Config {
    let mut config = Config::default();
    config.state.dir = Some(state.path().to_owned());
    config
}

/// What a call ends with. A tool that writes is given a `request_id`.
async fn call(app: &App, tool: &str, arguments: Map<String, Value>) -> Result<(), ToolError> {
    let user = User::new("demo".parse().expect("a user id"));
    let context = ToolContext::new(user, clock::now() + std::time::Duration::from_mins(1));
    let mut call = Call::new(context, Target::Tool(tool.to_owned()), Ok(arguments));
    call.request_id = Some(RequestId::generate());
    let started = match app.tools.start(call).await {
        Ok(started) => started,
        // Of a task, which it does not have here. Its services would have been missed before.
        Err(Refusal::InvalidRequest(_)) => return Ok(()),
        Err(refusal) => panic!("{refusal:?}"),
    };
    match started.terminal().await.expect("not refused") {
        Terminal::Result(result) => result.outcome.map(drop),
        other @ Terminal::ConfirmationRequired(_) => panic!("{other:?}"),
    }
}

#[test]
fn a_tool_whose_service_no_domain_offers_is_refused_at_start() {
    let data = Data::with(&[manifest("get_quotes", &json!({}))]);
    let state = TempDir::new().expect("a directory");
    let mut config = config(&state);
    config.data.dir = Some(data.path().to_owned());
    let started = |services: &Services| App::build(&config, &[toys(vec![erase(Declared)], services)]);

    let error = started(&Services::default()).expect_err("refused").to_string();
    let service = std::any::type_name::<Shelf>();
    assert_eq!(
        error,
        format!(
            "tool get_quotes needs the service {service}, which no domain offers; offer it in a domain's `open`, or remove the tool"
        )
    );
    started(&Services::default().with(Arc::new(Shelf))).expect("starts");
}

#[tokio::test]
async fn a_tool_gets_the_services_that_it_declares_and_no_others() {
    let of = |name| manifest(name, &json!({}));
    let data = Data::with(&[of("get_quotes"), of("get_positions")]);
    let state = TempDir::new().expect("a directory");
    let mut config = config(&state);
    config.data.dir = Some(data.path().to_owned());
    let domain = toys(vec![erase(Declared), erase(Undeclared)], &Services::default().with(Arc::new(Shelf)));
    let app = App::build(&config, &[domain]).expect("starts");

    assert_eq!(call(&app, "get_quotes", Map::new()).await, Ok(()));
    let error = call(&app, "get_positions", Map::new()).await.expect_err("it declares nothing");
    assert!(error.message.contains("failed unexpectedly"), "{error}");
}

#[tokio::test]
async fn every_bundled_tool_declares_the_services_that_it_uses() {
    let state = TempDir::new().expect("a directory");
    let app = App::build(&config(&state), &domains::bundled()).expect("starts");
    let mut wrong = Vec::new();
    let mut called = 0;
    let snapshot = app.registry.snapshot();
    for tool in snapshot.tools().filter(|tool| tool.definition.status == Status::Ready) {
        for example in &tool.definition.examples {
            called += 1;
            if let Err(error) = call(&app, &tool.definition.name, example.arguments.clone()).await
                && error.message.contains("failed unexpectedly")
            {
                wrong.push(format!("{}: {error}", tool.definition.name));
            }
        }
    }
    assert!(called >= 30, "every bundled tool has an example");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
