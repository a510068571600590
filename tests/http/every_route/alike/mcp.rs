//! Every method of MCP, of clients of both eras, at the URL of all tools, of a toolset and of the search.

use futures_util::future::join_all;
use serde_json::{Value, json};
use toolwire::tool::context::RequestId;

use super::{
    super::{
        cases::Case,
        world::{Names, Planted},
    },
    callers::{Caller, Callers},
    compare::{Findings, words},
};
use crate::mcp::{
    client::{ERAS, Era, Message},
    confirming::{forms, tasks},
};

const PATHS: [&str; 4] = ["/mcp", "/mcp/all", "/mcp?toolset=all", "/mcp?mode=search"];

/// The methods of the protocol that are not offered. One that comes to be needs its messages in [`messages`].
const NOT_OFFERED: [&str; 12] = [
    "completion/complete",
    "elicitation/create",
    "logging/setLevel",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "roots/list",
    "tasks/list",
    "tasks/result",
];

/// What one of them has by MCP: a call that waits as a task, and the state of one that asked by a form.
struct Kept {
    task: String,
    state: String,
}

/// A message as a request over HTTP.
fn case(message: &Message, path: &str) -> Case {
    case_within("1200ms", message, path)
}

fn case_within(timeout: &str, message: &Message, path: &str) -> Case {
    let headers = message.headers.iter().map(|(name, value)| format!("{name}: {value}"));
    let case = headers.fold(Case::of("POST", path).saying(&message.body), Case::with);
    case.with(format!("x-toolwire-timeout: {timeout}"))
}

async fn call(caller: &Caller, params: Value, capabilities: &Value) -> Value {
    let message = Message::with_capabilities(Era::New, "tools/call", params, capabilities);
    let answer = caller.send(&case(&message, "/mcp"), caller.id).await;
    let last = answer.body.lines().filter_map(|line| line.strip_prefix("data:")).next_back();
    let mut answer: Value = serde_json::from_str(last.unwrap_or(&answer.body)).unwrap();
    answer["result"].take()
}

async fn keep(caller: &Caller) -> Kept {
    let params = |value: &str| json!({"name": "debug_confirm", "arguments": {"value": value}});
    let (mark, mut state) = (caller.mark(), Value::Null);
    let task = call(caller, params(&mark), &tasks()).await;
    // Of a call of its own, and with room for the form before the call ends.
    let message = Message::with_capabilities(Era::New, "tools/call", params("form"), &forms());
    let answer = caller.send(&case_within("30s", &message, "/mcp"), caller.id).await;
    for line in answer.body.lines() {
        let line = serde_json::from_str::<Value>(line.trim_start_matches("data:")).unwrap_or_default();
        if line["result"]["requestState"].is_string() {
            state = line["result"]["requestState"].clone();
        }
    }
    Kept {
        task: task["taskId"].as_str().unwrap_or_else(|| panic!("{task}")).to_owned(),
        state: state.as_str().unwrap_or_else(|| panic!("{answer:?}")).to_owned(),
    }
}

impl Kept {
    /// What does not exist, and a state of the same form that is sealed for nothing.
    fn nothing(&self) -> Self {
        let (begin, end) = self.state.split_at(self.state.len() / 2);
        let other = if end.starts_with('A') { 'B' } else { 'A' };
        Self { task: RequestId::generate().to_string(), state: format!("{begin}{other}{}", &end[1..]) }
    }
}

/// What is asked, by method, of what its owner has.
fn messages(era: Era, planted: &Planted, kept: &Kept) -> Vec<Message> {
    let Planted { names, task, call, confirmation, .. } = planted;
    let of_task = |method: &str, id: &str| {
        let params = json!({"taskId": id, "inputResponses": {}});
        Message::with_capabilities(era, method, params, &tasks())
    };
    let write = |meta: Value| Message::call(era, "debug_write", &json!({"value": "mine"}), &meta);
    let by_model = json!({"value": "mine", "request_id": names.request});
    let form = json!({"name": "debug_confirm", "arguments": {"value": "form"}, "requestState": kept.state,
                      "inputResponses": {"confirmation": {"action": "accept", "content": {"look_again": true}}}});
    let mut all = Vec::new();
    for id in [&kept.task, call, confirmation, task] {
        all.extend(["tasks/get", "tasks/update", "tasks/cancel"].map(|method| of_task(method, id)));
    }
    all.extend([
        write(json!({"toolwire/request_id": names.request})),
        write(json!({"toolwire/task_id": task})),
        write(json!({"toolwire/session_id": names.session})),
        Message::call(era, "debug_write", &by_model, &json!({})),
        Message::call(era, "read_result", &json!({"call_id": call, "offset": 0}), &json!({})),
        Message::with_capabilities(era, "tools/call", form, &forms()),
        Message::new(era, "tools/list", json!({"cursor": kept.state})),
    ]);
    for tool in ["call_read_tool", "call_tool"] {
        let arguments = json!({"name": "read_result", "arguments": {"call_id": call, "offset": 0}});
        all.push(Message::call(era, tool, &arguments, &json!({})));
    }
    all
}

