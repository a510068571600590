//! `ask_gpt` and `ask_claude` where a model is configured: a stub of its provider is asked.

use serde_json::{Value, json};
use toolwire::{
    config::{Config, ConfiguredModel, Credentials, Models, Provider},
    contract::{ErrorCode, Refusal, ToolResult},
    engine::registry::Status,
};

use super::support::Service;
use crate::support::stub::{Stub, events, json as reply};

const KEY: &str = "sk-planted-0123456789";
const ANSWER: &str = r#"{"id":"c","choices":[{"index":0,"delta":{"content":"Do not release on Fridays."},"finish_reason":"stop"}]}"#;
const CUT: &str =
    r#"{"id":"c","choices":[{"index":0,"delta":{"content":"Do not"},"finish_reason":"length"}]}"#;

fn asking(stub: &Stub, name: &str, provider: Provider) -> Config {
    let endpoint = Some(stub.url("/v1").parse().expect("an address"));
    let model = ConfiguredModel {
        endpoint,
        credentials: Credentials::Key(KEY.to_owned().into()),
        ..ConfiguredModel::new(name, provider, "test-1")
    };
    let mut config = Config::default();
    config.models = Models(vec![model]);
    config
}

fn prompt() -> Value {
    json!({"prompt": "Name a risk of a release."})
}

#[track_caller]
fn error(result: &ToolResult) -> (ErrorCode, String) {
    let error = result.outcome.as_ref().expect_err("an error");
    (error.code, error.message.clone())
}

#[tokio::test]
async fn a_configured_model_is_asked_and_its_answer_is_text_from_outside() {
    let stub = Stub::answering([events(&[ANSWER, "[DONE]"]), events(&[CUT, "[DONE]"])]).await;
    let service = Service::of(asking(&stub, "second", Provider::Openai));
    let snapshot = service.app.registry.snapshot();
    assert!(matches!(snapshot.get("ask_gpt").unwrap().definition.status, Status::Ready));
    assert!(snapshot.get("ask_gpt").unwrap().definition.untrusted);

    let result = service.call("ask_gpt", prompt()).await.unwrap();
    assert_eq!(*result.outcome.unwrap().json(), json!({"text": "Do not release on Fridays."}));
    assert_eq!(result.provenance.source_ids, ["tool:ask_gpt:v1"]);
    let asked = &stub.requests()[0];
    assert!(asked.contains("Name a risk of a release.") && asked.contains(KEY), "{asked}");
    assert!(asked.starts_with("POST /v1/chat/completions"), "{asked}");

    let cut = service.call("ask_gpt", prompt()).await.unwrap();
    assert!(cut.provenance.warnings.iter().any(|it| it.contains("cut")), "{:?}", cut.provenance.warnings);

    match service.call("ask_claude", prompt()).await {
        Err(Refusal::ToolDisabled { reason, .. }) => assert!(reason.contains("[models.claude]"), "{reason}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_model_of_the_tools_name_is_meant_whoever_provides_it() {
    let stub = Stub::answering([events(&[ANSWER, "[DONE]"])]).await;
    let service = Service::of(asking(&stub, "claude", Provider::Compatible));
    assert!(service.call("ask_claude", prompt()).await.unwrap().outcome.is_ok());
    assert!(matches!(service.call("ask_gpt", prompt()).await, Err(Refusal::ToolDisabled { .. })));
}

#[tokio::test]
async fn a_failure_is_told_by_its_kind_and_holds_no_key() {
    let echoed = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}"}}}}"#);
    for (answered, code) in [
        (reply(401, &echoed), ErrorCode::AuthFailed),
        (reply(400, &echoed), ErrorCode::Unknown),
        (reply(200, "<html>"), ErrorCode::ParseError),
    ] {
        let stub = Stub::answering([answered]).await;
        let service = Service::of(asking(&stub, "gpt", Provider::Openai));
        let result = service.call("ask_gpt", prompt()).await.unwrap();
        let (found, message) = error(&result);
        assert_eq!(found, code, "{message}");
        assert!(!format!("{result:?}").contains(KEY), "{result:?}");
    }
}
