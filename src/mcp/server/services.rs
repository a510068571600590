//! The services that the face calls, by their generated clients: those of a server, or those of the same process.

use std::task::{Context, Poll};

use http::{Extensions, Request, Response};
use tonic::body::Body;
use tower::{BoxError, Service, util::BoxCloneSyncService};

use toolwire_contract::proto::v1::{
    confirmation_service_client::ConfirmationServiceClient, tool_service_client::ToolServiceClient,
};
use toolwire_tool::context::{User, UserId};

/// The services, over any transport. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Services {
    transport: Scoped,
    /// Maximum size of a message, in bytes.
    max_message: usize,
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
    extensions: Extensions,
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
        let inner = BoxCloneSyncService::new(transport);
        Self { transport: Scoped { inner, extensions: Extensions::new() }, max_message }
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
        let mut extensions = self.transport.extensions.clone();
        extensions.insert(mark);
        self.on_behalf_of(extensions)
    }

    /// The same services, called on behalf of the request that has these extensions.
    pub(super) fn on_behalf_of(&self, extensions: Extensions) -> Self {
        let transport = Scoped { extensions, ..self.transport.clone() };
        Self { transport, ..self.clone() }
    }

    /// The user of the request that is answered. `None` over a connection, whose server authenticates it.
    pub(super) fn user(&self) -> Option<UserId> {
        self.transport.extensions.get::<User>().map(|user| user.id.clone())
    }

    pub(super) fn tools(&self) -> ToolServiceClient<Scoped> {
        ToolServiceClient::new(self.transport.clone()).max_decoding_message_size(self.max_message)
    }

    pub(super) fn confirmations(&self) -> ConfirmationServiceClient<Scoped> {
        ConfirmationServiceClient::new(self.transport.clone()).max_decoding_message_size(self.max_message)
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
        request.extensions_mut().extend(self.extensions.clone());
        self.inner.call(request)
    }
}
