//! `[models.NAME]`: what is read, what is refused, and that no key is shown.

use std::fs;

use secrecy::ExposeSecret;

use super::*;
use crate::{Flags, Loaded, print, testing::load_text};

const KEY: &str = "sk-planted-0123456789";

fn of(file: &str) -> Result<Loaded, String> {
    load_text(file, &[("A_KEY", KEY), ("SPACED", "two words")], Flags::default(), &[])
        .map_err(|error| error.to_string())
}

#[track_caller]
fn refused(file: &str) -> String {
    of(file).expect_err("refused")
}

#[test]
fn without_tables_there_are_no_models() {
    assert!(of("").unwrap().config.models.0.is_empty());
}

#[test]
fn a_model_is_read_with_its_key_and_printed_without() {
    let file = "[models.claude]\nprovider = \"anthropic\"\nmodel = \"claude-x\"\napi_key_env = \"A_KEY\"\n\
                timeout = \"5s\"\nmax_answer_tokens = 100\n[models.local]\nprovider = \"ollama\"\nmodel = \"qwen3:8b\"";
    let loaded = of(file).unwrap();
    let model = loaded.config.models.get("claude").unwrap();
    assert_eq!((model.provider, model.model.as_str()), (Provider::Anthropic, "claude-x"));
    assert_eq!((model.timeout.as_secs(), model.max_answer_tokens), (5, 100));
    assert!(matches!(&model.credentials, Credentials::Key(key) if key.expose_secret() == KEY));
    assert!(matches!(loaded.config.models.get("local").unwrap().credentials, Credentials::None));
    let printed = print(&loaded);
    assert!(printed.contains("[models.claude]\nprovider = \"anthropic\""), "{printed}");
    assert!(printed.contains("api_key_env = \"A_KEY\""), "{printed}");
    for shown in [printed.as_str(), &format!("{:?}", loaded.config.models)] {
        assert!(!shown.contains(KEY), "{shown}");
    }
    // What is printed can be read again.
    assert!(of(&printed).is_ok(), "{printed}");
}

#[test]
fn a_key_may_stand_in_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("key");
    fs::write(&path, format!("{KEY}\n")).unwrap();
    let file = format!("[models.a]\nprovider = \"openai\"\nmodel = \"gpt-x\"\napi_key_file = {path:?}");
    let loaded = of(&file).unwrap();
    let credentials = &loaded.config.models.get("a").unwrap().credentials;
    assert!(matches!(credentials, Credentials::Key(key) if key.expose_secret() == KEY));
    fs::write(&path, "two words").unwrap();
    let error = refused(&file);
    assert!(error.contains("visible ASCII") && !error.contains("two words"), "{error}");
}

#[test]
fn a_token_may_be_fetched() {
    let file = "[models.a]\nprovider = \"compatible\"\nmodel = \"x\"\nendpoint = \"https://models.example/v1\"\n\
                [models.a.oauth]\ntoken_url = \"https://login.example/token\"\nclient_id = \"me\"\n\
                client_secret_env = \"A_KEY\"\nscope = \"chat\"";
    let loaded = of(file).unwrap();
    let Credentials::OAuth(oauth) = &loaded.config.models.get("a").unwrap().credentials else { panic!() };
    assert_eq!((oauth.client_id.as_str(), oauth.scope.as_str(), oauth.audience.as_str()), ("me", "chat", ""));
    assert_eq!(oauth.client_secret.expose_secret(), KEY);
    let printed = print(&loaded);
    assert!(!printed.contains(KEY) && of(&printed).is_ok(), "{printed}");
}

#[test]
fn what_cannot_be_used_is_refused_and_says_why() {
    let model = |lines: &str| format!("[models.a]\n{lines}");
    for (lines, words) in [
        ("model = \"x\"", "provider is missing"),
        ("provider = \"ollama\"", "model is missing"),
        ("provider = \"antropic\"\nmodel = \"x\"", "Did you mean anthropic?"),
        ("provider = \"ollama\"\nmodel = \"two words\"", "model must have"),
        ("provider = \"openai\"\nmodel = \"x\"", "expected api_key_env, api_key_file or a table oauth"),
        ("provider = \"openai\"\nmodel = \"x\"\napi_key_env = \"MISSING\"", "MISSING, which is not set"),
        ("provider = \"openai\"\nmodel = \"x\"\napi_key_env = \"SPACED\"", "SPACED must hold visible"),
        ("provider = \"openai\"\nmodel = \"x\"\napi_key_file = \"/nowhere/key\"", "cannot be read"),
        ("provider = \"openai\"\nmodel = \"x\"\napi_key_env = \"A_KEY\"\napi_key_file = \"x\"", "not both"),
        ("provider = \"openai\"\nmodel = \"x\"\napi_key_env = 3", "expected a text in quotes"),
        ("provider = \"compatible\"\nmodel = \"x\"", "endpoint is missing"),
        ("provider = \"ollama\"\nmodel = \"x\"\nendpoint = \"ftp://a\"", "endpoint must be https"),
        ("provider = \"ollama\"\nmodel = \"x\"\nendpoint = \"http://a/?b=c\"", "an address alone"),
        ("provider = \"ollama\"\nmodel = \"x\"\ntimeout = \"1h\"", "timeout must be from 1s to 10m"),
        ("provider = \"ollama\"\nmodel = \"x\"\nmax_answer_tokens = 1", "max_answer_tokens must be from 64"),
        ("provider = \"ollama\"\nmodel = \"x\"\napi_key = \"x\"", "api_key: unknown setting"),
        ("provider = \"ollama\"\nmodel = \"x\"\noauth = 3", "expected a table [models.a.oauth]"),
    ] {
        let error = refused(&model(lines));
        assert!(error.contains(words), "{lines}: {error}");
    }
    let over_http =
        "provider = \"openai\"\nmodel = \"x\"\napi_key_env = \"A_KEY\"\nendpoint = \"http://10.0.0.7/v1\"";
    assert!(refused(&model(over_http)).contains("since a key is sent there"));
    assert!(of(&model(&over_http.replace("10.0.0.7", "127.0.0.1"))).is_ok());
    assert!(of("[models.\"a b\"]\nprovider = \"ollama\"\nmodel = \"x\"").is_err());
    assert!(refused("[models]\nprovider = \"ollama\"").contains("expected a table [models.provider]"));
}

#[test]
fn what_is_missing_of_a_token_is_told() {
    let oauth = |lines: &str| {
        format!(
            "[models.a]\nprovider = \"compatible\"\nmodel = \"x\"\nendpoint = \"https://a.example\"\n\
             [models.a.oauth]\n{lines}"
        )
    };
    let error = refused(&oauth("client_id = \"me\""));
    assert!(error.contains("token_url is missing") && error.contains("client_secret_env"), "{error}");
    let open = "token_url = \"http://login.example\"\nclient_id = \"me\"\nclient_secret_env = \"A_KEY\"";
    assert!(refused(&oauth(open)).contains("token_url must be https"));
    assert!(refused(&oauth(&format!("{open}\nscop = \"x\""))).contains("scop"));
}
