//! A case for each route, and more where it does several things: a request that names what the owner has.

use serde_json::{Value, json};

use super::world::{Names, Planted};

/// Whom a case is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// It says nothing of anybody, and anybody may ask it.
    Anybodys,
    /// It names something of the owner's, and for everybody else there is no such thing.
    Owners,
    /// It is about whoever asks.
    Callers,
    /// It carries a tool out for whoever asks.
    Calls,
    /// It carries out what an agent of whoever asks wants.
    Turns,
}

/// A request.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) route: &'static str,
    pub(super) path: String,
    pub(super) headers: Vec<String>,
    pub(super) body: String,
    pub(super) whose: Whose,
}

impl Case {
    fn new(whose: Whose, route: &'static str, path: impl Into<String>) -> Self {
        Self { route, path: path.into(), headers: Vec::new(), body: String::new(), whose }
    }

    /// One of no row.
    pub(super) fn of(method: &'static str, path: &str) -> Self {
        Self::new(Whose::Callers, method, path)
    }

    pub(super) fn saying(self, body: &Value) -> Self {
        Self { body: body.to_string(), ..self }
    }

    pub(super) fn with(mut self, header: impl Into<String>) -> Self {
        self.headers.push(header.into());
        self
    }

    /// One without an end, which is asked for a while.
    fn watching(self) -> Self {
        self.with("x-toolwire-timeout: 1s")
    }

    pub(super) fn method(&self) -> &'static str {
        self.route.split(' ').next().unwrap()
    }

    /// Whether it only reads what whoever asks has.
    pub(super) fn is_list(&self) -> bool {
        self.whose == Whose::Callers && self.method() == "GET"
    }

    /// Whether it has no end of its own.
    pub(super) fn is_watch(&self) -> bool {
        self.headers.iter().any(|header| header.starts_with("x-toolwire-timeout"))
    }

    /// Whether it says a word itself.
    pub(super) fn says(&self, word: &str) -> bool {
        self.path.contains(word)
            || self.body.contains(word)
            || self.headers.iter().any(|it| it.contains(word))
    }
}

/// All of them. What changes or ends something comes last.
pub(super) fn cases(planted: &Planted) -> Vec<Case> {
    [tools(planted), specified(planted), turns(planted), read(planted), tasks(planted)].concat()
}

/// What clients of MCP accept.
const ACCEPT: &str = "accept: application/json, text/event-stream";

