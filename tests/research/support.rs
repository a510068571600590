//! The whole service without a face, over embedded sources or with one source replaced by a stub.

use std::{sync::Arc, time::Duration};

use serde_json::{Map, Value};
use tempfile::TempDir;
use toolwire::{
    app::App,
    clock,
    config::Config,
    context::{RequestId, ToolContext, User},
    contract::{Terminal, ToolResult},
    pipeline::{Call, Target},
};

/// The service and the state that it keeps.
#[derive(Clone)]
pub(crate) struct Research {
    pub(crate) app: App,
    config: Config,
    state: Arc<TempDir>,
}

/// The configuration without anything set.
pub(crate) fn embedded() -> Config {
    Config::default()
}

impl Research {
    pub(crate) fn embedded() -> Self {
        Self::of(embedded())
    }

    pub(crate) fn of(config: Config) -> Self {
        Self::on(config, Arc::new(tempfile::tempdir().expect("a directory")))
    }

    /// One source is live and at the given address, the others are embedded.
    pub(crate) fn against(source: &str, uri: &str) -> Self {
        Self::of(live(source, uri))
    }

    /// The same state, with one source at the given address.
    pub(crate) fn against_too(&self, source: &str, uri: &str) -> Self {
        Self::on(live(source, uri), Arc::clone(&self.state))
    }

    /// As after a restart: the same configuration and the same state.
    pub(crate) fn again(&self) -> Self {
        Self::on(self.config.clone(), Arc::clone(&self.state))
    }

    fn on(mut config: Config, state: Arc<TempDir>) -> Self {
        config.state.dir = Some(state.path().to_owned());
        let app = App::build(&config).unwrap_or_else(|error| panic!("{error}"));
        Self { app, config, state }
    }

    /// A call by the default user.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> ToolResult {
        self.call_as("demo", tool, arguments).await
    }

    pub(crate) async fn call_as(&self, user: &str, tool: &str, arguments: Value) -> ToolResult {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        match self.started(user, tool, arguments).await {
            Terminal::Result(result) => result,
            other @ Terminal::ConfirmationRequired(_) => panic!("{other:?}"),
        }
    }

    async fn started(&self, user: &str, tool: &str, arguments: Map<String, Value>) -> Terminal {
        let user = User::new(user.parse().expect("a user id"));
        let context = ToolContext::new(user, clock::now() + Duration::from_mins(1));
        let mut call = Call::new(context, Target::Tool(tool.to_owned()), arguments);
        call.request_id = tool.ends_with("_watchlist").then(RequestId::generate);
        let started =
            self.app.pipeline.start(call).await.unwrap_or_else(|refusal| panic!("{tool}: {refusal}"));
        started.terminal().await.unwrap_or_else(|refusal| panic!("{tool}: {refusal}"))
    }
}

/// The data of a result that must have some.
#[track_caller]
pub(crate) fn data(result: ToolResult) -> Value {
    match result.outcome {
        Ok(data) => data.json().clone(),
        Err(error) => panic!("{error}"),
    }
}
