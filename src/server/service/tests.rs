//! Listing, searching and watching by one user's eyes, over toy tools.

use std::{collections::BTreeMap, fs, path::Path};

use prost_reflect::DescriptorPool;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use toolwire_base::files::Tree;
use toolwire_config::{Auth, AuthUser};
use toolwire_engine::{
    pipeline::{Parts, Tiers},
    registry::{Category, Manifests, RegistryInput},
    tasks::Orchestrator,
};
use toolwire_sources::upstream::{
    limiter::{Budgets, MemoryLimiter},
    source_status::Limits,
};
use toolwire_state::{MemoryCoolDowns, Store, workspace::Workspace};
use toolwire_tool::context::Services;

/// Three toy tools on disk, and what a user who may call only `spin_*` and one who may call all find there.
struct Toys {
    data: TempDir,
    registry: Arc<Registry>,
    tools: Tools,
}

impl Toys {
    fn new() -> Self {
        let data = tempfile::tempdir().unwrap();
        fs::create_dir(data.path().join("tools")).unwrap();
        put(data.path(), "spin_top", &json!({"tags": ["toy", "round"], "source": {"name": "shelf"}}));
        put(data.path(), "spin_yoyo", &json!({"tags": ["toy"], "utterances": ["Play with the yo-yo"]}));
        put(
            data.path(),
            "wind_up",
            &json!({"tags": ["toy"], "category": "write", "source": {"name": "box"}}),
        );
        let manifests = Manifests::new(Tree::Disk(data.path().to_owned()));
        let offered = RegistryInput {
            manifests,
            executors: Vec::new(),
            descriptors: DescriptorPool::new(),
            choices: Vec::new(),
            approve_unless: BTreeMap::new(),
            floors: BTreeMap::new(),
            disabled: Vec::new(),
            intent_parameters: BTreeSet::new(),
        };
        let registry = Arc::new(Registry::open(offered).unwrap());
        let policy: Arc<dyn Policy> = Arc::new(policy());
        let state = Arc::new(Store::in_memory());
        let orchestrator = Orchestrator::new(Arc::clone(&state), Workspace::new(&state));
        let pipeline = Pipeline::new(Parts {
            registry: Arc::clone(&registry),
            policy: Arc::clone(&policy),
            idempotency: Arc::clone(&state) as _,
            confirmations: Arc::clone(&state),
            tasks: Arc::clone(&state),
            orchestrate: Arc::new(orchestrator.clone()),
            decide_within: std::time::Duration::from_mins(10),
            decide_within_tasks: std::time::Duration::from_mins(10),
            users_sources: Arc::default(),
            tiers: Tiers::in_memory(),
            services: Services::default(),
            cap: std::time::Duration::from_mins(2),
            unread: toolwire_tool::context::UnreadBounds::default(),
            log_arguments: false,
        });
        let confirmations = Confirmations::new(confirmations::Parts {
            store: Arc::clone(&state) as _,
            registry: Arc::clone(&registry),
            policy: Arc::clone(&policy),
            own_calls: true,
            use_within: std::time::Duration::from_mins(10),
        });
        let tasks = tasks::Tasks::new(tasks::Parts {
            store: state.clone(),
            pipeline: Arc::clone(&pipeline),
            orchestrator,
            workspace: Workspace::new(&state),
        });
        let calls = calls::Calls::new(calls::Parts {
            store: state.clone(),
            confirmations: state.clone(),
            registry: Arc::clone(&registry),
            policy: Arc::clone(&policy),
            in_flight: pipeline.in_flight().clone(),
            cap: std::time::Duration::from_mins(2),
        });
        let records = Records { calls, audit: audit::Audit::new(state, Arc::clone(&policy)) };
        let limits = Arc::new(limits());
        let tools =
            Tools::new(pipeline, Arc::clone(&registry), policy, limits, confirmations, tasks, records);
        Self { data, registry, tools }
    }

