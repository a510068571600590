//! Users, and one of them with something of everything: a call, a confirmation, tasks, a document, a session, a job.

use std::{collections::BTreeMap, net::SocketAddr};

use serde_json::{Value, json};
use toolwire::{
    config::{AuthUser, Config, Flags, ToolPattern, testing},
    tool::context::RequestId,
};

use super::cases::Case;
use crate::http::{
    house::House,
    raw::{Answer, ask},
};

/// Stands in everything that the owner has.
pub(super) const MARK: &str = "planted-7f3a";
/// Who has it.
pub(super) const OWNER: &str = "riley";
/// Who may do as much, and has none of it.
pub(super) const OTHER: &str = "demo";
/// Who may call `get_*` alone.
pub(super) const PARTLY: &str = "nora";
/// Who may call nothing.
pub(super) const MUTE: &str = "mute";
/// What only the owner's account holds.
pub(super) const MONEY: &str = "23416.97";

/// What the owner has, by its names.
#[derive(Clone, Debug)]
pub(super) struct Planted {
    /// What stands in all of it, and what only the owner's account holds.
    pub(super) content: [String; 2],
    pub(super) names: Names,
    pub(super) call: String,
    pub(super) confirmation: String,
    pub(super) task: String,
    pub(super) question: String,
    pub(super) interrupt: String,
}

/// The names that clients give.
#[derive(Clone, Debug)]
pub(super) struct Names {
    /// The session of the turn that has ended, and of the one that waits.
    pub(super) session: String,
    pub(super) paused_session: String,
    pub(super) turn: String,
    pub(super) paused: String,
    pub(super) job: String,
    /// The `request_id` of the call.
    pub(super) request: String,
}

/// A server and its users.
pub(super) struct World {
    pub(super) address: SocketAddr,
    _house: House,
}

/// The header by which a user is known.
pub(super) fn bearer(user: &str) -> String {
    format!("authorization: Bearer {}", token(user))
}

pub(super) fn token(user: &str) -> String {
    format!("{user}-0123456789abcdef")
}

fn users() -> Vec<AuthUser> {
    let user = |name: &str, tools: &str| {
        let tools = vec![ToolPattern::try_from(tools.to_owned()).unwrap()];
        AuthUser { tools, ..AuthUser::new(name.parse().unwrap(), token(name).into()) }
    };
    vec![user(OWNER, "*"), user(OTHER, "*"), user(PARTLY, "get_*"), user(MUTE, "nothing")]
}

/// A toolset that leaves nothing out, and what a client that signs in by itself is told of.
const FILE: &str = "
[toolsets.all]
tools = ['*']

[http]
public_url = 'https://tools.example'

[[auth.issuers]]
name = 'corp'
issuer = 'https://login.example'
audience = ['toolwire']
jwks_url = 'http://127.0.0.1:9/keys'
";

fn settings() -> Config {
    testing::load_text(FILE, &[], Flags::default(), &[]).expect("a configuration").config
}

impl World {
    pub(super) fn new() -> Self {
        Self::with(|_| ())
    }

    pub(super) fn with(change: impl FnOnce(&mut Config)) -> Self {
        let settings = settings();
        let house = House::with(|config| {
            config.auth.users = users();
            config.auth.issuers = settings.auth.issuers;
            config.http.public_url = settings.http.public_url;
            config.toolsets = settings.toolsets;
            config.confirmations.own_calls = true;
            change(config);
        });
        Self { address: house.server.http.unwrap(), _house: house }
    }
}

/// What comes of a case for a user; without one, for nobody.
pub(super) async fn send(address: SocketAddr, user: Option<&str>, case: &Case) -> Answer {
    let headers = headers(case).into_iter().chain(user.map(bearer)).collect::<Vec<_>>();
    let headers: Vec<_> = headers.iter().map(String::as_str).collect();
    ask(address, case.method(), &case.path, &headers, &case.body).await
}

/// The headers of a case, with those that every request of its kind has.
pub(super) fn headers(case: &Case) -> Vec<String> {
    let mut headers = case.headers.clone();
    let is_said = |name: &str| case.headers.iter().any(|header| header.starts_with(name));
    if case.method() == "POST" && !is_said("idempotency-key") {
        headers.push(format!("idempotency-key: {}", RequestId::generate()));
    }
    if !case.body.is_empty() && !is_said("content-type") {
        headers.push("content-type: application/json".to_owned());
    }
    headers
}

