//! Dispatches MCP requests to the modules that answer them.

use std::{borrow::Cow, sync::Arc, time::Duration};

use http::Extensions;
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
use tokio_util::sync::CancellationToken;
use tonic::Status;
use tracing::{Instrument, Span};

use super::{
    cancellations::{Cancellable, Cancellations, cancelled},
    confirmation_mode::ConfirmationMode,
    handler_context::HandlerContext,
    invalid_message,
    known_tools::KnownTools,
    listen,
    listing::{EncodedPage, TTL_MS},
    outcome,
    progress::Progress,
    request::{Invocation, UnreadableArguments},
    search_tools,
    services::Services,
    settings::{Confirmations, Settings, ToolMode, Transport},
    task_permits::TaskPermits,
};
use toolwire_contract::proto::v1::DescribeForPlannerRequest;
use toolwire_telemetry as telemetry;

/// The revisions that are served, each without a session.
const REVISIONS: &[ProtocolVersion] = &[
    ProtocolVersion::V_2025_03_26,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

/// Answers the requests of clients. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Handler {
    pub(super) services: Services,
    pub(super) shared: Arc<HandlerContext>,
    /// Only tools with all of these tags are listed.
    tags: Vec<String>,
    /// What is listed.
    pub(super) mode: ToolMode,
    /// Ends subscriptions, when the connection is to go.
    pub(super) drain: CancellationToken,
    /// Why the tool that the request calls could not be looked up for the check of its headers. The request then fails,
    /// even if a later lookup succeeds.
    pub(super) lookup_failure: Option<Status>,
    /// Of a call over HTTP.
    pub(super) unreadable: Option<UnreadableArguments>,
    /// Receives the page of a list, where the response is completed with its text.
    pub(super) encoded_page: Option<Arc<EncodedPage>>,
    /// When the client of the request gives up, as far as its headers say so.
    pub timeout: Option<Duration>,
    /// What cancels the request, beside the end of its connection.
    pub(super) cancellable: Option<Arc<Cancellable>>,
    /// The span of the request.
    pub(super) span: Span,
}

impl Handler {
    pub fn new(services: Services, settings: Settings, transport: Transport) -> Self {
        Self {
            services,
            shared: Arc::new(HandlerContext::new(settings, transport)),
            tags: Vec::new(),
            mode: ToolMode::List,
            drain: CancellationToken::new(),
            lookup_failure: None,
            unreadable: None,
            encoded_page: None,
            timeout: None,
            cancellable: None,
            span: Span::none(),
        }
    }

    /// The same for one request, in whose span this is called: on behalf of the user in its extensions, and with its
    /// tags.
    #[must_use]
    pub fn for_request(&self, extensions: Extensions, tags: Vec<String>, drain: CancellationToken) -> Self {
        let (services, span) = (self.services.on_behalf_of(extensions), Span::current());
        Self { services, tags, drain, span, ..self.clone() }
    }

    /// The same, which lists its tools so.
    #[must_use]
    pub fn in_mode(self, mode: ToolMode) -> Self {
        Self { mode, ..self }
    }

    #[must_use]
    pub fn with_confirmations(mut self, confirmations: Confirmations) -> Self {
        Arc::make_mut(&mut self.shared).confirmations = Arc::new(confirmations);
        self
    }

    /// The same, which says to persons by which flags a command finds the server, such as ` --server URL`.
    #[must_use]
    pub fn with_flags(mut self, flags: String) -> Self {
        Arc::make_mut(&mut self.shared).flags = flags.into();
        self
    }

    /// The same, which cancels requests by these, to which notifications that reach other processes lead too.
    #[must_use]
    pub fn with_cancellations(mut self, cancellations: Arc<Cancellations>) -> Self {
        Arc::make_mut(&mut self.shared).cancellations = cancellations;
        self
    }

    /// Whether a revision is served.
    pub(super) fn serves(version: &str) -> bool {
        REVISIONS.iter().any(|revision| revision.as_str() == version)
    }

    pub(super) fn flags(&self) -> Arc<str> {
        Arc::clone(&self.shared.flags)
    }

    /// Over standard input and output, cancelled at the end of input; cancelling it counts as that end.
    pub fn end_of_input(&self) -> CancellationToken {
        self.drain.clone()
    }

    /// The same for work that goes on after its request was answered.
    pub(super) fn detached(&self) -> Self {
        Self { services: self.services.detached(), cancellable: None, span: Span::none(), ..self.clone() }
    }

    pub(super) fn confirmations(&self) -> &Confirmations {
        &self.shared.confirmations
    }

    pub(super) fn task_permits(&self) -> &Arc<TaskPermits> {
        &self.shared.task_permits
    }

    /// The user of the request; empty where only the server knows.
    pub(super) fn user(&self) -> String {
        self.services.user().map(|user| user.to_string()).unwrap_or_default()
    }

    /// Only tools with all of these tags are listed.
    pub(super) fn tags(&self) -> &[String] {
        &self.tags
    }

    pub(super) fn known(&self) -> &KnownTools {
        &self.shared.known
    }

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
            let invocation = Invocation::read(request, unreadable.cloned(), &context.meta)?;
            if self.mode == ToolMode::Search {
                let answer = Box::pin(invocation.answer_by_search(self, mode, progress));
                return Ok(answer.await?.into_response());
            }
            let tool = invocation.find_tool(self).await;
            Ok(invocation.carry_out(self, tool, mode, progress).await?.into_response())
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