    fn names(&self, user: &str, filter: &Filter) -> Vec<String> {
        self.tools.list(&of(user), filter.clone()).map(|tool| tool.definition.name.to_string()).collect()
    }
}

fn put(data: &Path, name: &str, changes: &Value) {
    let mut manifest = json!({
        "name": name, "description": "Moves a toy.", "type": "non_function_tool", "category": "read",
        "consequence_level": "low", "requires_confirmation": false,
    });
    for (key, value) in changes.as_object().unwrap() {
        manifest[key] = value.clone();
    }
    fs::write(data.join(format!("tools/{name}.json")), manifest.to_string()).unwrap();
}

fn policy() -> Auth {
    let user = |name: &str, pattern: &str| AuthUser {
        tools: vec![pattern.to_owned().try_into().unwrap()],
        ..AuthUser::new(name.parse().unwrap(), "s3cret".into())
    };
    Auth { users: vec![user("all", "*"), user("spinner", "spin_*")] }
}

/// The limits of no source.
fn limits() -> Limits {
    let limiter = MemoryLimiter::new([] as [(&str, Budgets); 0]);
    Limits::new(Arc::new(limiter), Arc::new(MemoryCoolDowns::default()), Vec::new())
}

fn of(user: &str) -> User {
    User::new(user.parse().unwrap())
}

/// What the next news is, in a word, with the tools it is about.
async fn next(watch: &mut Watch) -> String {
    let about = |word: &str, tool: &RegisteredTool| format!("{word} {}", tool.definition.name);
    match watch.next().await.unwrap() {
        WatchEvent::Added(tool) => about("added", &tool),
        WatchEvent::Changed(tool) => about("changed", &tool),
        WatchEvent::Degraded(tool) => about("degraded", &tool),
        WatchEvent::Removed(name) => format!("removed {name}"),
        WatchEvent::DataChanged(_) => "data".to_owned(),
        WatchEvent::Problems(problems) => {
            format!("problems {:?}", problems.iter().map(|it| it.file.as_str()).collect::<Vec<_>>())
        }
        WatchEvent::Synced => "synced".to_owned(),
        WatchEvent::Heartbeat => "heartbeat".to_owned(),
    }
}

#[test]
fn a_user_sees_the_tools_that_the_user_may_call_and_no_others() {
    let toys = Toys::new();
    assert_eq!(toys.names("all", &Filter::default()), ["spin_top", "spin_yoyo", "wind_up"]);
    assert_eq!(toys.names("spinner", &Filter::default()), ["spin_top", "spin_yoyo"]);
    assert_eq!(toys.names("nobody", &Filter::default()), [""; 0]);
    let guidance = toys.tools.guidance(&of("spinner"), Filter::default(), Detail::Line);
    assert_eq!(guidance.tools, "- spin_top: Moves a toy.\n- spin_yoyo: Moves a toy.");
}

#[test]
fn a_search_looks_at_tags_category_and_every_word() {
    let toys = Toys::new();
    assert_eq!(toys.names("all", &Filter::with_tags(vec!["toy".into(), "round".into()])), ["spin_top"]);
    let writes = Filter { category: Some(Category::Write), ..Filter::default() };
    assert_eq!(toys.names("all", &writes), ["wind_up"]);
    let words = |text: &str| Filter::default().with_words(text);
    assert_eq!(toys.names("all", &words("YO-YO play")), ["spin_yoyo"]);
    assert_eq!(toys.names("all", &words("yo-yo train")), [""; 0]);
}

#[test]
fn what_may_not_be_called_is_refused_whether_or_not_it_exists() {
    let toys = Toys::new();
    let get = |name: &str| toys.tools.get(&of("spinner"), name).map(|tool| tool.definition.name.clone());
    assert_eq!(get("spin_top").unwrap().as_str(), "spin_top");
    for name in ["wind_up", "wind_down"] {
        assert_eq!(get(name), Err(Refusal::PermissionDenied { tool: name.to_owned() }));
    }
    let near = vec!["spin_top".to_owned(), "spin_yoyo".to_owned()];
    assert_eq!(get("spin_tob"), Err(Refusal::UnknownTool { name: "spin_tob".to_owned(), near }));
    assert!(matches!(get(""), Err(Refusal::InvalidRequest(_))));
}