/// Everything that an answer says.
pub(super) fn words(answer: &Answer) -> String {
    let Answer { status, headers, body } = answer;
    let headers: BTreeMap<_, _> = headers.iter().filter(|(name, _)| *name != "date").collect();
    format!("{status} {headers:?}\n{body}")
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value}")).to_owned()
}

impl Planted {
    /// Names of nothing.
    pub(super) fn nothing() -> Self {
        let named = |kind: &str| format!("{kind}_{}", id().replace('-', ""));
        Self {
            content: [id(), id()],
            names: Names::new(),
            call: id(),
            confirmation: named("conf"),
            task: named("task"),
            question: named("task"),
            interrupt: named("conf"),
        }
    }

    /// Gives the owner something of everything.
    pub(super) async fn at(address: SocketAddr) -> Self {
        let sends = async |case: Case| send(address, Some(OWNER), &case).await;
        Self::by([MARK, MONEY], Names::new(), sends).await
    }

    /// Makes something of every kind for the user of `sends`, by these names. All of it holds the first text of
    /// `content`, and the account of its owner alone the second.
    pub(super) async fn by(content: [&str; 2], names: Names, sends: impl AsyncFn(Case) -> Answer) -> Self {
        let send = async |case: Case| {
            let path = case.path.clone();
            let answer = sends(case).await;
            assert!(answer.status < 300 || answer.status == 428, "{path}: {answer:?}");
            serde_json::from_str::<Value>(&answer.body).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
        };
        let post = async |path: &str, body: Value| send(Case::of("POST", path).saying(&body)).await;
        let [mark, money] = content.map(str::to_owned);
        let write = Case::of("POST", "/v1/tools/debug_write:call").saying(&json!({"value": mark}));
        let call = send(write.with(format!("idempotency-key: {}", names.request))).await;
        let confirmation = post("/v1/tools/debug_confirm:call", json!({"value": mark})).await;
        let documents = json!([{"path": "notes.txt", "text": mark}]);
        let task =
            post("/v1/tasks", json!({"request": mark, "role": "analyst", "documents": documents})).await;
        let task = text(&task["task"]["task_id"]);
        let steps = format!("/v1/tasks/{task}:call");
        let thoughts = json!({"thoughts": mark}).to_string();
        post(&steps, json!({"tool": "stop_and_think", "arguments_json": thoughts})).await;
        let question = json!({"question": mark}).to_string();
        let asks = post(&steps, json!({"tool": "ask_master", "arguments_json": question})).await;
        let Names { session, paused_session, turn, paused, job, .. } = &names;
        let question =
            json!({"message": "What is AMD trading at?", "session_id": session, "request_id": turn});
        post("/agent/chat", question).await;
        let write = json!({"message": "Add Infosys to my watchlist", "session_id": paused_session,
                           "request_id": paused});
        let pending = post("/agent/chat", write).await;
        post("/api/discovery", json!({"max_candidates": 1, "request_id": job})).await;
        let status = sends(Case::of("GET", &format!("/api/jobs/{job}/status"))).await;
        assert!(status.body.contains("event: done"), "{status:?}");
        Self {
            content: [mark, money],
            call: text(&call["call_id"]),
            confirmation: text(&confirmation["confirmation"]["confirmation_id"]),
            task,
            question: text(&asks["block"]["task_id"]),
            interrupt: text(&pending["pending"][0]["confirmation_required"]["confirmation_id"]),
            names,
        }
    }

    /// What the server knows it by.
    pub(super) fn ids(&self) -> [&str; 5] {
        [&self.call, &self.confirmation, &self.task, &self.question, &self.interrupt]
    }

    /// What nobody but the owner may be told, unless they said it themselves.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        let content = self.content.iter().map(String::as_str);
        content.chain(self.ids()).chain(self.names.all())
    }
}

impl Names {
    pub(super) fn new() -> Self {
        Self { session: id(), paused_session: id(), turn: id(), paused: id(), job: id(), request: id() }
    }

    pub(super) fn all(&self) -> [&str; 6] {
        let Self { session, paused_session, turn, paused, job, request } = self;
        [session, paused_session, turn, paused, job, request]
    }
}

fn id() -> String {
    RequestId::generate().to_string()
}
