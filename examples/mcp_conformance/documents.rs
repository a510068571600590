//! Prompts and resources, of which Toolwire has none.

use rmcp::{
    ErrorData,
    model::{
        GetPromptRequestParams, GetPromptResponse, GetPromptResult, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ReadResourceRequestParams, ReadResourceResponse,
        ReadResourceResult,
    },
};
use serde_json::{Value, json};

use super::{
    input::{self, made},
    tools::PICTURE,
};

pub(crate) fn prompts() -> ListPromptsResult {
    let words = "For the suite.";
    let prompt =
        |name: &str, arguments: Value| json!({"name": name, "description": words, "arguments": arguments});
    let two = json!([{"name": "arg1", "required": true}, {"name": "arg2"}]);
    let uri = json!([{"name": "resourceUri", "required": true}]);
    made(cached(json!({"prompts": [
        prompt("test_simple_prompt", json!([])),
        prompt("test_prompt_with_arguments", two),
        prompt("test_prompt_with_embedded_resource", uri),
        prompt("test_prompt_with_image", json!([])),
        prompt("test_input_required_result_prompt", json!([])),
    ]})))
}

pub(crate) fn prompt(request: &GetPromptRequestParams) -> Result<GetPromptResponse, ErrorData> {
    let argument = |name: &str| {
        request.arguments.as_ref().and_then(|all| all.get(name)).and_then(Value::as_str).unwrap_or_default()
    };
    let text = |text: &str| json!({"type": "text", "text": text});
    let contents = match request.name.as_str() {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            let (one, two) = (argument("arg1"), argument("arg2"));
            vec![text(&format!("Prompt with arguments: arg1='{one}', arg2='{two}'"))]
        }
        "test_prompt_with_embedded_resource" => {
            let uri = argument("resourceUri");
            let resource =
                json!({"uri": uri, "mimeType": "text/plain", "text": "Embedded resource content."});
            vec![
                json!({"type": "resource", "resource": resource}),
                text("Please process the resource above."),
            ]
        }
        "test_prompt_with_image" => {
            vec![
                json!({"type": "image", "data": PICTURE, "mimeType": "image/png"}),
                text("Analyze the image."),
            ]
        }
        "test_input_required_result_prompt" => {
            if !input::has_answer(request.input_responses.as_ref(), "user_context") {
                let question = input::form("What context should the prompt use?", "context", "string");
                return Ok(input::required(&[("user_context", question)], None)?.into());
            }
            vec![text("A prompt with the context.")]
        }
        other => return Err(ErrorData::invalid_params(format!("unknown prompt `{other}`"), None)),
    };
    let messages: Vec<_> =
        contents.into_iter().map(|content| json!({"role": "user", "content": content})).collect();
    Ok(made::<GetPromptResult>(json!({"messages": messages, "resultType": "complete"})).into())
}

pub(crate) fn resources() -> ListResourcesResult {
    let resource = |name: &str, mime: &str| {
        let words = "For the suite.";
        json!({"uri": format!("test://{name}"), "name": name, "description": words, "mimeType": mime})
    };
    made(cached(json!({"resources": [
        resource("static-text", "text/plain"),
        resource("static-binary", "image/png"),
        resource("watched-resource", "text/plain"),
    ]})))
}

pub(crate) fn templates() -> ListResourceTemplatesResult {
    let template = json!({
        "uriTemplate": "test://template/{id}/data", "name": "template", "description": "For the suite.",
        "mimeType": "application/json",
    });
    made(cached(json!({"resourceTemplates": [template]})))
}

pub(crate) fn resource(request: &ReadResourceRequestParams) -> Result<ReadResourceResponse, ErrorData> {
    let uri = request.uri.as_str();
    let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
    let mut content = match (uri, id) {
        ("test://static-text", _) => {
            json!({"mimeType": "text/plain", "text": "This is the content of the static text resource."})
        }
        ("test://static-binary", _) => json!({"mimeType": "image/png", "blob": PICTURE}),
        ("test://watched-resource", _) => json!({"mimeType": "text/plain", "text": "Watched."}),
        (_, Some(id)) => {
            let text = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            json!({"mimeType": "application/json", "text": text.to_string()})
        }
        _ => {
            let data = Some(json!({"uri": uri}));
            return Err(ErrorData::resource_not_found("there is no such resource", data));
        }
    };
    content["uri"] = uri.into();
    Ok(made::<ReadResourceResult>(cached(json!({"contents": [content]}))).into())
}

/// A result that says how long it may be kept.
fn cached(mut result: Value) -> Value {
    result["ttlMs"] = 60_000.into();
    result["cacheScope"] = "public".into();
    result["resultType"] = "complete".into();
    result
}
