//! The handler of MCP requests: what all requests share, and what one request brings.

mod dispatch;

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use http::Extensions;
use rmcp::model::{CallToolResponse, ProtocolVersion};
use tokio_util::sync::CancellationToken;
use tonic::Status;
use tracing::Span;

use super::{
    cancellations::{Cancellable, Cancellations},
    handler_context::HandlerContext,
    known_tools::KnownTools,
    listing::EncodedPage,
    outcome::{Answer, NeedsScope},
    request::UnreadableArguments,
    services::Services,
    settings::{Confirmations, Settings, ToolMode, Transport},
    task_permits::TaskPermits,
};

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
    /// Receives the refusal of a token of too little scope, where the response becomes a challenge.
    pub(super) needed_scope: Option<Arc<OnceLock<NeedsScope>>>,
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
            needed_scope: None,
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

    fn response_of(&self, answer: Answer) -> CallToolResponse {
        if let (Answer::NeedsScope(refused), Some(needed_scope)) = (&answer, &self.needed_scope) {
            let _ = needed_scope.set(NeedsScope::clone(refused));
        }
        answer.into_response()
    }
}
