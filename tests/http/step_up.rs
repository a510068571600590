//! A token of too little scope: over every face its caller learns which scope would do, and a tool that no scope of
//! theirs opens is as unknown as before.

use serde_json::{Value, json};
use tonic::{Code, Request};
use tonic_types::StatusExt;
use toolwire::{
    config::{Flags, testing},
    contract::proto::v1::{CallToolRequest, GetToolRequest, call_tool_request::Target},
};

use crate::{
    http::{
        issuers::Issuer,
        raw::{Answer, ask},
        toys::{CALL, Toys},
    },
    mcp::client::{ERAS, Era, Message},
};

const JSON: &str = "content-type: application/json";
const URL: &str = "https://tools.example";
const RULES: &str = "[[auth.rules]]\nwho = ['group:corp/support']\ntools = ['get_quotes']\nscope = 'quotes'\n\
                     [[auth.rules]]\nwho = ['group:corp/support']\nscope = 'accounts'\n\
                     tools = ['get_account_summary', 'no_such_tool']\n";
/// Allowed by a scope.
const BEYOND: &str = "get_account_summary";
/// Allowed by none.
const FORBIDDEN: &str = "rank_portfolio";

/// The header with a token of these scopes.
fn token(issuer: &Issuer, scopes: &str) -> String {
    issuer.token("8f2c", &["support"], &[("scope", json!(scopes))])
}

fn challenge(below: &str, scopes: &str) -> String {
    format!(
        "Bearer resource_metadata=\"{URL}/.well-known/oauth-protected-resource{below}\", scope=\"{scopes}\", \
         error=\"insufficient_scope\""
    )
}

fn server(issuer: &Issuer) -> Toys {
    let mut config = issuer.configured(RULES);
    config.http.public_url = Some(URL.to_owned());
    Toys::with(config)
}

async fn say(toys: &Toys, path: &str, token: &str, message: &Message) -> Answer {
    let mut headers = vec![JSON.to_owned(), token.to_owned()];
    headers.extend(message.headers.iter().map(|(name, value)| format!("{name}: {value}")));
    let headers: Vec<_> = headers.iter().map(String::as_str).collect();
    ask(toys.http, "POST", path, &headers, &message.body.to_string()).await
}

fn json_of(answer: &Answer) -> Value {
    serde_json::from_str(&answer.body).unwrap_or_else(|_| panic!("{answer:?}"))
}

#[tokio::test]
async fn over_http_it_is_a_challenge_for_the_scope_that_would_do() {
    let issuer = Issuer::start().await;
    let toys = server(&issuer);
    let call = async |tool: &str, token: &str| {
        ask(toys.http, "POST", &format!("{CALL}/{tool}"), &[JSON, token], "{}").await
    };
    let few = token(&issuer, "openid quotes");
    for tool in [BEYOND, "no_such_tool"] {
        let refused = call(tool, &few).await;
        assert_eq!((refused.status, refused.code().as_str()), (403, "INSUFFICIENT_SCOPE"));
        assert_eq!(refused.headers["www-authenticate"], challenge("", "quotes accounts"));
        assert_eq!(json_of(&refused)["scope"], "quotes accounts");
    }
    let refused = call(FORBIDDEN, &few).await;
    assert_eq!((refused.status, refused.code().as_str()), (403, "TOOL_NOT_ALLOWED"));
    assert!(!refused.headers.contains_key("www-authenticate"), "{refused:?}");
    assert_eq!(call(BEYOND, &token(&issuer, "quotes accounts")).await.status, 200);
}

