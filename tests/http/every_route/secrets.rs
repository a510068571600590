//! Secrets of settings, of a source and of arguments stand in no body, no header and no line of the log, whatever route
//! is asked.

use std::{fmt::Write as _, fs, net::SocketAddr, path::Path};

use serde_json::{Value, json};

use super::{
    cases::{Case, cases},
    world::{MUTE, OTHER, OWNER, PARTLY, Planted, send, token, words},
};
use crate::support::{data_directory, patch_json, program::Program, stub};

/// Of a model, whose provider repeats it in its errors.
const KEY: &str = "sk-planted-0123456789";
/// Of a webhook.
const HOOK: &str = "whsec_cGxhbnRlZC1zZWNyZXQtb2YtYS13ZWJob29rMDEyMw==";
/// Of the owner at a source.
const PASSWORD: &str = "planted-password-9f3c";
/// An argument that a manifest calls sensitive.
const SENSITIVE: &str = "correct-horse-battery-staple";
/// What nobody has.
const FORGED: &str = "planted-forged-token-77";

fn settings(model: &str) -> String {
    let mut text = format!(
        "[confirmations]\nown_calls = true\n\n\
         [[confirmations.webhooks]]\nurl = \"http://127.0.0.1:9/hook\"\nsecrets_env = [\"PLANTED_HOOK\"]\n\n\
         [models.gpt]\nprovider = \"openai\"\nmodel = \"test-1\"\nendpoint = \"{model}\"\n\
         api_key_env = \"PLANTED_KEY\"\n\n[log]\narguments = true\n"
    );
    for (user, tools) in [(OWNER, "*"), (OTHER, "*"), (PARTLY, "get_*"), (MUTE, "nothing")] {
        let token = token(user);
        write!(text, "\n[[auth.users]]\nuser_id = \"{user}\"\ntoken = \"{token}\"\ntools = [\"{tools}\"]\n")
            .unwrap();
    }
    text
}

/// Data in which notes are sensitive and adding to the watch-list needs a person.
fn data() -> tempfile::TempDir {
    let data = data_directory();
    let path = data.path().join("tools/add_to_watchlist.json");
    let manifest: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let mut parameters = manifest["parameters"].clone();
    parameters["note"]["sensitive"] = true.into();
    patch_json(&path, &json!({"parameters": parameters, "requires_confirmation": true}));
    data
}

/// Calls that have to do with what is secret, by each way in.
fn planting(task: &str) -> Vec<Case> {
    let post = |path: &str, body: &Value| Case::of("POST", path).saying(body);
    let (prompt, note) = (json!({"prompt": "Why?"}), json!({"symbol": "TCS", "note": SENSITIVE}));
    let login = json!({"username": "riley@planted.example", "password": PASSWORD});
    let in_task = |tool: &str, arguments: &Value| {
        post(
            &format!("/v1/tasks/{task}:call"),
            &json!({"tool": tool, "arguments_json": arguments.to_string()}),
        )
    };
    vec![
        post("/v1/tools/ask_gpt:call", &prompt),
        post("/v1/tools/ask_gpt:call?format=model", &prompt),
        post("/v1/tools/ask_gpt:invoke", &prompt),
        in_task("ask_gpt", &prompt),
        post("/v1/tools/add_to_watchlist:call", &note),
        post("/v1/tools/add_to_watchlist:invoke", &note),
        in_task("add_to_watchlist", &note),
        post("/api/integrations/screener/import", &login),
        post("/v1/tools/debug_fail:call", &json!({"code": "AUTH_FAILED"})),
        post("/v1/tools/debug_panic:call", &json!({})),
        post("/v1/tools/debug_panic:invoke", &json!({})),
        Case::of("GET", "/v1/tools").with(format!("authorization: Bearer {FORGED}")),
        Case::of("GET", &format!("/v1/tools?token={FORGED}")),
    ]
}

/// Everything that is answered, and how often a model was asked.
async fn ask(address: SocketAddr) -> Vec<(String, String)> {
    let planted = Planted::at(address).await;
    let mut told = Vec::new();
    for case in planting(&planted.task).iter().chain(&cases(&planted)) {
        let is_known = !case.says(FORGED) || case.headers.is_empty();
        let answer = send(address, is_known.then_some(OWNER), case).await;
        told.push((format!("{} {}", case.method(), case.path), words(&answer)));
    }
    told
}

#[tokio::test]
async fn no_secret_stands_in_an_answer_or_in_the_log() {
    let echoes =
        || stub::json(401, &format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}"}}}}"#));
    let stub = stub::Stub::answering(std::iter::repeat_with(echoes).take(50)).await;
    let (directory, data) = (tempfile::tempdir().unwrap(), data());
    fs::write(directory.path().join("toolwire.toml"), settings(&stub.url("/v1/"))).unwrap();
    let variables =
        [("PLANTED_HOOK", HOOK), ("PLANTED_KEY", KEY), ("TOOLWIRE_LOG_FILTER", "toolwire=trace,info")];
    let arguments = ["--http=127.0.0.1:0", "--data", data.path().to_str().unwrap()];
    let mut program = Program::start(Path::new(directory.path()), &arguments, &variables).await;
    let mut asking = Box::pin(ask(program.http.unwrap()));
    let mut log = String::new();
    // Read meanwhile: a log that nobody reads loses lines.
    let told = loop {
        tokio::select! {
            told = &mut asking => break told,
            line = program.next_line() => writeln!(log, "{line}").unwrap(),
        }
    };
    log += &program.stop().await;
    let keys = stub.requests().iter().filter(|it| it.contains(KEY)).count();
    assert!(keys >= 3, "the model was asked {keys} times with its key: {:?}", &told[..5]);
    let failed = told.iter().filter(|(_, said)| said.contains("AUTH_FAILED")).count();
    assert!(failed >= 4, "{failed} answers say that it failed");
    assert!(told.iter().any(|(path, said)| path.contains("add_to_watchlist") && said.contains("[redacted]")));
    assert!(log.matches("toolwire::call").count() > 30, "the log has the calls: {}", log.len());
    let tokens = [OWNER, OTHER].map(token);
    for secret in [KEY, HOOK, PASSWORD, SENSITIVE, &tokens[0], &tokens[1]] {
        for (path, said) in &told {
            assert!(!said.contains(secret), "{path} tells {secret}: {said}");
        }
        let line = log.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "the log has {secret}");
    }
    for (path, said) in &told {
        assert!(!said.contains(FORGED) || path.contains(FORGED), "{path}: {said}");
    }
    assert!(!log.contains(FORGED), "the log has a token that was tried");
}
