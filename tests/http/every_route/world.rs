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
/// The owner's sessions: of the turn that has ended, and of the one that waits.
pub(super) const SESSION: &str = "one-session";
pub(super) const PAUSED: &str = "another-session";
/// What only the owner's account holds.
const MONEY: &str = "23416.97";

/// What the owner has, by its names.
#[derive(Clone, Debug)]
pub(super) struct Planted {
    pub(super) call: String,
    pub(super) confirmation: String,
    pub(super) task: String,
    pub(super) question: String,
    pub(super) turn: String,
    pub(super) paused: String,
    pub(super) interrupt: String,
    pub(super) job: String,
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
    let key = format!("idempotency-key: {}", RequestId::generate());
    let bearer = user.map(bearer);
    let mut headers: Vec<&str> = case.headers.iter().map(String::as_str).chain(bearer.as_deref()).collect();
    let is_said = |name: &str| headers.iter().any(|header| header.starts_with(name));
    let (has_key, has_type) = (is_said("idempotency-key"), is_said("content-type"));
    if case.method() == "POST" && !has_key {
        headers.push(&key);
    }
    if !case.body.is_empty() && !has_type {
        headers.push("content-type: application/json");
    }
    ask(address, case.method(), &case.path, &headers, &case.body).await
}

/// Everything that an answer says.
pub(super) fn words(answer: &Answer) -> String {
    let Answer { status, headers, body } = answer;
    let headers: BTreeMap<_, _> = headers.iter().filter(|(name, _)| *name != "date").collect();
    format!("{status} {headers:?}\n{body}")
}

async fn post(address: SocketAddr, user: &str, path: &str, body: &Value) -> Value {
    let case = Case::of("POST", path).saying(body);
    let answer = send(address, Some(user), &case).await;
    assert!(answer.status < 300 || answer.status == 428, "{path}: {answer:?}");
    serde_json::from_str(&answer.body).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value}")).to_owned()
}

impl Planted {
    /// Names of nothing.
    pub(super) fn nothing() -> Self {
        let id = || RequestId::generate().to_string();
        let named = |kind: &str| format!("{kind}_{}", id().replace('-', ""));
        Self {
            call: id(),
            confirmation: named("conf"),
            task: named("task"),
            question: named("task"),
            turn: id(),
            paused: id(),
            interrupt: named("conf"),
            job: id(),
        }
    }

    /// Gives the owner something of everything.
    pub(super) async fn at(address: SocketAddr) -> Self {
        let post = async |path: &str, body: Value| post(address, OWNER, path, &body).await;
        let call = post("/v1/tools/debug_write:call", json!({"value": MARK})).await;
        let confirmation = post("/v1/tools/debug_confirm:call", json!({"value": MARK})).await;
        let documents = json!([{"path": "notes.txt", "text": MARK}]);
        let task =
            post("/v1/tasks", json!({"request": MARK, "role": "analyst", "documents": documents})).await;
        let task = text(&task["task"]["task_id"]);
        let steps = format!("/v1/tasks/{task}:call");
        let thoughts = json!({"thoughts": MARK}).to_string();
        post(&steps, json!({"tool": "stop_and_think", "arguments_json": thoughts})).await;
        let question = json!({"question": MARK}).to_string();
        let asks = post(&steps, json!({"tool": "ask_master", "arguments_json": question})).await;
        let (turn, paused, job) = (id(), id(), id());
        let question =
            json!({"message": "What is AMD trading at?", "session_id": SESSION, "request_id": turn});
        post("/agent/chat", question).await;
        let write =
            json!({"message": "Add Infosys to my watchlist", "session_id": PAUSED, "request_id": paused});
        let pending = post("/agent/chat", write).await;
        let started = json!({"max_candidates": 1, "request_id": job});
        post("/api/discovery", started).await;
        let status = Case::of("GET", &format!("/api/jobs/{job}/status"));
        assert!(words(&send(address, Some(OWNER), &status).await).contains("event: done"));
        Self {
            call: text(&call["call_id"]),
            confirmation: text(&confirmation["confirmation"]["confirmation_id"]),
            task,
            question: text(&asks["block"]["task_id"]),
            turn,
            paused,
            interrupt: text(&pending["pending"][0]["confirmation_required"]["confirmation_id"]),
            job,
        }
    }

    /// What nobody but the owner may be told, unless they said it themselves.
    pub(super) fn words(&self) -> [&str; 10] {
        let Self { call, confirmation, task, question, turn, paused, interrupt, job } = self;
        [MARK, MONEY, call, confirmation, task, question, turn, paused, interrupt, job]
    }
}

fn id() -> String {
    RequestId::generate().to_string()
}
