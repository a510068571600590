//! A server that answers the command line with made-up tools, and remembers how it was asked.
//!
//! Not a stand-in for the real one: it checks what the client sends and shows.

use std::{
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures_util::{Stream, StreamExt, stream};
use hyper::server::conn::http2;
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    service::TowerToHyperService,
};
use prost::Message;
use serde_json::json;
use tokio::{net::TcpListener, sync::mpsc, time::sleep};
use tonic::{Request, Response, Status, metadata::MetadataMap, service::Routes};
use toolwire::contract::{
    ErrorCode, Refusal, ToolError, convert,
    proto::v1::{
        self,
        call_event::Event,
        invoke_tool_request::Target,
        tool_result::Outcome,
        tool_service_server::{ToolService, ToolServiceServer},
    },
};

/// What the server was asked, and which calls were dropped.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) invocations: Arc<Mutex<Vec<(MetadataMap, v1::InvokeToolRequest)>>>,
}

#[derive(Debug)]
struct Fake {
    seen: Seen,
    /// What stands at the end of every text of a tool.
    ending: &'static str,
    dropped: mpsc::UnboundedSender<()>,
}

/// Tells when it is dropped, and with it the stream that holds it.
struct Guard(mpsc::UnboundedSender<()>);

type Responses<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// Starts the server. The receiver hears of each stream that was dropped.
pub(crate) async fn start() -> (SocketAddr, Seen, mpsc::UnboundedReceiver<()>) {
    start_with_texts("").await
}

/// The same, and every text of its tools ends so.
pub(crate) async fn start_with_texts(
    ending: &'static str,
) -> (SocketAddr, Seen, mpsc::UnboundedReceiver<()>) {
    let (dropped, hears) = mpsc::unbounded_channel();
    let seen = Seen::default();
    let routes = Routes::new(ToolServiceServer::new(Fake { seen: seen.clone(), ending, dropped })).prepare();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let service = TowerToHyperService::new(routes.clone());
            let connection =
                http2::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service);
            tokio::spawn(connection);
        }
    });
    (address, seen, hears)
}

fn tool(name: &str, category: v1::ToolCategory, ending: &str) -> v1::ToolDefinition {
    v1::ToolDefinition {
        name: name.to_owned(),
        title: format!("Title of {name}{ending}"),
        description: format!("Description{ending}"),
        provider: ending.to_owned(),
        category: category.into(),
        intents: vec![format!("{name}_intent")],
        input_schema_json:
            r#"{"type":"object","properties":{"n":{"type":"integer"},"text":{"type":"string"}}}"#.to_owned(),
        ..Default::default()
    }
}

fn tools(ending: &str) -> Vec<v1::ToolDefinition> {
    vec![
        tool("fail", v1::ToolCategory::Read, ending),
        tool("read", v1::ToolCategory::Read, ending),
        tool("slow", v1::ToolCategory::Read, ending),
        tool("write", v1::ToolCategory::Write, ending),
    ]
}

fn event(event: Event) -> v1::InvokeToolResponse {
    let event = v1::CallEvent { call_id: "call-1".to_owned(), event: Some(event), ..Default::default() };
    v1::InvokeToolResponse { event: Some(event) }
}

fn result(tool: &str, outcome: Outcome) -> v1::InvokeToolResponse {
    event(Event::Result(v1::ToolResult {
        tool: tool.to_owned(),
        outcome: Some(outcome),
        ..Default::default()
    }))
}

