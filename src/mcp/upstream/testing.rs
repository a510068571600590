//! The server of `tests/fixtures/mcp_server.py`, supervised, and calls of its tools.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, ChildStdin, Command, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::future::{BoxFuture, FutureExt};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::{
    sync::watch,
    task::JoinHandle,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{Link, ListedTool, McpTool, Registrar, Supervisor, Target};
use toolwire_base::clock;
use toolwire_contract::{Event, ToolError};
use toolwire_providers::{Effect, RemoteExecutor, ToolParts, ids::ProviderName};
use toolwire_tool::{
    Executor,
    context::{EventSink, RequestId, ToolContext, Unfinished, User},
};

const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/mcp_server.py");

/// A supervised server. It ends when this is dropped.
pub(super) struct Upstream {
    pub(super) link: Link,
    pub(super) log: Arc<Log>,
    pub(super) stop: CancellationToken,
    pub(super) supervised: JoinHandle<()>,
    pub(super) notes: Notes,
}

/// What the server notes.
pub(super) struct Notes(TempDir);

/// What reaches the registry.
#[derive(Default)]
pub(super) struct Log {
    pub(super) listed: watch::Sender<Vec<ListedTool>>,
    pub(super) degraded: Mutex<Vec<Option<String>>>,
}

/// A server over HTTP, which ends with its input.
pub(super) struct HttpServer {
    pub(super) url: String,
    _input: ChildStdin,
    _child: Child,
}

impl Notes {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    pub(super) fn path(&self) -> PathBuf {
        self.0.path().join("notes")
    }

    pub(super) fn lines(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path()).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    pub(super) fn count(&self, line: &str) -> usize {
        self.lines().iter().filter(|it| *it == line).count()
    }

    /// Waits until a line that begins so is noted.
    pub(super) async fn wait_for(&self, beginning: &str) -> String {
        self.wait_for_count(beginning, 1).await
    }

    /// Waits until `count` lines with this beginning are noted. Returns the last one.
    pub(super) async fn wait_for_count(&self, beginning: &str, count: usize) -> String {
        let found = async {
            loop {
                let lines = self.lines().into_iter().filter(|it| it.starts_with(beginning));
                let mut lines: Vec<_> = lines.collect();
                if lines.len() >= count {
                    return lines.swap_remove(lines.len() - 1);
                }
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(Duration::from_secs(10), found).await.unwrap_or_else(|_| panic!("`{beginning}` is not noted"))
    }
}

impl Registrar for Log {
    fn serve<'a>(&'a self, _link: &'a Link, listed: &'a [ListedTool]) -> BoxFuture<'a, ()> {
        self.listed.send_replace(listed.to_vec());
        async {}.boxed()
    }

    fn set_degraded(&self, _provider: &ProviderName, reason: Option<String>) {
        self.degraded.lock().unwrap_or_else(PoisonError::into_inner).push(reason);
    }

    fn withdraw(&self, _provider: &ProviderName) {
        self.listed.send_replace(Vec::new());
    }
}

impl HttpServer {
    pub(super) fn start(notes: &Notes, flags: &[&str]) -> Self {
        let mut child = Command::new("/usr/bin/python3")
            .args([SERVER, "--http"])
            .args(flags)
            .env("NOTES", notes.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        let mut port = String::new();
        let stdout = child.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut port).expect("its port");
        let input = child.stdin.take().expect("a pipe");
        Self { url: format!("http://127.0.0.1:{}", port.trim()), _input: input, _child: child }
    }

    pub(super) fn target(&self, path: &str) -> Target {
        // A provider may be installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().tls_certs_only([]).no_proxy().build().expect("a client");
        Target::Http { client, url: format!("{}{path}", self.url), token: Some("t0ken".to_owned().into()) }
    }
}

/// The server as a process.
pub(super) fn process(notes: &Notes, flags: &[&str]) -> Target {
    let command = ["/usr/bin/python3", SERVER].iter().chain(flags).map(|it| (*it).to_owned()).collect();
    let path = notes.path().to_str().expect("a path").to_owned();
    Target::Process { command, env: vec![("NOTES".to_owned(), path.into())] }
}

impl Upstream {
    /// Connected, and listed.
    pub(super) async fn start(flags: &[&str]) -> Self {
        let notes = Notes::new();
        let target = process(&notes, flags);
        Self::of(target, notes).await
    }

    pub(super) async fn of(target: Target, notes: Notes) -> Self {
        let (link, log) = (Link::new("docs".into()), Arc::new(Log::default()));
        let stop = CancellationToken::new();
        let supervisor = Supervisor::new(link.clone(), target, Arc::clone(&log) as Arc<dyn Registrar>);
        let supervised = tokio::spawn(supervisor.run(stop.clone()));
        let upstream = Self { link, log, stop, supervised, notes };
        upstream.list_where(|listed| !listed.is_empty()).await;
        upstream
    }

    /// Waits for a list.
    pub(super) async fn list_where(&self, holds: impl Fn(&[ListedTool]) -> bool) -> Vec<ListedTool> {
        let mut watch = self.log.listed.subscribe();
        let found = timeout(Duration::from_secs(20), watch.wait_for(|it| holds(it))).await;
        found.expect("in time").expect("kept").clone()
    }

    pub(super) fn tool(&self, name: &str, effect: Effect) -> RemoteExecutor<McpTool> {
        let any = Arc::new(json!({"type": "object"}));
        let tool = McpTool { link: self.link.clone(), name: name.to_owned() };
        let parts = ToolParts {
            provider: self.link.provider().clone(),
            tool: name.replace('-', "_").parse().expect("a name"),
            effect,
            timeout: Duration::from_secs(20),
            input: Arc::clone(&any),
            output: any,
        };
        RemoteExecutor::new(tool, parts).expect("a tool")
    }

    pub(super) async fn call(
        &self,
        name: &str,
        effect: Effect,
        arguments: Value,
    ) -> Result<Value, ToolError> {
        self.call_in(&context(), name, effect, arguments).await
    }

    pub(super) async fn read(&self, name: &str, arguments: Value) -> Result<Value, ToolError> {
        self.call(name, Effect::Read, arguments).await
    }

    pub(super) async fn call_in(
        &self,
        context: &ToolContext,
        name: &str,
        effect: Effect,
        arguments: Value,
    ) -> Result<Value, ToolError> {
        let tool = self.tool(name, effect);
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        match tool.execute(arguments, context).await {
            Ok(reply) => Ok(reply.data.json().clone()),
            Err(Unfinished::Failed(error)) => Err(error),
            Err(other) => panic!("{other:?}"),
        }
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.supervised.abort();
    }
}

pub(super) fn context() -> ToolContext {
    let user = User::new("riley".parse().expect("a user id"));
    let mut context = ToolContext::new(user, clock::now() + Duration::from_secs(20));
    context.lineage = context.lineage.with_request_id(RequestId::generate());
    context
}

/// The progress that a call reports, gathered while it runs.
pub(super) fn with_progress(context: &mut ToolContext) -> JoinHandle<Vec<String>> {
    let (sink, mut events) = EventSink::speaking();
    context.events = sink;
    tokio::spawn(async move {
        let mut messages = Vec::new();
        while let Some(event) = events.recv().await {
            if let Event::Progress { message, .. } = event {
                messages.push(message);
            }
        }
        messages
    })
}

pub(super) fn none() -> Value {
    Value::Object(Map::new())
}
