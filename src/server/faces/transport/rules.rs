//! Who may call which method, and how long a call of it may last. Deny by default.
//!
//! A method without a rule is refused as UNIMPLEMENTED. Which methods there are, and their rules, is said by whoever
//! registers services. What a *user* may call is decided below, in the pipeline.

use std::{collections::HashMap, convert::Infallible, sync::Arc};

use http::{Request, Response};
use tonic::Code;

use super::reply::Reply;
use toolwire_base::middleware::Middleware;
use toolwire_contract::status;

/// Who may call a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Anyone, without credentials.
    Public,
    /// Callers whose credentials were accepted.
    User,
}

/// Whether the server's own cap bounds a method's calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifetime {
    /// Ends by the server's cap at the latest.
    Capped,
    /// A watch: lasts until its caller, its caller's deadline, or the drain ends it.
    Uncapped,
    /// A file on its way: lasts as long as bytes move. A drain waits for it as for a call.
    Transfer,
}

/// What a method's requests count against while they are under way: in all, and for the user who makes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pool {
    Calls,
    /// The watches, so that idle ones do not keep calls out.
    Watches,
    /// Documents on their way, each of which has a file open and some memory.
    Transfers,
    Reflection,
    /// Watches of health, by peer: they have no user.
    Health,
    /// Nothing: it is over at once, and must never be shed. A health check that fails under load makes orchestrators
    /// kill a server that is merely busy; a cancellation makes room.
    Free,
}

/// How many messages a request has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Messages {
    One,
    /// Any number: a client stream.
    Many,
}

/// How large a message may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Largest {
    /// As large as is configured for requests.
    Request,
    /// A conversation: its client sends all that was ever said with each request.
    Conversation,
}

/// What holds for one method. Stored in the extensions of every request that goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Who may call it.
    pub access: Access,
    /// How long it may last.
    pub lifetime: Lifetime,
    /// What it counts against.
    pub pool: Pool,
    /// How many messages a request has. Whoever registers a service takes it from the descriptors.
    pub messages: Messages,
    /// How large one may be.
    pub largest: Largest,
}

/// The rules by method. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Rules {
    /// By full name, such as `toolwire.v1.ToolService/CallTool`.
    table: Arc<HashMap<Arc<str>, Rule>>,
}

impl Rule {
    /// What holds unless something else is said: the method needs a user, and its calls are capped.
    pub const USER: Self = Self {
        access: Access::User,
        lifetime: Lifetime::Capped,
        pool: Pool::Calls,
        messages: Messages::One,
        largest: Largest::Request,
    };
    /// What holds for a request of a user that carries a conversation.
    pub const CONVERSATION: Self = Self { largest: Largest::Conversation, ..Self::USER };
    /// What holds for a file of a user on its way.
    pub const TRANSFER: Self = Self { lifetime: Lifetime::Transfer, pool: Pool::Transfers, ..Self::USER };
    /// What holds for a watch of a user.
    pub const WATCH: Self = Self { lifetime: Lifetime::Uncapped, pool: Pool::Watches, ..Self::USER };
}

impl Rules {
    /// The full name of the method at `path`, which is the name after a `/`, and its rule.
    pub fn find(&self, path: &str) -> Option<(&Arc<str>, Rule)> {
        let (name, rule) = self.table.get_key_value(path.strip_prefix('/')?)?;
        Some((name, *rule))
    }

    /// Every method by its full name, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Rule)> {
        self.table.iter().map(|(name, rule)| (&**name, *rule))
    }
}

impl<N: Into<Arc<str>>> FromIterator<(N, Rule)> for Rules {
    /// Methods by full name, without a leading `/`.
    fn from_iter<I: IntoIterator<Item = (N, Rule)>>(rules: I) -> Self {
        Self { table: Arc::new(rules.into_iter().map(|(name, rule)| (name.into(), rule)).collect()) }
    }
}

/// Refuses methods without a rule.
#[derive(Debug, Clone)]
pub(super) struct RequireRule(pub(super) Rules);

impl<S, ReqB, ResB> Middleware<Request<ReqB>, S> for RequireRule
where
    S: tower::Service<Request<ReqB>, Response = Response<ResB>, Error = Infallible>,
    ResB: Default,
{
    type Future = Reply<S::Future, ResB>;

    fn call(&self, mut request: Request<ReqB>, inner: &mut S) -> Self::Future {
        let Some((_, rule)) = self.0.find(request.uri().path()) else {
            let message =
                "this server has no such method; list its services by reflection or read its proto files";
            return Reply::refused(status::plain(Code::Unimplemented, "UNKNOWN_METHOD", message));
        };
        request.extensions_mut().insert(rule);
        Reply::passed(inner.call(request))
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
