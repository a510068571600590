//! A brokerage over a directory of its own, and calls of its tools without a pipeline.

use std::{
    fs,
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime},
};

use futures_util::future::{BoxFuture, FutureExt};
use serde_json::{Value, json};
use tempfile::TempDir;
use toolwire::{
    base::{clock, files::Tree},
    contract::{ErrorCode, Payload, Provenance, ToolError, arguments::Arguments, transcode::Renderer},
    domains::{
        self,
        brokerage::{
            self,
            source::{Brokerage, OpenError},
        },
    },
    tool::{
        Executor,
        context::{CallTools, Services, ToolContext, Unfinished, User, UserId},
    },
};

/// The user whose data is `user_master.json`.
pub(crate) const DEFAULT_USER: &str = "demo";

/// A brokerage and its tools.
pub(crate) struct Bench {
    pub(crate) brokerage: Arc<Brokerage>,
    directory: Option<TempDir>,
}

/// Hands nested calls straight to the executors.
#[derive(Debug)]
struct Direct;

pub(crate) type Answer = Result<(Value, Provenance), ToolError>;

impl Bench {
    /// The data in this repository.
    pub(crate) fn embedded() -> Self {
        let brokerage = Brokerage::open(Tree::Embedded(brokerage::data()), user(DEFAULT_USER))
            .expect("the embedded data is good");
        Self { brokerage: Arc::new(brokerage), directory: None }
    }

    /// The given master file and nothing else.
    pub(crate) fn with_master(master: &Value) -> Self {
        Self::with_files(&[("user_master.json", &master.to_string())]).expect("the master file is good")
    }

    /// The given files of `brokerage/`.
    pub(crate) fn with_files(files: &[(&str, &str)]) -> Result<Self, OpenError> {
        let directory = TempDir::new().expect("a directory");
        for (path, text) in files {
            write(&directory, path, text);
        }
        let tree = Tree::Disk(directory.path().to_owned());
        let brokerage = Arc::new(Brokerage::open(tree, user(DEFAULT_USER))?);
        Ok(Self { brokerage, directory: Some(directory) })
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        write(self.directory(), path, text);
    }

    pub(crate) fn remove(&self, path: &str) {
        fs::remove_file(self.path(path)).expect("removed");
    }

    pub(crate) fn modified(&self, path: &str) -> SystemTime {
        fs::metadata(self.path(path)).and_then(|metadata| metadata.modified()).expect("a time")
    }

    pub(crate) fn set_modified(&self, path: &str, time: SystemTime) {
        let file = fs::File::options().write(true).open(self.path(path)).expect("a file");
        file.set_modified(time).expect("set");
    }

    fn path(&self, path: &str) -> PathBuf {
        self.directory().path().join("brokerage").join(path)
    }

    fn directory(&self) -> &TempDir {
        self.directory.as_ref().expect("not embedded")
    }

    /// A context for a user of this brokerage.
    pub(crate) fn context(&self, name: &str) -> ToolContext {
        let deadline = clock::now() + Duration::from_secs(5);
        let mut context = ToolContext::new(User::new(user(name)), deadline);
        context.services = Services::default().with(Arc::clone(&self.brokerage));
        context.caller = Arc::new(Direct);
        context
    }

    /// The default user's call of a tool.
    #[track_caller]
    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Answer {
        self.call_as(DEFAULT_USER, tool, arguments)
    }

    /// A user's call of a tool.
    #[track_caller]
    pub(crate) fn call_as(&self, name: &str, tool: &str, arguments: Value) -> Answer {
        call(&self.context(name), tool, arguments)
    }

    /// The data of the default user's call, which must succeed.
    #[track_caller]
    pub(crate) fn data(&self, tool: &str, arguments: Value) -> Value {
        self.call(tool, arguments).expect("the call succeeds").0
    }

    /// The warnings of the default user's call, which must succeed.
    #[track_caller]
    pub(crate) fn warnings(&self, tool: &str, arguments: Value) -> Vec<String> {
        self.call(tool, arguments).expect("the call succeeds").1.warnings
    }