/// What is asked about all that a caller may know. A subscription, which has no end, tells that the list of tools is
/// another, and no more.
fn lists(era: Era) -> Vec<Message> {
    let client = json!({"name": "test", "version": "1"});
    let greeting = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let mut all = vec![
        Message::new(era, "tools/list", json!({})),
        Message::new(era, "ping", json!({})),
        Message::new(era, "server/discover", json!({})),
        Message::call(era, "find_tools", &json!({"query": "", "limit": 50}), &json!({})),
    ];
    if era == Era::Old {
        all.push(Message::new(era, "initialize", greeting));
    }
    all
}

async fn ask(caller: &Caller, others: &[&Caller], planted: &[Planted], kept: &[Kept], findings: &Findings) {
    let ways = || PATHS.map(|path| (Era::New, path)).into_iter().chain([(Era::Old, PATHS[0])]);
    for (era, path) in ways() {
        for message in lists(era) {
            let answer = words(&caller.send(&case(&message, path), caller.id).await);
            findings.tells_of_other(caller, planted, others, &message.body.to_string(), &answer);
        }
    }
    for ((other, owned), kept) in
        others.iter().zip(planted).zip(kept).filter(|((it, _), _)| it.id != caller.id)
    {
        let (nothing, kept_nothing) = (Planted::nothing(), kept.nothing());
        for (era, path) in ways() {
            let pairs = messages(era, owned, kept).into_iter().zip(messages(era, &nothing, &kept_nothing));
            for (message, unknown) in pairs {
                let request = format!("{path} {} {:?}", message.body, message.headers);
                let answer = words(&caller.send(&case(&message, path), other.id).await);
                let to_nothing = words(&caller.send(&case(&unknown, path), other.id).await);
                findings.tells_of_other(caller, planted, others, &request, &answer);
                if answer.contains(&kept.task) && !request.contains(&kept.task) {
                    findings.add(format!("{request} tells of a task: {answer}"));
                }
                let plain = |text: &str, kept: &Kept| {
                    text.replace(&kept.task, "<task>").replace(&kept.state, "<state>")
                };
                let (answer, to_nothing) = (plain(&answer, kept), plain(&to_nothing, &kept_nothing));
                findings.differ(&request, (&answer, owned), (&to_nothing, &nothing));
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_method_tells_one_of_another() {
    let callers = Callers::start().await;
    let planted = callers.plant(Names::new).await;
    let kept = join_all(callers.all.iter().map(keep)).await;
    let others: Vec<_> = callers.all.iter().collect();
    let findings = Findings::default();
    join_all(others.iter().map(|caller| ask(caller, &others, &planted, &kept, &findings))).await;
    findings.assert_none();
    // Each has its own still.
    for (caller, kept) in callers.all.iter().zip(&kept) {
        let message =
            Message::with_capabilities(Era::New, "tasks/get", json!({"taskId": kept.task}), &tasks());
        let answer = words(&caller.send(&case(&message, "/mcp"), caller.id).await);
        assert!(answer.contains("\"status\":\"working\"") && answer.contains(&caller.mark()), "{answer}");
    }
}

#[tokio::test]
async fn a_method_of_which_nothing_is_asked_here_is_not_offered() {
    let callers = Callers::start().await;
    for (method, era) in NOT_OFFERED.into_iter().flat_map(|method| ERAS.map(|era| (method, era))) {
        let message = Message::new(era, method, json!({"taskId": "x", "name": "x", "uri": "x"}));
        let answer = callers.all[0].send(&case(&message, "/mcp"), "riley").await;
        assert!(answer.body.contains("-32601") || answer.body.contains("-32602"), "{method}: {answer:?}");
        assert!(!answer.body.contains("\"result\""), "{method}: {answer:?}");
    }
}