#[tokio::test]
async fn limits_are_those_of_the_sources_of_ones_tools() {
    let toys = Toys::new();
    let sources = async |user: &str, source: &str| {
        let statuses = toys.tools.limits(&of(user), source).await?;
        Ok::<_, Refusal>(statuses.into_iter().map(|(source, _)| source).collect::<Vec<_>>())
    };
    assert_eq!(sources("all", "").await.unwrap(), ["box", "shelf"]);
    assert_eq!(sources("all", "box").await.unwrap(), ["box"]);
    assert_eq!(sources("spinner", "").await.unwrap(), ["shelf"]);
    assert!(matches!(sources("spinner", "box").await, Err(Refusal::InvalidRequest(_))));
}

#[tokio::test(start_paused = true)]
async fn a_watcher_hears_of_its_own_tools_and_of_problems_that_concern_it() {
    let toys = Toys::new();
    let (tools, mut watch) = toys.tools.watch(of("spinner"));
    assert_eq!(
        tools.map(|tool| tool.definition.name.to_string()).collect::<Vec<_>>(),
        ["spin_top", "spin_yoyo"]
    );
    for expected in ["synced", "heartbeat"] {
        assert_eq!(next(&mut watch).await, expected);
    }
    fs::write(toys.data.path().join("tools/wind_up.json"), "{").unwrap();
    toys.registry.reload();
    assert_eq!(next(&mut watch).await, "heartbeat", "nothing of another's tool");
    fs::write(toys.data.path().join("tools/spin_top.json"), "{").unwrap();
    toys.registry.reload();
    assert_eq!(next(&mut watch).await, r#"problems ["tools/spin_top.json"]"#);
    for name in ["spin_top", "wind_up"] {
        fs::remove_file(toys.data.path().join(format!("tools/{name}.json"))).unwrap();
    }
    toys.registry.reload();
    assert_eq!(next(&mut watch).await, "removed spin_top");
    assert_eq!(next(&mut watch).await, "problems []");
}

#[test]
fn what_a_planner_is_told_of_all_tools_is_said_anew_only_when_they_change() {
    let toys = Toys::new();
    let told = |user: &str| toys.tools.guidance(&of(user), Filter::default(), Detail::Line);
    let first = told("all");
    assert!(Arc::ptr_eq(&first, &told("all")));
    assert_ne!(first.tools, told("spinner").tools, "a user who sees less gets less");
    let tagged = toys.tools.guidance(&of("all"), Filter::with_tags(vec!["round".into()]), Detail::Line);
    assert_eq!(tagged.tools, "- spin_top: Moves a toy.");
    put(toys.data.path(), "spin_top", &json!({"description": "Spins."}));
    toys.registry.reload();
    assert!(told("all").tools.starts_with("- spin_top: Spins.\n"), "{}", told("all").tools);
}

#[test]
fn a_policy_that_allows_all_is_not_asked_tool_by_tool() {
    #[derive(Debug)]
    struct Whole;

    impl Policy for Whole {
        fn may_call(&self, _: &User, tool: &str) -> bool {
            panic!("{tool} was asked for")
        }

        fn may_call_all(&self, _: &User) -> bool {
            true
        }
    }

    let toys = Toys::new();
    let tools = Tools { policy: Arc::new(Whole), ..toys.tools.clone() };
    assert_eq!(tools.list(&of("all"), Filter::default()).count(), 3);
    assert_eq!(tools.watch(of("all")).0.count(), 3);
    assert!(tools.guidance(&of("all"), Filter::default(), Detail::Line).tools.contains("wind_up"));
}
