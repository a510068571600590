//! A tool that one of them may call is for the others one that there is not: not listed, described, found, exported,
//! called or hinted at.

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{
    super::cases::Case,
    callers::{Caller, Callers},
    compare::{Findings, words},
};
use crate::mcp::client::{ERAS, Message};

/// What there is not, of as many letters as the tool, which is near no name.
fn no_tool(tool: &str) -> String {
    tool.chars().map(|letter| if letter == '_' { '_' } else { 'q' }).collect()
}

/// A name that is nearer to the tool than to any other.
fn misspelt(tool: &str) -> String {
    format!("{tool}x")
}

/// Every request that names a tool.
fn requests(tool: &str) -> Vec<Case> {
    let post = |path: String, body: Value| Case::of("POST", &path).saying(&body);
    let arguments = json!({});
    let mut all = vec![
        Case::of("GET", &format!("/v1/tools/{tool}")),
        Case::of("GET", &format!("/v1/tools/{tool}?toolset=all")),
        Case::of("GET", &format!("/v1/calls?tool={tool}")),
        Case::of("GET", &format!("/v1/confirmations?tool={tool}")),
        post(format!("/v1/tools/{tool}:call"), arguments.clone()),
        post(format!("/v1/tools/{tool}:invoke"), arguments.clone()),
        post(format!("/v1/tools/{tool}:call"), json!({"surely": "unknown"})),
        post(format!("/v1/intents/{tool}:call"), arguments.clone()),
        Case::of("POST", &format!("/v1/tools/{tool}:call"))
            .saying(&arguments)
            .with("x-toolwire-toolset: all"),
    ];
    for era in ERAS {
        let call = |tool: &str, arguments: &Value| Message::call(era, tool, arguments, &json!({}));
        let named = json!({"name": tool, "arguments": {}});
        for (path, message) in [
            ("/mcp", call(tool, &json!({}))),
            ("/mcp/all", call(tool, &json!({}))),
            ("/mcp?mode=search", call(tool, &json!({}))),
            ("/mcp?mode=search", call("describe_tool", &json!({"name": tool}))),
            ("/mcp?mode=search", call("call_read_tool", &named)),
            ("/mcp?mode=search", call("call_tool", &named)),
        ] {
            let case = Case::of("POST", path).saying(&message.body);
            let headers = message.headers.iter().map(|(name, value)| format!("{name}: {value}"));
            all.push(headers.fold(case, Case::with));
        }
    }
    all
}

/// Every search for tools by words.
fn searches(words: &str) -> Vec<Case> {
    let find = |era| {
        let message = Message::call(era, "find_tools", &json!({"query": words, "limit": 50}), &json!({}));
        let case = Case::of("POST", "/mcp?mode=search").saying(&message.body);
        let headers = message.headers.into_iter().map(|(name, value)| format!("{name}: {value}"));
        headers.fold(case, Case::with)
    };
    let list = Case::of("GET", &format!("/v1/tools?text={}", words.replace(' ', "+")));
    ERAS.into_iter().map(find).chain([list]).collect()
}

async fn ask(caller: &Caller, others: &[&Caller], findings: &Findings) {
    for other in others.iter().filter(|other| other.id != caller.id) {
        let (tool, nothing, near) = (other.own_tool, no_tool(other.own_tool), misspelt(other.own_tool));
        let pairs = requests(tool).into_iter().zip(requests(&nothing));
        for ((named, unknown), misspelt) in pairs.zip(requests(&near)) {
            let answer = words(&caller.send(&named, other.id).await).replace(tool, "<tool>");
            let to_nothing = words(&caller.send(&unknown, other.id).await).replace(&nothing, "<tool>");
            let request = format!("{} asks {} {}", caller.id, named.path, named.body);
            findings.differ_as_they_are(&request, &answer, &to_nothing);
            let answer = words(&caller.send(&misspelt, other.id).await).replace(&near, "<near>");
            if answer.contains(tool) {
                findings.add(format!("{request}: a hint: {answer}"));
            }
        }
        for search in searches(&tool.replace('_', " ")) {
            let answer = words(&caller.send(&search, other.id).await);
            if answer.contains(tool) {
                findings.add(format!("{} finds {tool} by {}: {answer}", caller.id, search.path));
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_of_one_does_not_exist_for_the_others() {
    let callers = Callers::start().await;
    let others: Vec<_> = callers.all.iter().collect();
    let findings = Findings::default();
    join_all(others.iter().map(|caller| ask(caller, &others, &findings))).await;
    findings.assert_none();
    for caller in &callers.all {
        let own = caller.send(&Case::of("GET", &format!("/v1/tools/{}", caller.own_tool)), caller.id).await;
        assert_eq!(own.status, 200, "{own:?}");
    }
}
