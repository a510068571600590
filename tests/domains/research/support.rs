//! The whole service without a face, over embedded sources or with one source replaced by a stub.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde_json::{Map, Value};
use tempfile::TempDir;
use toolwire::{
    base::clock,
    config::Config,
    contract::{ConfirmationRequired, Event, Terminal, ToolResult},
    domains::research::{
        settings::{Credentials, RedditCredentials, Screen, Settings},
        sources::{
            screener::{self, Login},
            specs::ALL,
        },
        store::tables::{Tables, migrations},
    },
    engine::{
        pipeline::{Call, Step, Target},
        registry::Category,
    },
    server::{
        app::App,
        service::confirmations::{Choice, DecisionRequest},
    },
    sources::upstream::settings::{self, Modes, SourceSettings},
    state::{Partition, Store},
    tool::context::{Origin, RequestId, ToolContext, User, UserId},
};
use url::Url;

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

/// One source is live and at the given address, with no spacing and little patience.
fn live(source: &str, uri: &str) -> Config {
    let spec = ALL.iter().find(|spec| spec.name == source).unwrap_or_else(|| panic!("no source {source}"));
    let url: Url = format!("{uri}/").parse().expect("an address");
    let set = SourceSettings {
        addresses: spec.addresses.iter().map(|address| (address.key, url.clone())).collect(),
        min_delay: Some(Duration::ZERO),
        ceiling_min_delay: Some(Duration::ZERO),
        timeout: Some(Duration::from_millis(500)),
        ..SourceSettings::default()
    };
    let sources = settings::Settings {
        mode: Modes::parse(&format!("embedded,{source}=live"), &[source]).expect("a mode"),
        sources: [(source.to_owned(), set)].into(),
        ..settings::Settings::default()
    };
    let screens = ["demo", "riley"].map(|user| Screen {
        user_id: user.parse().expect("a user id"),
        screen_id: "default".to_owned(),
        path: "/screens/1/default/".to_owned(),
    });
    let reddit = RedditCredentials {
        client_id: "an-app".into(),
        client_secret: "s3cret-of-the-app".into(),
        user_name: "toolwire".to_owned(),
    };
    let research = Settings {
        screens: screens.into(),
        credentials: Credentials { reddit: Some(reddit) },
        ..Settings::default()
    };
    embedded().with(sources).with(research)
}

/// The same, with something else set of a source.
fn with(config: Config, source: &str, set: impl FnOnce(&mut SourceSettings)) -> Config {
    let mut sources = (*config.part::<settings::Settings>()).clone();
    set(sources.sources.entry(source.to_owned()).or_default());
    config.with(sources)
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

    /// Yahoo is live and at the given address, and may take a minute to answer.
    pub(crate) fn against_slow_yahoo(uri: &str) -> Self {
        Self::of(with(live("yahoo", uri), "yahoo", |set| set.timeout = Some(Duration::from_mins(1))))
    }

    /// One source is live, at the given address, may take a minute to answer, and is asked once in two seconds at most.
    pub(crate) fn spaced(source: &str, uri: &str) -> Self {
        Self::of(with(live(source, uri), source, |set| {
            set.timeout = Some(Duration::from_mins(1));
            set.ceiling_min_delay = Some(Duration::from_secs(2));
        }))
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
        let app =
            App::build(&config, &toolwire::domains::bundled()).unwrap_or_else(|error| panic!("{error}"));
        for user in ["demo", "riley"] {
            let login = Login::new("someone@example.com", "s3cret-of-the-user");
            app.services.get::<screener::Credentials>().set(&user.parse().expect("a user id"), None, login);
        }
        Self { app, config, state }
    }

    /// A call by the default user.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> ToolResult {
        self.call_as("demo", tool, arguments).await
    }

    pub(crate) async fn call_as(&self, user: &str, tool: &str, arguments: Value) -> ToolResult {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let snapshot = self.app.registry.snapshot();
        let writes = snapshot.get(tool).is_some_and(|tool| tool.definition.category != Category::Read);
        let request_id = writes.then(RequestId::generate);
        loop {
            match self.started(user, tool, arguments.clone(), request_id).await {
                Terminal::Result(result) => return result,
                Terminal::ConfirmationRequired(required) => self.approve(user, &required).await,
            }
        }
    }

    /// Approves a call of the user's own.
    async fn approve(&self, user: &str, required: &ConfirmationRequired) {
        let ruling = Choice::Approve { tool: required.tool.to_string(), reason: String::new() };
        let judgement =
            DecisionRequest { choice: ruling, on_behalf_of: String::new(), origin: Origin::PROCESS };
        let user = User::new(user.parse().expect("a user id"));
        let confirmations = self.app.tools.confirmations();
        confirmations.decide(&user, required.confirmation_id.as_str(), judgement).await.expect("one's own");
    }

    /// What a call of the default user says on its way.
    /// What a call says of its progress, until that is what is waited for, or the call ends.
    pub(crate) async fn progress_until(
        &self,
        tool: &str,
        arguments: Value,
        is_awaited: impl Fn(&str) -> bool,
    ) -> Vec<String> {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let user = User::new("demo".parse().expect("a user id"));
        let context = ToolContext::new(user, clock::now() + Duration::from_mins(1));
        let call = Call::new(context, Target::Tool(tool.to_owned()), Ok(arguments));
        let mut stream =
            self.app.tools.start(call).await.unwrap_or_else(|refusal| panic!("{tool}: {refusal}"));
        let mut messages = Vec::new();
        while let Some(Ok(Step::Event(event))) = stream.next().await {
            if let Event::Progress { message, .. } = event {
                messages.push(message);
                if is_awaited(&messages[messages.len() - 1]) {
                    break;
                }
            }
        }
        messages
    }

    async fn started(
        &self,
        user: &str,
        tool: &str,
        arguments: Map<String, Value>,
        request_id: Option<RequestId>,
    ) -> Terminal {
        let user = User::new(user.parse().expect("a user id"));
        let context = ToolContext::new(user, clock::now() + Duration::from_mins(1));
        let mut call = Call::new(context, Target::Tool(tool.to_owned()), Ok(arguments));
        call.request_id = request_id;
        let started = self.app.tools.start(call).await.unwrap_or_else(|refusal| panic!("{tool}: {refusal}"));
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

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// An instant that every store can keep exactly.
pub(crate) fn instant() -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(1_768_557_600_123)
}

pub(crate) fn user(name: &str) -> UserId {
    name.parse().expect("a user id")
}

/// The tables of research in the state file of a directory, as live sources see them.
pub(crate) fn tables_in(directory: &Path) -> Tables {
    state_in(directory).1
}

/// The same behind the state, whose clock a test can stop.
pub(crate) fn state_in(directory: &Path) -> (Arc<Store>, Tables) {
    let state = Store::at(directory).with_tables([migrations()]).expect("nobody else has these tables");
    let state = Arc::new(state);
    (Arc::clone(&state), Tables::new(state, Partition::Live))
}

/// The same in a directory of their own, which lives as long as the guard.
pub(crate) fn tables_in_file() -> (Tables, TempDir) {
    let directory = tempfile::tempdir().expect("a directory");
    (tables_in(directory.path()), directory)
}