    /// The message of the default user's call, which must fail with `NOT_FOUND`.
    #[track_caller]
    pub(crate) fn not_found(&self, tool: &str, arguments: Value) -> String {
        let error = self.call(tool, arguments).expect_err("the call fails");
        assert_eq!(error.code, ErrorCode::NotFound, "{error}");
        error.message
    }
}

impl CallTools for Direct {
    fn call_tool<'a>(
        &'a self,
        parent: &'a ToolContext,
        tool: &'a str,
        arguments: Arguments,
    ) -> BoxFuture<'a, Result<(Payload, Provenance), Unfinished>> {
        async move { execute(&parent.nested(), tool, arguments).await }.boxed()
    }
}

/// A call of a tool in a context.
#[track_caller]
pub(crate) fn call(context: &ToolContext, tool: &str, arguments: Value) -> Answer {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    // These tools wait for nothing.
    let outcome = execute(context, tool, arguments).now_or_never().expect("the tool does not wait");
    match outcome {
        Ok((payload, provenance)) => {
            let renderer = Renderer::new(
                &executor(tool).schema().messages().expect("a tool of messages").1,
                ["asset_class_filter".to_owned()].into(),
            );
            Ok((payload.with_renderer(&Arc::new(renderer)).json().clone(), provenance))
        }
        Err(Unfinished::Failed(error)) => Err(error),
        Err(Unfinished::AwaitsConfirmation(_)) => panic!("nothing here asks for confirmation"),
    }
}

async fn execute(
    context: &ToolContext,
    tool: &str,
    arguments: Arguments,
) -> Result<(Payload, Provenance), Unfinished> {
    let reply = executor(tool).execute(arguments, context).await?;
    Ok((reply.data, reply.provenance))
}

fn executor(tool: &str) -> Arc<dyn Executor> {
    let executors = domains::brokerage::domain().tools;
    executors.into_iter().find(|executor| executor.name() == tool).expect("a known tool")
}

/// A master file with the given sections, dated as a whole.
pub(crate) fn master(sections: Value) -> Value {
    let Value::Object(sections) = sections else { panic!("sections are an object") };
    let mut master = json!({"as_of": "2026-01-15"});
    master.as_object_mut().expect("an object").extend(sections);
    master
}

pub(crate) fn position(symbol: &str, quantity: f64, cost_basis: f64) -> Value {
    json!({"symbol": symbol, "quantity": quantity, "cost_basis": cost_basis, "asset_class": "stocks"})
}

pub(crate) fn positions(rows: &[Value]) -> Value {
    json!({"account": "Brokerage", "positions": rows})
}

pub(crate) fn quotes(rows: &[(&str, f64, f64)]) -> Value {
    let row = |(symbol, price, change): &(&str, f64, f64)| json!({"symbol": symbol, "price": price, "change_pct": change});
    json!({"quotes": rows.iter().map(row).collect::<Vec<_>>()})
}

/// Trades as (side, quantity, price), oldest first, one a day, all of one symbol.
pub(crate) fn activity(symbol: &str, rows: &[(&str, f64, f64)]) -> Value {
    let row = |(day, (side, quantity, price)): (usize, &(&str, f64, f64))| {
        let timestamp = format!("2026-01-{:02}T15:00:00Z", day + 1);
        json!({"timestamp": timestamp, "symbol": symbol, "side": side, "quantity": quantity, "price": price})
    };
    json!({"account": "Brokerage", "trades": rows.iter().enumerate().map(row).collect::<Vec<_>>()})
}

fn user(name: &str) -> UserId {
    name.parse().expect("a user id")
}

fn write(directory: &TempDir, path: &str, text: &str) {
    let path = directory.path().join("brokerage").join(path);
    fs::create_dir_all(path.parent().expect("a parent")).expect("created");
    fs::write(path, text).expect("written");
}
