//! The services that the face calls, by their generated clients: those of a server, or those of the same process, whose
//! tools can also be called without a client.

use std::{
    fmt::Debug,
    sync::Arc,
    task::{Context, Poll},
};

use futures_util::{StreamExt, future::BoxFuture, stream::BoxStream};
use http::{Extensions, Request, Response, header::USER_AGENT};
use tonic::{Status, body::Body};
use tower::{BoxError, Service, util::BoxCloneSyncService};

use super::request::Invocation;
use toolwire_base::digest::Digest;
use toolwire_contract::proto::v1::{
    CallToolResponse, InvokeToolResponse, confirmation_service_client::ConfirmationServiceClient,
    tool_service_client::ToolServiceClient,
};
use toolwire_tool::context::{CallId, User, UserId};

/// The services, over any transport. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Services {
    transport: Arc<BoxCloneSyncService<Request<Body>, Response<Body>, BoxError>>,
    local: Option<Arc<dyn LocalCalls>>,
    /// Those of the request that is answered: its user, arrival and trace.
    extensions: Arc<Extensions>,
    /// Maximum size of a message, in bytes.
    max_message: usize,
}

/// The events of a call, as `InvokeTool` sends them.
pub type CallEvents = BoxStream<'static, Result<InvokeToolResponse, Status>>;

/// Calls tools of the same process as `CallTool` and `InvokeTool` do, without their request.
pub trait LocalCalls: Debug + Send + Sync {
    /// Carries out a call on behalf of the request that has these extensions. The shorter time-out of the two applies.
    /// Data of more tokens than `keep_over_tokens` is kept; with 0, none is.
    fn call_tool<'a>(
        &'a self,
        extensions: &'a Extensions,
        invocation: Invocation,
        keep_over_tokens: u32,
    ) -> BoxFuture<'a, LocalEnd>;

    /// The same for a call whose events are followed. Dropping them abandons it.
    fn invoke_tool<'a>(
        &'a self,
        extensions: &'a Extensions,
        invocation: Invocation,
        keep_over_tokens: u32,
    ) -> BoxFuture<'a, Result<CallEvents, Status>>;

    /// Asks the other processes that share the state to cancel a request of the user in these extensions, by the name
    /// that [`Cancellations`](super::Cancellations) have for it, and waits until one has or a moment has passed.
    fn cancel_in_other_processes<'a>(
        &'a self,
        extensions: &'a Extensions,
        request: String,
    ) -> BoxFuture<'a, ()>;
}

/// The end of a call within the process.
#[derive(Debug)]
pub struct LocalEnd {
    /// `None` if the request was refused and no call was made.
    pub call_id: Option<CallId>,
    /// The digest of the definition that the call was resolved to.
    pub digest: Option<Digest>,
    pub response: Result<CallToolResponse, Status>,
}

/// Marks a request within the process that outlives the one that caused it: its deadline is its own.
#[derive(Clone, Copy, Debug)]
pub struct Detached;