#[tokio::test]
async fn over_mcp_the_response_is_the_challenge_in_every_form_of_a_call() {
    let issuer = Issuer::start().await;
    let toys = server(&issuer);
    let (few, more) = (token(&issuer, "quotes"), token(&issuer, "quotes accounts"));
    for era in ERAS {
        let call = |tool: &str, arguments: Value, meta: Value| Message::call(era, tool, &arguments, &meta);
        let within = json!({"name": BEYOND, "arguments": {}});
        for (path, message) in [
            ("/mcp", call(BEYOND, json!({}), json!({}))),
            // Through the service of rmcp.
            ("/mcp", call(BEYOND, json!({}), json!({"progressToken": "p"}))),
            ("/mcp?mode=search", call("call_tool", within.clone(), json!({}))),
            ("/mcp?mode=search", call("call_read_tool", within.clone(), json!({}))),
            ("/mcp?mode=search", call("describe_tool", json!({"name": BEYOND}), json!({}))),
        ] {
            let refused = say(&toys, path, &few, &message).await;
            assert_eq!(refused.status, 403, "{era:?} {path} {refused:?}");
            assert_eq!(refused.headers["www-authenticate"], challenge("/mcp", "quotes accounts"));
            let body = json_of(&refused);
            assert_eq!((&body["id"], &body["error"]["code"]), (&json!(7), &json!(-32600)), "{body}");
            assert_eq!(body["error"]["data"]["scope"], "quotes accounts", "{body}");
            let answer = say(&toys, path, &more, &message).await;
            assert_eq!(answer.status, 200, "{era:?} {path} {answer:?}");
        }
        let refused = say(&toys, "/mcp", &few, &call(FORBIDDEN, json!({}), json!({}))).await;
        assert_eq!(refused.status, 200, "{refused:?}");
        assert!(refused.body.contains("FAILED TOOL_NOT_ALLOWED"), "{refused:?}");
    }
}

#[tokio::test]
async fn a_tool_that_a_scope_would_open_is_not_listed_before() {
    let issuer = Issuer::start().await;
    let toys = server(&issuer);
    let listed = async |scopes: &str| {
        let (token, list) = (token(&issuer, scopes), Message::new(Era::New, "tools/list", json!({})));
        let answer = json_of(&say(&toys, "/mcp", &token, &list).await);
        let tools = answer["result"]["tools"].as_array().expect("tools");
        tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(listed("quotes").await, ["get_quotes"]);
    assert_eq!(listed("quotes accounts").await, [BEYOND, "get_quotes"]);
}

#[tokio::test]
async fn a_bound_token_is_challenged_by_the_document_of_its_toolset_and_stays_bound() {
    let issuer = Issuer::start().await;
    let mut config = issuer.configured(RULES);
    config.http.public_url = Some(URL.to_owned());
    let file = format!("[toolsets.desk]\ntools = ['{BEYOND}']\n");
    config.toolsets =
        testing::load_text(&file, &[], Flags::default(), &[]).expect("toolsets").config.toolsets;
    let toys = Toys::with(config);
    let call = |tool: &str| Message::call(Era::New, tool, &json!({}), &json!({}));
    let few = token(&issuer, "openid tools:desk");
    let refused = say(&toys, "/mcp/desk", &few, &call(BEYOND)).await;
    assert_eq!(refused.status, 403, "{refused:?}");
    assert_eq!(refused.headers["www-authenticate"], challenge("/mcp/desk", "tools:desk accounts"));
    // No scope opens what the token is not for.
    let refused = say(&toys, "/mcp/desk", &few, &call("get_quotes")).await;
    assert!(refused.status == 200 && refused.body.contains("FAILED TOOL_NOT_ALLOWED"), "{refused:?}");
    let more = token(&issuer, "tools:desk accounts");
    let answer = say(&toys, "/mcp/desk", &more, &call(BEYOND)).await;
    assert!(
        answer.status == 200 && answer.body.contains("No brokerage data for user corp:8f2c"),
        "{answer:?}"
    );
}

#[tokio::test]
async fn over_grpc_the_reason_and_the_scope_are_details_of_the_status() {
    let issuer = Issuer::start().await;
    let toys = server(&issuer);
    let mut tools = toys.server.tools().await;
    let few = token(&issuer, "quotes");
    let value = few.strip_prefix("authorization: ").expect("a header").to_owned();
    let target = Some(Target::Tool(BEYOND.to_owned()));
    let call = CallToolRequest { target, ..CallToolRequest::default() };
    let called = tools.call_tool(signed(call, &value)).await.expect_err("refused");
    let get = GetToolRequest { name: BEYOND.to_owned(), ..GetToolRequest::default() };
    let described = tools.get_tool(signed(get, &value)).await.expect_err("refused");
    for status in [called, described] {
        let info = status.get_details_error_info().expect("an ErrorInfo");
        assert_eq!((status.code(), info.reason.as_str()), (Code::PermissionDenied, "INSUFFICIENT_SCOPE"));
        assert_eq!(info.metadata["scope"], "quotes accounts");
    }
}

fn signed<T>(message: T, authorization: &str) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert("authorization", authorization.parse().expect("a value"));
    request
}
