//! Dispatches MCP requests to the modules that answer them.

use std::borrow::Cow;

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CancelTaskParams, CustomRequest, CustomResult,
        DiscoverResult, ErrorCode, GetTaskParams, GetTaskResult, Implementation, InitializeRequestParams,
        InitializeResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities,
        ServerConfig, SubscriptionFilter, Tool, UpdateTaskParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use tracing::Instrument;

use super::{Handler, REVISIONS};
use crate::server::{
    cancellations::cancelled,
    confirmation_mode::ConfirmationMode,
    handler_context::HandlerContext,
    invalid_message, listen,
    listing::TTL_MS,
    outcome,
    progress::Progress,
    request::{Invocation, client_name},
    search_tools,
    settings::{ToolMode, Transport},
};
use toolwire_contract::proto::v1::DescribeForPlannerRequest;
use toolwire_telemetry as telemetry;

impl Handler {
    /// Writes the description of the user's tools: the guidance on them, and the title of their toolset.
    async fn describe(
        &self,
        instructions: &mut Option<String>,
        server: &mut Implementation,
    ) -> Result<(), ErrorData> {
        let request = DescribeForPlannerRequest { tags: self.tags.clone(), ..Default::default() };
        let answer = self.services.tools().describe_for_planner(request).await;
        let answer = answer.map_err(|status| outcome::protocol_error(&status))?.into_inner();
        let guidance = String::from_utf8_lossy(&answer.guidance).into_owned();
        let how = if self.mode == ToolMode::Search { search_tools::INSTRUCTIONS } else { "" };
        let parts = [how, &guidance].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
        *instructions = (!parts.is_empty()).then(|| parts.join("\n\n"));
        if !answer.toolset_title.is_empty() {
            server.title = Some(answer.toolset_title);
        }
        Ok(())
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let tools = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().enable_tasks();
        ServerConfig::new(tools.build()).with_server_info(
            Implementation::new("toolwire", env!("CARGO_PKG_VERSION")).with_title("Toolwire"),
        )
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(REVISIONS)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut result = self.negotiate_initialize(&request)?;
        self.describe(&mut result.instructions, &mut result.server_info).await?;
        if self.shared.transport == Transport::Http {
            // A notification would need a GET that is held open.
            if let Some(tools) = &mut result.capabilities.tools {
                tools.list_changed = None;
            }
            // Without a session, what a client declared is not known of its later requests.
            result.capabilities.extensions = None;
        }
        Ok(result)
    }

    async fn discover(&self, _context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let mut info = self.get_info();
        self.describe(&mut info.instructions, &mut info.server_info).await?;
        let mut result = DiscoverResult::from_server_info(REVISIONS.to_vec(), info);
        (result.ttl_ms, result.cache_scope) = (TTL_MS, CacheScope::Private);
        Ok(result)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if self.mode == ToolMode::Search {
            let mut result = ListToolsResult::with_all_items(search_tools::tools());
            (result.ttl_ms, result.cache_scope) = (Some(TTL_MS), Some(CacheScope::Private));
            return Ok(result);
        }
        let cursor = request.and_then(|it| it.cursor);
        let HandlerContext { listings, settings, .. } = &*self.shared;
        let page = listings.page(&self.services, &self.tags, cursor.as_deref(), settings.page).await?;
        let Some(encoded) = &self.encoded_page else { return page.decode() };
        let result = page.without_tools();
        let _ = encoded.set(page);
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let answer = async {
            if let Some(traceparent) = context.meta.get_traceparent() {
                telemetry::link_to(traceparent);
            }
            let mode = ConfirmationMode::of(&context, self.shared.transport);
            let progress = Progress::new(&context, self.flags());
            let unreadable = self.unreadable.as_ref().or_else(|| context.extensions.get());
            let mut invocation = Invocation::read(request, unreadable.cloned(), &context.meta)?;
            // A session of an older revision states it once, at its beginning.
            invocation.client = invocation.client.or_else(|| client_name(context.client_info()));
            if self.mode == ToolMode::Search {
                let answer = Box::pin(invocation.answer_by_search(self, mode, progress));
                return Ok(self.response_of(answer.await?));
            }
            let tool = invocation.find_tool(self).await;
            Ok(self.response_of(invocation.carry_out(self, tool, mode, progress).await?))
        };
        // rmcp runs this in a task of its own, outside the span of the request.
        let answer = answer.instrument(self.span.clone());
        tokio::select! {
            // Dropping the stream of events abandons the call: a read stops, a write that has begun goes on.
            () = context.ct.cancelled() => Err(outcome::cancelled()),
            () = cancelled(self.cancellable.as_deref()) => Err(outcome::cancelled()),
            answer = answer => answer,
        }
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.task(&request.task_id).await
    }

    /// No task asks its client for anything, so that there is nothing to answer.
    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.check_exists(&request.task_id).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.cancel(request).await
    }

    /// The tool from the cache, for the check of its headers, which does not wait.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        if self.mode == ToolMode::Search {
            return None;
        }
        self.shared.known.with_headers(&self.services, name)
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let own = SubscriptionFilter::builder().tools_list_changed().build();
        Some(requested.intersection(&own))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        listen::serve(&self.services, &self.drain, &context).await
    }

    /// Clients of the older revisions do not subscribe: they are notified wherever the transport allows.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if self.shared.transport == Transport::Stdio {
            listen::notify_until_closed(&self.services, context.peer).await;
        }
    }

    /// A request that is none of the protocol's: a method that is not offered, or one with parameters of another form.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        let has_handshake =
            context.protocol_version().is_none_or(|version| version < ProtocolVersion::V_2026_07_28);
        let params = invalid_message::params_of(&method).filter(|_| has_handshake || method != "initialize");
        Err(match params {
            Some(params) => ErrorData::invalid_params(params, None),
            None => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None),
        })
    }
}
