//! The market tools over the embedded sources: the real manifests, the real pipeline, the real connectors.

use std::{sync::Arc, time::Duration};

use http::HeaderValue;
use serde_json::Value;
use toolwire::{
    base::{clock, current::Current, files::Tree},
    config::Config,
    contract::{ConsoleLinks, Outcome, Provenance, Terminal, ToolError},
    domains::{
        self,
        research::{
            self,
            settings::{self, Profiles},
            sources::{
                embedded,
                nse::{self, Nse},
                universe::Universe,
                yahoo::{self, Yahoo},
            },
            tools,
        },
    },
    engine::{
        pipeline::{Call, Parts, Pipeline, Target, Tiers, policy::AllowAll},
        registry::Registry,
    },
    outgoing::Egress,
    server::app,
    sources::upstream::{
        http::{Client, Profile, Sender},
        limiter::{Budgets, MemoryLimiter},
        now::Now,
    },
    state::{MemoryCoolDowns, Store},
    tool::context::{Services, ToolContext, User},
};
use url::Url;

/// The tools over the embedded sources.
pub(crate) struct Bench(Arc<Pipeline>);

/// Where the sources are.
pub(crate) struct Bases {
    pub(crate) yahoo: Url,
    pub(crate) cookie: Url,
    pub(crate) nse: Url,
}

impl Default for Bases {
    fn default() -> Self {
        Self {
            yahoo: embedded::base("yahoo"),
            cookie: embedded::base("yahoo-cookie"),
            nse: embedded::base("nse"),
        }
    }
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::of(Bases::default(), &Profiles::default())
    }

    pub(crate) fn of(bases: Bases, profiles: &Profiles) -> Self {
        let text = std::fs::read_to_string("data/research/universe.json").expect("readable");
        let universe = Universe::parse(&text).expect("well formed");
        let now = Now::Recorded(universe.recorded_at());
        let of_yahoo = yahoo::Settings { base: bases.yahoo, cookie_base: bases.cookie, now };
        let of_nse = nse::Settings { base: bases.nse.clone(), archives: bases.nse, now, first_deal: None };
        let of_research = settings::Settings { profiles: profiles.clone(), ..settings::Settings::default() };
        let config = Config::default().with(of_research);
        let services = Services::default()
            .with(Arc::new(universe))
            .with(Arc::new(tools::Profiles::from(profiles)))
            .with(Arc::new(Yahoo::new(client(yahoo::PROFILE), of_yahoo)))
            .with(Arc::new(Nse::new(client(nse::PROFILE), of_nse)));
        let domains = domains::bundled();
        let tree = app::tree(&Config::default(), &domains).expect("each path is one domain's");
        let offered = app::gather(&tree, &domains, &config).expect("they agree");
        let registry = Registry::open(offered).expect("good manifests");
        let state = Arc::new(Store::in_memory());
        Self(Pipeline::new(Parts {
            registry: Arc::new(registry),
            policy: Arc::new(AllowAll),
            quotas: Current::default(),
            idempotency: Arc::new(crate::support::MemoryIdempotency::default()),
            confirmations: Arc::clone(&state) as _,
            tasks: Arc::clone(&state) as _,
            orchestrate: Arc::new(toolwire::engine::tasks::Orchestrator::new(
                Arc::clone(&state) as _,
                toolwire::state::workspace::Workspace::new(&state),
            )),
            decide_within: Duration::from_mins(10),
            decide_within_tasks: Duration::from_mins(10),
            users_sources: Arc::default(),
            tiers: Tiers::in_memory(),
            services,
            cap: Duration::from_mins(2),
            unread: toolwire::tool::context::UnreadBounds::default(),
            log_arguments: false,
            console: ConsoleLinks::default(),
            recorder: toolwire::engine::recordings::Recorder::off(&state),
        }))
    }

    /// Calls a tool to its end.
    pub(crate) async fn call(&self, tool: &str, input: Value) -> (Result<Value, ToolError>, Provenance) {
        let context = ToolContext::new(
            User::new("demo".parse().expect("valid")),
            clock::now() + Duration::from_mins(1),
        );
        let Value::Object(input) = input else { panic!("{input} is no object") };
        let call = Call::new(context, Target::Tool(tool.to_owned()), Ok(input));
        let terminal = self.0.start(call).await.expect("accepted").terminal().await.expect("an end");
        let Terminal::Result(result) = terminal else { panic!("{tool} awaits a confirmation") };
        let outcome: Outcome = result.outcome;
        (outcome.map(|payload| payload.json().clone()), result.provenance)
    }

    /// The data of a call that succeeds.
    pub(crate) async fn data(&self, tool: &str, input: Value) -> Value {
        let called = self.call(tool, input.clone()).await;
        called.0.unwrap_or_else(|error| panic!("{tool} {input}: {error:?}"))
    }

    /// The error of a call that fails.
    pub(crate) async fn error(&self, tool: &str, input: Value) -> ToolError {
        self.call(tool, input).await.0.expect_err("a failure")
    }
}

fn client(profile: Profile) -> Client {
    let limiter = MemoryLimiter::new(std::iter::empty::<(String, Budgets)>());
    let profile = Profile { may_retry: false, ..profile };
    let browser = HeaderValue::from_static("Mozilla/5.0 (X11; Linux x86_64)");
    let sender = Sender::new(&Egress::default()).expect("TLS").with_user_agent(browser);
    let sender = embedded::attach(sender, Tree::Embedded(research::data::files())).expect("readable");
    Client::new(profile, sender, Arc::new(limiter), Arc::new(MemoryCoolDowns::default()))
}
