//! The whole service without a face, with its search embedded or elsewhere.

use std::{sync::Arc, time::Duration};

use serde_json::Value;
use tempfile::TempDir;
use toolwire::{
    base::clock,
    config::Config,
    contract::{Refusal, Terminal, ToolError, ToolResult},
    db::Durability,
    domains::orchestration::sources::search::{ENDPOINT, SPEC},
    engine::pipeline::{Call, Target},
    server::app::App,
    sources::upstream::settings::{Modes, Settings, SourceSettings},
    tool::context::{RequestId, TaskId, ToolContext, User},
};

/// A root as the table of tasks has it, made before its migration where there is none yet.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS tasks (number INTEGER PRIMARY KEY, id, root, parent, user_id, kind, \
     role, request, documents, state, waiting_step, result_documents, message, depth, next, bytes, tainted, \
     lease_holder, lease_token, lease_until, created_at, updated_at, deadline, labels, master_next, position, \
     deleted DEFAULT 0)";
const ADD: &str = "INSERT INTO tasks (id, root, user_id, tainted, kind, role, request, documents, state, waiting_step, \
     result_documents, message, depth, next, bytes, lease_holder, lease_token, lease_until, created_at, updated_at, \
     deadline, labels, master_next, position) VALUES (?, ?, 'demo', ?, 'root', '', '{}', '[]', 'pending', 0, \
     '[]', '', 0, 0, 0, '', 0, 0, 0, 0, 9000000000000, '{}', 0, 0)";

/// The service and the state that it keeps.
pub(crate) struct Service {
    pub(crate) app: App,
    _state: Arc<TempDir>,
}

/// The search is asked over the network: at an address, or nowhere.
pub(crate) fn live(uri: Option<&str>) -> Config {
    let url = uri.map(|uri| format!("{uri}/").parse().expect("an address"));
    let set = SourceSettings {
        addresses: url.into_iter().map(|url| (ENDPOINT, url)).collect(),
        min_delay: Some(Duration::ZERO),
        ceiling_min_delay: Some(Duration::ZERO),
        timeout: Some(Duration::from_millis(500)),
        ..SourceSettings::default()
    };
    Config::default().with(Settings {
        mode: Modes::parse("embedded,search=live", &["search"]).expect("a mode"),
        sources: [(SPEC.name.to_owned(), set)].into(),
        ..Settings::default()
    })
}

impl Service {
    pub(crate) fn of(mut config: Config) -> Self {
        let state = Arc::new(tempfile::tempdir().expect("a directory"));
        config.state.dir = Some(state.path().to_owned());
        let app =
            App::build(&config, &toolwire::domains::bundled()).unwrap_or_else(|error| panic!("{error}"));
        Self { app, _state: state }
    }

    /// The root of a new tree of the user's.
    pub(crate) async fn root(&self, tainted: bool) -> TaskId {
        let id = TaskId::generate();
        let mut change = self.app.state.change(Durability::Process).await.expect("a change");
        sqlx::query(TABLE).execute(change.sqlite().unwrap()).await.expect("a table");
        let row = sqlx::query(ADD).bind(id.as_str()).bind(id.as_str()).bind(tainted);
        row.execute(change.sqlite().unwrap()).await.expect("a task");
        change.commit().await.expect("committed");
        id
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<ToolResult, Refusal> {
        self.call_in(None, tool, arguments).await
    }

    /// The result of a call within a task.
    pub(crate) async fn within(
        &self,
        task: &TaskId,
        tool: &str,
        arguments: Value,
    ) -> Result<Value, ToolError> {
        let result = self.call_in(Some(task), tool, arguments).await;
        let result = result.unwrap_or_else(|refusal| panic!("{tool}: {refusal}"));
        result.outcome.map(|data| data.json().clone())
    }

    pub(crate) async fn call_in(
        &self,
        task: Option<&TaskId>,
        tool: &str,
        arguments: Value,
    ) -> Result<ToolResult, Refusal> {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let user = User::new("demo".parse().expect("a user id"));
        let mut context = ToolContext::new(user, clock::now() + Duration::from_mins(1));
        context.task_id = task.map(|task| task.clone().into());
        let mut call = Call::new(context, Target::Tool(tool.to_owned()), Ok(arguments));
        call.request_id = (tool == "write_file").then(RequestId::generate);
        match self.app.tools.start(call).await?.terminal().await? {
            Terminal::Result(result) => Ok(result),
            Terminal::ConfirmationRequired(required) => panic!("{tool}: {required:?}"),
        }
    }

    /// The data of a call, and what is to be known of it.
    pub(crate) async fn data(&self, tool: &str, arguments: Value) -> (Value, Vec<String>) {
        let result = self.call(tool, arguments).await.unwrap_or_else(|refusal| panic!("{tool}: {refusal}"));
        let data = result.outcome.unwrap_or_else(|error| panic!("{tool}: {error}"));
        (data.json().clone(), result.provenance.warnings)
    }
}