/// A message of MCP's older revisions.
fn rpc(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

/// Calls, and what is said of tools.
fn tools(planted: &Planted) -> Vec<Case> {
    use Whose::{Anybodys, Callers, Calls, Owners};
    let quotes = json!({"symbol": "AMD"});
    let write = json!({"value": "mine"});
    // It waits for a person until a second before that.
    let soon = json!({"toolwire/timeout_ms": 3_000});
    let of_task = format!("x-toolwire-task-id: {}", planted.task);
    vec![
        Case::new(Anybodys, "GET /errors/{code}", "/errors/NOT_FOUND"),
        Case::new(
            Anybodys,
            "GET /.well-known/oauth-protected-resource",
            "/.well-known/oauth-protected-resource",
        ),
        Case::new(
            Anybodys,
            "GET /.well-known/oauth-protected-resource/mcp",
            "/.well-known/oauth-protected-resource/mcp",
        ),
        Case::new(
            Anybodys,
            "GET /.well-known/oauth-protected-resource/mcp/{toolset}",
            "/.well-known/oauth-protected-resource/mcp/all",
        ),
        Case::new(Anybodys, "GET /v1/console", "/v1/console"),
        Case::new(Anybodys, "GET /", "/"),
        Case::new(Anybodys, "GET /icon.svg", "/icon.svg"),
        Case::new(Anybodys, "GET /main.js", "/main.js"),
        Case::new(Anybodys, "GET /style.css", "/style.css"),
        Case::new(Anybodys, "GET /elements/{file}", "/elements/app.js"),
        Case::new(Anybodys, "GET /lib/{file}", "/lib/api.js"),
        Case::new(Anybodys, "GET /screens/{file}", "/screens/calls.js"),
        Case::new(Anybodys, "GET /vendor/{file}", "/vendor/lit.js"),
        Case::new(Callers, "GET /openapi.json", "/openapi.json"),
        Case::new(Callers, "GET /v1/openapi.json", "/v1/openapi.json"),
        Case::new(Callers, "GET /v1/exports/{format}", "/v1/exports/mcp"),
        Case::new(Callers, "GET /v1/guidance", "/v1/guidance"),
        Case::new(Callers, "POST /mcp", "/mcp").with(ACCEPT).saying(&rpc("tools/list", &json!({}))),
        Case::new(Callers, "POST /mcp/{toolset}", "/mcp/all")
            .with(ACCEPT)
            .saying(&rpc("tools/list", &json!({}))),
        Case::new(Callers, "POST /mcp", "/mcp")
            .with(ACCEPT)
            .saying(&rpc("tools/call", &json!({"name": "get_quotes", "arguments": quotes, "_meta": soon}))),
        Case::new(Callers, "GET /v1/limits", "/v1/limits"),
        Case::new(Callers, "GET /v1/providers", "/v1/providers"),
        Case::new(Callers, "GET /v1/providers:watch", "/v1/providers:watch").watching(),
        Case::new(Callers, "GET /v1/events", "/v1/events").watching(),
        Case::new(Callers, "GET /v1/viewer", "/v1/viewer"),
        Case::new(Callers, "GET /v1/quotas", "/v1/quotas"),
        Case::new(Callers, "GET /v1/stats", "/v1/stats?step=60s"),
        Case::new(Callers, "GET /v1/tools", "/v1/tools"),
        Case::new(Callers, "GET /v1/tools:watch", "/v1/tools:watch").watching(),
        Case::new(Calls, "GET /v1/tools/{tool}", "/v1/tools/get_quotes"),
        Case::new(Calls, "POST /v1/tools/{tool}", "/v1/tools/get_quotes:call").saying(&quotes),
        Case::new(Calls, "POST /v1/tools/{tool}", "/v1/tools/get_quotes:invoke").saying(&quotes),
        Case::new(Calls, "POST /v1/tools/{tool}", "/v1/tools/get_account_summary:call").saying(&json!({})),
        Case::new(Callers, "POST /v1/tools/{tool}", "/v1/tools/get_quotes:explain").saying(&quotes),
        Case::new(Callers, "POST /v1/intents/{intent}", "/v1/intents/quotes:explain").saying(&quotes),
        Case::new(Calls, "POST /v1/intents/{intent}", "/v1/intents/quotes:call").saying(&quotes),
        Case::new(Calls, "POST /v1/intents/{intent}", "/v1/intents/quotes:invoke").saying(&quotes),
        Case::new(Owners, "POST /v1/tools/{tool}", "/v1/tools/debug_write:call")
            .saying(&write)
            .with(&of_task),
    ]
}

/// What the specifications show.
fn specified(planted: &Planted) -> Vec<Case> {
    use Whose::{Callers, Calls, Owners};
    let Names { job, turn, .. } = &planted.names;
    vec![
        Case::new(Calls, "GET /api/account_summary", "/api/account_summary"),
        Case::new(Calls, "GET /api/activity", "/api/activity"),
        Case::new(Calls, "GET /api/facts", "/api/facts?topic=etf"),
        Case::new(Calls, "GET /api/performance", "/api/performance?timeframe=YTD"),
        Case::new(Calls, "GET /api/positions", "/api/positions?symbol=AMD"),
        Case::new(Calls, "GET /api/positions_list", "/api/positions_list"),
        Case::new(Calls, "GET /api/quotes", "/api/quotes?symbol=AMD"),
        Case::new(Calls, "GET /api/transfers", "/api/transfers"),
        Case::new(Calls, "POST /api/integrations/screener/import", "/api/integrations/screener/import")
            .saying(&json!({})),
        Case::new(Owners, "GET /api/traces/{turn_id}", format!("/api/traces/{turn}")),
        Case::new(Owners, "GET /api/jobs/{id}", format!("/api/jobs/{job}")),
        Case::new(Owners, "GET /api/jobs/{id}/status", format!("/api/jobs/{job}/status")),
        Case::new(Owners, "GET /api/jobs/{id}/status", format!("/api/jobs/{job}/status"))
            .with("accept: application/json"),
        Case::new(Owners, "DELETE /api/jobs/{id}", format!("/api/jobs/{job}")),
        // The name of another's job is free.
        Case::new(Callers, "POST /api/discovery", "/api/discovery")
            .saying(&json!({"max_candidates": 1, "request_id": job})),
    ]
}

/// Turns in sessions and of names that the owner has, too, and with what the owner was asked.
fn turns(planted: &Planted) -> Vec<Case> {
    use Whose::{Callers, Owners, Turns};
    let Planted { names: Names { session, paused_session, turn, paused, .. }, interrupt, .. } = planted;
    let asks = json!({"message": "What is AMD trading at?", "session_id": session, "request_id": turn});
    let plain = json!({"message": "What is AMD trading at?", "session_id": session});
    let resumes = json!({"resume": {"turn_id": paused}});
    let message = json!([{"id": "m", "role": "user", "content": "What is AMD trading at?"}]);
    let runs = json!({"action": "chat", "threadId": session, "runId": turn, "messages": message});
    let payload = json!({"approved": true, "tool": "add_to_watchlist"});
    let approves = json!([{"interruptId": interrupt, "status": "resolved", "payload": payload}]);
    let approves = json!({"action": "chat", "threadId": paused_session, "resume": approves});
    vec![
        Case::new(Turns, "POST /api/chat", "/api/chat").saying(&plain),
        Case::new(Turns, "POST /agent/chat", "/agent/chat").saying(&asks),
        Case::new(Turns, "POST /agent/stream", "/agent/stream").saying(&plain),
        Case::new(Owners, "POST /agent/chat", "/agent/chat").saying(&resumes),
        Case::new(Owners, "POST /agent/stream", "/agent/stream").saying(&resumes),
        Case::new(Owners, "GET /agent/stream/{turn_id}", format!("/agent/stream/{turn}")),
        Case::new(Turns, "POST /copilotkit/action", "/copilotkit/action").saying(&runs),
        Case::new(Turns, "POST /copilotkit/stream", "/copilotkit/stream").saying(&runs),
        Case::new(Callers, "POST /copilotkit/action", "/copilotkit/action").saying(&approves),
        Case::new(Callers, "POST /copilotkit/stream", "/copilotkit/stream").saying(&approves),
    ]
}

/// Calls that were made, confirmations, jobs and records.
fn read(planted: &Planted) -> Vec<Case> {
    use Whose::{Callers, Owners};
    let Planted { call, confirmation, names: Names { job, .. }, .. } = planted;
    let decides = format!("/v1/confirmations/{confirmation}:decide");
    vec![
        Case::new(Callers, "GET /v1/calls", "/v1/calls"),
        Case::new(Callers, "GET /v1/calls:watch", "/v1/calls:watch").watching(),
        Case::new(Owners, "GET /v1/calls/{call_id}", format!("/v1/calls/{call}")),
        Case::new(Callers, "POST /v1/calls/{call_id}", format!("/v1/calls/{call}:cancel")),
        Case::new(Callers, "GET /v1/confirmations", "/v1/confirmations"),
        Case::new(Callers, "GET /v1/confirmations:watch", "/v1/confirmations:watch").watching(),
        Case::new(
            Owners,
            "GET /v1/confirmations/{confirmation_id}",
            format!("/v1/confirmations/{confirmation}"),
        ),
        Case::new(Owners, "POST /v1/confirmations/{confirmation_id}", decides.clone())
            .saying(&json!({"approve": {"tool": "debug_confirm"}})),
        Case::new(Owners, "POST /v1/confirmations/{confirmation_id}", decides)
            .saying(&json!({"deny": {"reason": "no"}})),
        Case::new(Callers, "GET /v1/records", "/v1/records"),
        Case::new(Callers, "GET /v1/refusals", "/v1/refusals"),
        Case::new(Callers, "GET /v1/jobs", "/v1/jobs"),
        Case::new(Owners, "GET /v1/jobs/{job_id}", format!("/v1/jobs/{job}")),
        Case::new(Owners, "GET /v1/jobs/{job_id}/events", format!("/v1/jobs/{job}/events")),
        Case::new(Owners, "POST /v1/jobs/{job_id}", format!("/v1/jobs/{job}:cancel")),
    ]
}

/// Tasks and their documents.
fn tasks(planted: &Planted) -> Vec<Case> {
    use Whose::{Callers, Owners};
    let Planted { call, task, question, .. } = planted;
    let under = |below: &str| format!("/v1/tasks/{task}{below}");
    let of_task =
        |below: &str, body: Value| Case::new(Owners, "POST /v1/tasks/{task_id}", under(below)).saying(&body);
    let documents = |below: &str| format!("/v1/workspaces/{task}/documents{below}");
    let write = json!({"value": "mine"}).to_string();
    vec![
        Case::new(Callers, "GET /v1/tasks", "/v1/tasks"),
        Case::new(Callers, "GET /v1/tasks:watch", "/v1/tasks:watch").watching(),
        Case::new(Owners, "GET /v1/tasks/{task_id}", under("")),
        Case::new(Owners, "GET /v1/tasks/{task_id}/rendering", under("/rendering")),
        Case::new(Owners, "GET /v1/tasks/{task_id}/timeline", under("/timeline")),
        Case::new(Owners, "GET /v1/tasks/{task_id}/timeline/{sequence}", under("/timeline/1")),
        Case::new(Owners, "GET /v1/tasks/{task_id}/timeline:watch", under("/timeline:watch")).watching(),
        Case::new(Owners, "GET /v1/workspaces/{task_id}/documents", documents("")),
        Case::new(
            Owners,
            "GET /v1/workspaces/{task_id}/documents:search",
            documents(":search?query=planted"),
        ),
        Case::new(Owners, "GET /v1/workspaces/{task_id}/documents/{*path}", documents("/notes.txt")),
        Case::new(
            Owners,
            "GET /v1/workspaces/{task_id}/versions/{*path}",
            format!("/v1/workspaces/{task}/versions/notes.txt"),
        ),
        Case::new(Owners, "PUT /v1/workspaces/{task_id}/documents/{*path}", documents("/notes.txt"))
            .with("content-type: text/plain")
            .saying(&json!("mine")),
        Case::new(Owners, "PATCH /v1/workspaces/{task_id}/documents/{*path}", documents("/notes.txt"))
            .saying(&json!({"description": "mine", "etag": "mine"})),
        Case::new(Owners, "DELETE /v1/workspaces/{task_id}/documents/{*path}", documents("/notes.txt")),
        Case::new(Callers, "POST /v1/tasks", "/v1/tasks")
            .saying(&json!({"request": "mine", "role": "analyst"})),
        Case::new(Callers, "POST /v1/tasks:lease", "/v1/tasks:lease")
            .saying(&json!({"any_of": {"roles": ["analyst"]}, "holder": "me"})),
        of_task(":lease", json!({"holder": "me"})),
        of_task(":release", json!({"token": "1"})),
        of_task(":call", json!({"tool": "debug_write", "arguments_json": write})),
        of_task(":append", json!({"message": {"role": "ASSISTANT", "text": "mine"}})),
        of_task(":end", json!({"failed": "mine"})),
        of_task(":resolve", json!({"call_id": call, "not_done": true, "reason": "mine"})),
        Case::new(Owners, "POST /v1/tasks/{task_id}", format!("/v1/tasks/{question}:answer"))
            .saying(&json!({"answer": "mine"})),
        of_task(":cancel", json!({"reason": "mine"})),
        Case::new(Owners, "DELETE /v1/tasks/{task_id}", under("")),
    ]
}
