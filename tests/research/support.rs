//! The whole service without a face, over embedded sources or with one source replaced by a stub.

use std::{sync::Arc, time::Duration};

use serde_json::{Map, Value};
use tempfile::TempDir;
use toolwire::{
    app::App,
    clock,
    config::{Config, RedditCredentials, Screen},
    context::{RequestId, ToolContext, User},
    contract::{Terminal, ToolResult},
    domains::research::sources::screener::{Credentials, Login},
    pipeline::{Call, Target},
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
    let mut config = embedded();
    let upstreams = &mut config.upstreams;
    upstreams.mode = format!("embedded,{source}=live").try_into().expect("a mode");
    let url: Url = format!("{uri}/").parse().expect("an address");
    macro_rules! set {
        ($source:ident: $($base:ident),+) => {{
            $(upstreams.$source.$base = url.clone();)+
            upstreams.$source.min_delay = Some(Duration::ZERO);
            upstreams.$source.ceiling_min_delay = Some(Duration::ZERO);
            upstreams.$source.timeout = Some(Duration::from_millis(500));
        }};
    }
    match source {
        "yahoo" => set!(yahoo: base_url, cookie_url),
        "valuepickr" => set!(valuepickr: base_url),
        "reddit" => set!(reddit: base_url, token_url),
        "news" => set!(news: moneycontrol_url, economic_times_url, google_url),
        "screener" => set!(screener: base_url),
        "nse" => set!(nse: base_url, archives_url),
        other => panic!("no source {other}"),
    }
    upstreams.screener.screens = ["demo", "riley"]
        .map(|user| Screen {
            user_id: user.parse().expect("a user id"),
            screen_id: "default".to_owned(),
            path: "/screens/1/default/".to_owned(),
        })
        .into();
    upstreams.credentials.reddit = Some(RedditCredentials {
        client_id: "an-app".into(),
        client_secret: "s3cret-of-the-app".into(),
        user_name: "toolwire".to_owned(),
    });
    config
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
        let mut config = live("yahoo", uri);
        config.upstreams.yahoo.timeout = Some(Duration::from_mins(1));
        Self::of(config)
    }

    /// One source is live, at the given address, and asked twice a second at most.
    pub(crate) fn spaced(source: &str, uri: &str) -> Self {
        let mut config = live(source, uri);
        config.upstreams.yahoo.ceiling_min_delay = Some(Duration::from_millis(500));
        Self::of(config)
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
            app.services.get::<Credentials>().set(&user.parse().expect("a user id"), None, login);
        }
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
