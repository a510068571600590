//! The tools in the requests that a provider receives are the export for that user, to the letter.

use toolwire::{
    config::{AgentAnswerer, AgentModel, AgentPlanner, AuthUser, Credentials, Models, Provider, ToolPattern},
    contract::proto::v1::ExportToolsRequest,
};

use super::{by_model::message, *};
use crate::support::stub::{Reply as Answered, Stub, events, json as whole};

const TOKEN: &str = "a-long-enough-t0ken";
const OPENAI: &str =
    r#"{"id":"c","choices":[{"index":0,"delta":{"content":"Hello!"},"finish_reason":"stop"}]}"#;
const COMPATIBLE: &str = r#"{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hello!"},"finish_reason":"stop"}],"usage":{"prompt_tokens":11,"completion_tokens":5,"total_tokens":16}}"#;
const GEMINI: &str = r#"{"candidates":[{"content":{"parts":[{"text":"Hello!"}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":11,"candidatesTokenCount":3,"totalTokenCount":14}}"#;
const OLLAMA: &str = include_str!("../fixtures/models/ollama_hello.ndjson");
const ANTHROPIC: &str = include_str!("../fixtures/models/anthropic_hello.sse");

/// A server as it is configured, with a provider that is a stub.
async fn house(provider: Provider, answered: Answered) -> (House, Stub) {
    let stub = Stub::answering([answered]).await;
    let house = House::of(|config| asks_the(&stub, provider, config), |parts| parts, |_| ());
    (house, stub)
}

fn asks_the(stub: &Stub, provider: Provider, config: &mut Config) {
    let model = stub.model(provider, Credentials::Key("sk-planted-0123456789".to_owned().into()));
    config.agent_model = AgentModel {
        model: Some(model.name.clone()),
        planner: AgentPlanner::Native,
        answerer: AgentAnswerer::Model,
        fallback: false,
    };
    config.models = Models(vec![model]);
}

/// What the user exports.
async fn export(house: &House, format: &str) -> Value {
    let mut request =
        Request::new(ExportToolsRequest { format: format.to_owned(), strict: false, tags: Vec::new() });
    request.metadata_mut().insert("x-toolwire-user", "demo".parse().unwrap());
    let export = house.server.tools().await.export_tools(request).await.unwrap().into_inner();
    serde_json::from_str(&export.json).unwrap()
}

fn name(tool: &Value) -> &str {
    tool["name"].as_str().or_else(|| tool["function"]["name"].as_str()).unwrap()
}

/// The declarations of the tools, whatever stands around them.
fn each(tools: &Value) -> Vec<Value> {
    match tools.pointer("/0/functionDeclarations") {
        Some(declarations) => declarations.as_array().unwrap().clone(),
        None => tools.as_array().unwrap().clone(),
    }
}

#[tokio::test]
async fn a_provider_receives_the_export_and_nothing_else() {
    for (provider, format, answered) in [
        (Provider::Openai, "openai", events(&[OPENAI, "[DONE]"])),
        (Provider::Compatible, "openai", whole(200, COMPATIBLE)),
        (Provider::Gemini, "gemini", events(&[GEMINI])),
        (
            Provider::Anthropic,
            "anthropic",
            Answered::Whole(200, "content-type: text/event-stream\r\n", ANTHROPIC.to_owned()),
        ),
        (
            Provider::Ollama,
            "openai",
            Answered::Whole(200, "content-type: application/x-ndjson\r\n", OLLAMA.to_owned()),
        ),
    ] {
        let (house, stub) = house(provider, answered).await;
        let riley = house.person("demo").await;
        assert_eq!(answer(&riley.reply(message("Hi")).await), "Hello!", "{provider}");
        let asked = stub.requests();
        let (head, body) = asked[0].split_once("\r\n\r\n").unwrap();
        let body: Value = serde_json::from_str(body).unwrap();
        let mut expected = each(&export(&house, format).await);
        // What a conversation does not offer: what works on the documents of a task, and what only a task can do.
        let sent = each(&body["tools"]);
        let offered: Vec<_> = sent.iter().map(name).collect();
        expected.retain(|tool| offered.contains(&name(tool)));
        if provider == Provider::Ollama {
            // Its interface has no such word.
            for tool in &mut expected {
                tool["function"].as_object_mut().unwrap().remove("strict");
            }
        }
        assert_eq!(sent, expected, "{provider}");
        assert!(offered.contains(&"get_quotes") && offered.contains(&"ask_master"), "{offered:?}");
        assert!(!offered.contains(&"write_file") && !offered.contains(&"handoff"), "{offered:?}");
        assert!(head.starts_with("POST /api/"), "{head}");
    }
}

#[tokio::test]
async fn nobody_is_told_what_the_user_may_not_call() {
    let mut user = AuthUser::new("riley".parse().unwrap(), TOKEN.into());
    user.tools = vec![ToolPattern::try_from("get_quotes".to_owned()).unwrap()];
    let stub = Stub::answering([events(&[OPENAI, "[DONE]"])]).await;
    let house = House::of(
        |config| {
            asks_the(&stub, Provider::Openai, config);
            config.auth.users = vec![user];
        },
        |parts| parts,
        |_| (),
    );
    let riley = house.person("riley").await;
    let mut request = Request::new(ChatRequest { input: Some(message("Hi")) });
    request.metadata_mut().insert("authorization", format!("Bearer {TOKEN}").parse().unwrap());
    riley.agent.clone().chat(request).await.unwrap();
    let asked = &stub.requests()[0];
    assert!(asked.contains("get_quotes") && !asked.contains("get_performance"), "{asked}");
}

#[tokio::test]
async fn a_wrong_prompt_is_refused_at_start_where_a_model_is_asked() {
    let data = crate::support::data_directory();
    crate::support::save(&data.path().join("prompts/agent.md"), "You are {{ who }}.");
    let state = tempfile::tempdir().unwrap();
    let mut config = config();
    config.data.dir = Some(data.path().to_owned());
    config.state.dir = Some(state.path().to_owned());
    let build = |config: &Config| App::build(config, &toolwire::domains::bundled());
    assert!(build(&config).is_ok());
    let stub = Stub::answering([]).await;
    asks_the(&stub, Provider::Openai, &mut config);
    let error = build(&config).unwrap_err().to_string();
    assert!(error.contains("prompts/agent.md: no such value: who"), "{error}");
    assert!(stub.requests().is_empty(), "nothing is asked at start");
}
