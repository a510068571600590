//! Toolwire's handler within one that adds what Toolwire does not offer: prompts, resources, completion, logging, and
//! tools that ask their client.

// The suite's older revision has what the newer one deprecates.
#![allow(deprecated)]

use std::{borrow::Cow, sync::LazyLock, time::Duration};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CancelTaskParams, ClientCapabilities, CompleteRequestParams,
        CompleteResult, CustomRequest, CustomResult, DiscoverResult, GetPromptRequestParams,
        GetPromptResponse, GetTaskParams, GetTaskResult, InitializeRequestParams, InitializeResult,
        ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, LoggingLevel,
        LoggingMessageNotificationParam, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
        ReadResourceResponse, ServerCapabilities, ServerConfig, SetLevelRequestParams,
        SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
    },
    service::{RequestContext, SubscriptionContext},
};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::{
    documents,
    input::{self, made},
};

/// Counts the changes of the list of prompts. Each request has a handler of its own.
static PROMPTS: LazyLock<watch::Sender<u64>> = LazyLock::new(watch::Sender::default);

#[derive(Clone)]
pub(crate) struct Everything<H>(pub(crate) H);

type Context = RequestContext<RoleServer>;

fn add_capabilities(capabilities: &mut ServerCapabilities) {
    capabilities.completions = Some(made(json!({})));
    capabilities.logging = Some(made(json!({})));
    capabilities.prompts = Some(made(json!({"listChanged": true})));
    capabilities.resources = Some(made(json!({"subscribe": true})));
}

/// The tools that are answered here.
fn own_tools() -> Vec<Tool> {
    let others = ["test_missing_capability", "test_streaming_elicitation", "test_tool_with_logging"];
    let others = others.into_iter().chain(["test_trigger_prompt_change"]).map(str::to_owned);
    let plain = others.chain(input::names()).map(|name| (name, json!({"type": "object", "properties": {}})));
    let special = [("json_schema_2020_12_tool", json_schema()), ("test_custom_header", custom_header())];
    let special = special.map(|(name, schema)| (name.to_owned(), schema));
    let tool =
        |(name, schema)| made(json!({"name": name, "description": "For the suite.", "inputSchema": schema}));
    plain.chain(special).map(tool).collect()
}

fn custom_header() -> Value {
    let value = json!({"type": "string", "x-mcp-header": "Value"});
    json!({"type": "object", "properties": {"value": value}, "required": ["value"]})
}

fn json_schema() -> Value {
    let text = json!({"type": "string"});
    let address = json!({
        "$anchor": "address", "type": "object", "properties": {"street": text, "city": text},
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": address},
        "properties": {"name": text, "address": {"$ref": "#/$defs/address"}},
        "allOf": [{"anyOf": [{"required": ["name"]}, {"required": ["address"]}]}],
        "if": {"required": ["address"]},
        "then": {"properties": {"address": {"required": ["street"]}}},
        "else": {"required": ["name"]},
        "additionalProperties": false,
    })
}

impl<H: ServerHandler> ServerHandler for Everything<H> {
    fn get_info(&self) -> ServerConfig {
        let mut info = self.0.get_info();
        add_capabilities(&mut info.capabilities);
        info
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.0.supported_protocol_versions()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: Context,
    ) -> Result<InitializeResult, ErrorData> {
        let mut result = self.0.initialize(request, context).await?;
        add_capabilities(&mut result.capabilities);
        Ok(result)
    }

    async fn discover(&self, context: Context) -> Result<DiscoverResult, ErrorData> {
        let mut result = self.0.discover(context).await?;
        add_capabilities(&mut result.capabilities);
        Ok(result)
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        // rmcp leaves of it what the capabilities have.
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let sink = context.sink().clone();
        let mut changes = PROMPTS.subscribe();
        let prompts = async {
            while changes.changed().await.is_ok() {
                // A stream without prompts refuses it.
                let _ = sink.notify_prompt_list_changed().await;
            }
        };
        tokio::select! {
            result = self.0.listen(context) => result,
            () = prompts => Ok(()),
        }
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut result = self.0.list_tools(request, context).await?;
        result.tools.extend(own_tools());
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        own_tools().into_iter().find(|tool| tool.name == name).or_else(|| self.0.get_tool(name))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let capabilities = context.meta.client_capabilities().unwrap_or_default();
        if let Some(answer) = input::call(&request, &capabilities) {
            return answer;
        }
        match &*request.name {
            "json_schema_2020_12_tool" => Ok(input::text("Hello!")),
            "test_custom_header" => {
                let value =
                    request.arguments.as_ref().and_then(|all| all.get("value")).and_then(Value::as_str);
                let value = value.ok_or_else(|| ErrorData::invalid_params("value must be a string", None))?;
                Ok(input::text(value))
            }
            "test_missing_capability" => missing_capability(&capabilities),
            "test_streaming_elicitation" => input::ask(
                &[("streaming_elicitation", input::form("Provide a value", "value", "string"))],
                None,
            ),
            "test_tool_with_logging" => log(&context).await,
            "test_trigger_prompt_change" => {
                PROMPTS.send_modify(|count| *count += 1);
                Ok(input::text("Prompt list change triggered"))
            }
            _ => self.0.call_tool(request, context).await,
        }
    }

    async fn get_task(&self, request: GetTaskParams, context: Context) -> Result<GetTaskResult, ErrorData> {
        self.0.get_task(request, context).await
    }

    async fn update_task(&self, request: UpdateTaskParams, context: Context) -> Result<(), ErrorData> {
        self.0.update_task(request, context).await
    }

    async fn cancel_task(&self, request: CancelTaskParams, context: Context) -> Result<(), ErrorData> {
        self.0.cancel_task(request, context).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: Context,
    ) -> Result<CustomResult, ErrorData> {
        self.0.on_custom_request(request, context).await
    }

    async fn set_level(&self, _request: SetLevelRequestParams, _context: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(documents::prompts())
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        documents::prompt(&request)
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(documents::resources())
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(documents::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        documents::resource(&request)
    }

    async fn subscribe(&self, _request: SubscribeRequestParams, _context: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _request: UnsubscribeRequestParams,
        _context: Context,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: Context,
    ) -> Result<CompleteResult, ErrorData> {
        Ok(made(
            json!({"completion": {"values": ["paris", "park"], "total": 2, "hasMore": false}, "resultType": "complete"}),
        ))
    }
}

fn missing_capability(capabilities: &ClientCapabilities) -> Result<CallToolResponse, ErrorData> {
    if capabilities.sampling.is_some() {
        return Ok(input::text("The capability is there"));
    }
    let required = ClientCapabilities::builder().enable_sampling().build();
    Err(ErrorData::missing_required_client_capability(required))
}

/// Logs three times, as clients of older revisions could ask for.
async fn log(context: &Context) -> Result<CallToolResponse, ErrorData> {
    for words in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(words));
        // A client that has left is not told.
        let _ = context.peer.notify_logging_message(message).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(input::text("Logging test completed"))
}