fn events_of(tool: &str, ending: &str) -> Vec<v1::InvokeToolResponse> {
    let accepted = event(Event::Accepted(v1::Accepted { tool: tool.to_owned(), ..Default::default() }));
    let progress =
        event(Event::Progress(v1::Progress { fraction: Some(0.5), message: format!("Halfway{ending}") }));
    let outcome = match tool {
        "fail" => {
            let error = ToolError::new(ErrorCode::RateLimited, format!("Too many requests{ending}"));
            Outcome::Error(convert::tool_error(error.with_retry_after(Duration::from_secs(2))))
        }
        _ => Outcome::DataJson(format!(r#"{{"z":9007199254740993,"a":{}}}"#, json!(format!("b{ending}")))),
    };
    vec![accepted, progress, result(tool, outcome)]
}

fn target_of(request: &v1::InvokeToolRequest) -> String {
    match &request.target {
        Some(Target::Tool(name)) => name.clone(),
        Some(Target::Intent(intent)) => intent.trim_end_matches("_intent").to_owned(),
        None => String::new(),
    }
}

#[tonic::async_trait]
impl ToolService for Fake {
    type ListToolsStream = Responses<v1::ListToolsResponse>;
    type WatchToolsStream = Responses<v1::WatchToolsResponse>;
    type InvokeToolStream = Responses<v1::InvokeToolResponse>;
    type WatchCallsStream = Responses<v1::WatchCallsResponse>;

    async fn list_tools(
        &self,
        _: Request<v1::ListToolsRequest>,
    ) -> Result<Response<Self::ListToolsStream>, Status> {
        let responses = tools(self.ending)
            .into_iter()
            .map(|tool| Ok(v1::ListToolsResponse { tool: tool.encode_to_vec().into() }));
        Ok(Response::new(stream::iter(responses).boxed()))
    }

    async fn list_providers(
        &self,
        _: Request<v1::ListProvidersRequest>,
    ) -> Result<Response<v1::ListProvidersResponse>, Status> {
        let text = format!("shop{}", self.ending);
        let host = v1::HostStatus {
            instance: text.clone(),
            sdk: text.clone(),
            catalogue_id: text.clone(),
            state: v1::HostState::Serving.into(),
            ..Default::default()
        };
        let problem =
            v1::DefinitionProblem { pointer: text.clone(), description: text.clone(), ..Default::default() };
        let refused = v1::RefusedOffer { tool: text.clone(), problems: vec![problem] };
        let (reason, hosts, refused) = (text.clone(), vec![host], vec![refused]);
        let shop = v1::ProviderStatus { name: text, tools: 4, reason, hosts, refused, ..Default::default() };
        Ok(Response::new(v1::ListProvidersResponse { providers: vec![shop] }))
    }

    async fn get_tool(
        &self,
        request: Request<v1::GetToolRequest>,
    ) -> Result<Response<v1::GetToolResponse>, Status> {
        let name = request.into_inner().name;
        match tools(self.ending).into_iter().find(|tool| tool.name == name) {
            Some(tool) => Ok(Response::new(v1::GetToolResponse { tool: tool.encode_to_vec().into() })),
            None => Err(Refusal::UnknownTool { name, near: vec!["read".to_owned()] }.into()),
        }
    }

    async fn invoke_tool(
        &self,
        request: Request<v1::InvokeToolRequest>,
    ) -> Result<Response<Self::InvokeToolStream>, Status> {
        let (metadata, _, message) = request.into_parts();
        let tool = target_of(&message);
        self.seen.invocations.lock().unwrap().push((metadata, message));
        let mut events = events_of(&tool, self.ending);
        let guard = Guard(self.dropped.clone());
        // A slow tool is still at work after its first event.
        let last = if tool == "slow" { events.split_off(1) } else { Vec::new() };
        let responses = stream::iter(events).chain(stream::once(async move {
            let _guard = guard;
            if !last.is_empty() {
                sleep(Duration::from_hours(1)).await;
            }
            event(Event::Progress(v1::Progress::default()))
        }));
        Ok(Response::new(responses.map(Ok).boxed()))
    }

    async fn watch_tools(
        &self,
        _: Request<v1::WatchToolsRequest>,
    ) -> Result<Response<Self::WatchToolsStream>, Status> {
        Err(Status::unimplemented("not here"))
    }

    async fn call_tool(
        &self,
        _: Request<v1::CallToolRequest>,
    ) -> Result<Response<v1::CallToolResponse>, Status> {
        Err(Status::unimplemented("not here"))
    }

    async fn cancel_call(
        &self,
        _: Request<v1::CancelCallRequest>,
    ) -> Result<Response<v1::CancelCallResponse>, Status> {
        Err(Status::unimplemented("not here"))
    }

    async fn get_call(
        &self,
        _: Request<v1::GetCallRequest>,
    ) -> Result<Response<v1::GetCallResponse>, Status> {
        Err(Status::unimplemented("not here"))
    }

    async fn list_calls(
        &self,
        _: Request<v1::ListCallsRequest>,
    ) -> Result<Response<v1::ListCallsResponse>, Status> {
        Err(Status::unimplemented("not here"))
    }

    async fn watch_calls(
        &self,
        _: Request<v1::WatchCallsRequest>,
    ) -> Result<Response<Self::WatchCallsStream>, Status> {
        Err(Status::unimplemented("not here"))
    }

    async fn explain_call(
        &self,
        _: Request<v1::ExplainCallRequest>,
    ) -> Result<Response<v1::ExplainCallResponse>, Status> {
        Err(Status::unimplemented("not here"))
    }

    async fn get_stats(
        &self,
        _: Request<v1::GetStatsRequest>,
    ) -> Result<Response<v1::GetStatsResponse>, Status> {
        Err(Status::unimplemented("not here"))
    }

    async fn get_viewer(
        &self,
        _: Request<v1::GetViewerRequest>,
    ) -> Result<Response<v1::GetViewerResponse>, Status> {
        Err(Status::unimplemented("not here"))
    }

    async fn get_limits(
        &self,
        _: Request<v1::GetLimitsRequest>,
    ) -> Result<Response<v1::GetLimitsResponse>, Status> {
        Err(Status::unimplemented("not here"))
    }

    async fn list_quotas(
        &self,
        _: Request<v1::ListQuotasRequest>,
    ) -> Result<Response<v1::ListQuotasResponse>, Status> {
        Err(Status::unimplemented("not here"))
    }

    async fn describe_for_planner(
        &self,
        _: Request<v1::DescribeForPlannerRequest>,
    ) -> Result<Response<v1::DescribeForPlannerResponse>, Status> {
        Err(Status::unimplemented("not here"))
    }

    async fn export_tools(
        &self,
        _: Request<v1::ExportToolsRequest>,
    ) -> Result<Response<v1::ExportToolsResponse>, Status> {
        Err(Status::unimplemented("not here"))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}
