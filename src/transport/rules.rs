//! Rules per method: access, lifetime and quotas. Deny by default.
//!
//! A method without a rule is refused as UNIMPLEMENTED. The code that registers services provides the rules. Not here:
//! what an individual user may call, which is the pipeline's.

use std::{collections::HashMap, convert::Infallible, sync::Arc};

use http::{Request, Response};
use tonic::Code;

use super::reply::Reply;
use toolwire_base::middleware::Middleware;
use toolwire_contract::status;

/// The callers of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// All, without credentials.
    Public,
    /// Authenticated users.
    User,
    /// Hosts of a provider, which have credentials of their own.
    Host,
}

/// Whether the server's own cap bounds a method's calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifetime {
    Capped,
    /// A watch: ends by its caller, its caller's deadline, or the drain.
    Uncapped,
    /// A transfer of a document: lasts while its reader takes bytes. A drain waits for it as for a call.
    Transfer,
    /// Ended by its handler, at its deadline and at a drain: only the handler can report that in the protocol's form.
    ByHandler,
    /// A slot of a host: its protocol says how long it is silent, and ends it where its connection is to go.
    Slot,
}

/// The quota that requests of a method count against while they are in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pool {
    Calls,
    /// Watches, apart from calls, so that idle watches do not use up the quota of calls.
    Watches,
    /// Transfers of documents, each of which needs an open file and a buffer.
    Transfers,
    Reflection,
    /// Watches of health, per peer, since they have no user.
    Health,
    /// The slots of hosts, which have quotas of their own in the pool of their provider.
    Slots,
    /// No quota: requests that end immediately and must never be shed. A health check that fails under load would make
    /// orchestrators kill a busy server; a cancellation frees capacity.
    Free,
}

/// The number of messages in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Messages {
    One,
    /// Any number: a client stream.
    Many,
}

/// Maximum size of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaxMessage {
    /// The configured size of requests.
    Request,
    /// The size of a conversation, which its client sends in full with each request.
    Conversation,
}

/// The path of a request's route with the names of its parameters, in the extensions of requests to the HTTP listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoutePath(pub &'static str);

/// The rule of a method, in the extensions of each of its requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    pub access: Access,
    pub lifetime: Lifetime,
    pub pool: Pool,
    /// Taken from the descriptors when a service is registered.
    pub messages: Messages,
    pub max_message: MaxMessage,
}

/// The rules by method. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Rules {
    /// By the method's full name, such as `toolwire.v1.ToolService/CallTool`.
    table: Arc<HashMap<Arc<str>, Rule, foldhash::fast::FixedState>>,
}

impl Rule {
    /// The default: the method needs a user, and its calls are capped.
    pub const USER: Self = Self {
        access: Access::User,
        lifetime: Lifetime::Capped,
        pool: Pool::Calls,
        messages: Messages::One,
        max_message: MaxMessage::Request,
    };
    /// For a page without data of users.
    pub const PUBLIC: Self = Self { access: Access::Public, pool: Pool::Free, ..Self::USER };
    /// For a request that contains a conversation.
    pub const CONVERSATION: Self = Self { max_message: MaxMessage::Conversation, ..Self::USER };
    pub const TRANSFER: Self = Self { lifetime: Lifetime::Transfer, pool: Pool::Transfers, ..Self::USER };
    /// For a slot of a host.
    pub const SLOT: Self =
        Self { access: Access::Host, lifetime: Lifetime::Slot, pool: Pool::Slots, ..Self::USER };
    pub const BY_HANDLER: Self = Self { lifetime: Lifetime::ByHandler, ..Self::USER };
    pub const WATCH: Self = Self { lifetime: Lifetime::Uncapped, pool: Pool::Watches, ..Self::USER };
}

impl Rules {
    /// Finds the method at `path`, a `/` and its full name. Returns the full name and the rule.
    pub fn find(&self, path: &str) -> Option<(&Arc<str>, Rule)> {
        let (name, rule) = self.table.get_key_value(path.strip_prefix('/')?)?;
        Some((name, *rule))
    }

    /// All methods by full name, in arbitrary order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Rule)> {
        self.table.iter().map(|(name, rule)| (&**name, *rule))
    }
}

impl<N: Into<Arc<str>>> FromIterator<(N, Rule)> for Rules {
    /// From full names without a leading `/`.
    fn from_iter<I: IntoIterator<Item = (N, Rule)>>(rules: I) -> Self {
        Self { table: Arc::new(rules.into_iter().map(|(name, rule)| (name.into(), rule)).collect()) }
    }
}

/// Refuses requests of methods without a rule, which the layer above has inserted.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequireRule;

impl<S, ReqB, ResB> Middleware<Request<ReqB>, S> for RequireRule
where
    S: tower::Service<Request<ReqB>, Response = Response<ResB>, Error = Infallible>,
    ResB: Default,
{
    type Future = Reply<S::Future, ResB>;

    fn call(&self, request: Request<ReqB>, inner: &mut S) -> Self::Future {
        if request.extensions().get::<Rule>().is_none() {
            let message =
                "this server has no such method; list its services by reflection or read its proto files";
            return Reply::refuse(status::plain(Code::Unimplemented, "UNKNOWN_METHOD", message));
        }
        Reply::forward(inner.call(request))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_is_found_by_its_path_alone() {
        let rules = Rules::from_iter([("toys.v1.ToyService/Play", Rule::USER)]);
        let (name, rule) = rules.find("/toys.v1.ToyService/Play").unwrap();
        assert_eq!((&**name, rule), ("toys.v1.ToyService/Play", Rule::USER));
        for unknown in
            ["toys.v1.ToyService/Play", "/toys.v1.ToyService/Stop", "//toys.v1.ToyService/Play", ""]
        {
            assert!(rules.find(unknown).is_none(), "{unknown:?}");
        }
    }
}