/// The name of the face in records of a request within the process, in place of its own.
#[derive(Clone, Copy, Debug)]
pub struct Via(pub &'static str);

/// A transport whose requests carry the extensions of the request that is answered: its user, arrival and trace.
#[derive(Clone, Debug)]
pub(super) struct Scoped {
    inner: BoxCloneSyncService<Request<Body>, Response<Body>, BoxError>,
    extensions: Arc<Extensions>,
}

impl LocalEnd {
    /// The end of a request that was refused before it became a call.
    pub fn refused(status: Status) -> Self {
        Self { call_id: None, digest: None, response: Err(status) }
    }
}

impl Services {
    pub fn new<S>(transport: S, max_message: usize) -> Self
    where
        S: Service<Request<Body>, Response = Response<Body>, Error = BoxError, Future: Send + 'static>
            + Clone
            + Send
            + Sync
            + 'static,
    {
        let transport = Arc::new(BoxCloneSyncService::new(transport));
        Self { transport, local: None, extensions: Arc::default(), max_message }
    }

    /// The same services, which are those of this process.
    #[must_use]
    pub fn with_local(self, calls: Arc<dyn LocalCalls>) -> Self {
        Self { local: Some(calls), ..self }
    }

    /// The same services, called on behalf of this user where the transport knows none.
    #[must_use]
    pub fn of_user(&self, user: User) -> Self {
        let mut extensions = Extensions::new();
        extensions.insert(user);
        self.on_behalf_of(extensions)
    }

    /// The same services, for work that goes on after its request was answered.
    pub(super) fn detached(&self) -> Self {
        self.with(Detached)
    }

    /// The same services, whose records name this face.
    pub(super) fn via(&self, name: &'static str) -> Self {
        self.with(Via(name))
    }

    fn with(&self, mark: impl Clone + Send + Sync + 'static) -> Self {
        let mut extensions = Extensions::clone(&self.extensions);
        extensions.insert(mark);
        self.on_behalf_of(extensions)
    }

    /// The same services, called on behalf of the request that has these extensions.
    pub(super) fn on_behalf_of(&self, extensions: Extensions) -> Self {
        Self { extensions: Arc::new(extensions), ..self.clone() }
    }

    /// The user of the request that is answered. `None` over a connection, whose server authenticates it.
    pub(super) fn user(&self) -> Option<UserId> {
        self.extensions.get::<User>().map(|user| user.id.clone())
    }

    /// The user of a request whose toolset or token leaves tools out. `None` over a connection, whose every request
    /// comes alike.
    pub(super) fn narrowed_user(&self) -> Option<&User> {
        self.extensions.get::<User>().filter(|user| user.is_narrowed())
    }

    /// Calls a tool of this process. `None` if the services are those of another one.
    pub(super) fn call_locally(
        &self,
        invocation: Invocation,
        keep_over_tokens: u32,
    ) -> Option<BoxFuture<'_, LocalEnd>> {
        Some(self.local.as_ref()?.call_tool(&self.extensions, invocation, keep_over_tokens))
    }

    /// Calls a tool whose events are followed.
    pub(super) async fn invoke(
        &self,
        invocation: Invocation,
        keep_over_tokens: u32,
    ) -> Result<CallEvents, Status> {
        if let Some(local) = &self.local {
            return local.invoke_tool(&self.extensions, invocation, keep_over_tokens).await;
        }
        let mut request = tonic::Request::new(invocation.message(keep_over_tokens));
        if let Some(timeout) = invocation.timeout {
            request.set_timeout(timeout);
        }
        let product = invocation.client.as_ref().and_then(|client| client.to_product().parse().ok());
        if let Some(product) = product {
            request.metadata_mut().insert(USER_AGENT.as_str(), product);
        }
        Ok(self.tools().invoke_tool(request).await?.into_inner().boxed())
    }

    /// Cancels a request that another process of the same state answers.
    pub(super) async fn cancel_in_other_processes(&self, request: String) {
        if let Some(local) = &self.local {
            local.cancel_in_other_processes(&self.extensions, request).await;
        }
    }

    pub(super) fn is_local(&self) -> bool {
        self.local.is_some()
    }

    pub(super) fn tools(&self) -> ToolServiceClient<Scoped> {
        ToolServiceClient::new(self.scoped()).max_decoding_message_size(self.max_message)
    }

    pub(super) fn confirmations(&self) -> ConfirmationServiceClient<Scoped> {
        ConfirmationServiceClient::new(self.scoped()).max_decoding_message_size(self.max_message)
    }

    fn scoped(&self) -> Scoped {
        Scoped {
            inner: BoxCloneSyncService::clone(&self.transport),
            extensions: Arc::clone(&self.extensions),
        }
    }
}

impl Service<Request<Body>> for Scoped {
    type Response = Response<Body>;
    type Error = BoxError;
    type Future =
        <BoxCloneSyncService<Request<Body>, Response<Body>, BoxError> as Service<Request<Body>>>::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        request.extensions_mut().extend(Extensions::clone(&self.extensions));
        self.inner.call(request)
    }
}
