//! An RPC as a route: method, path, RPC, and the form of its response.
//!
//! The parameters of a path are top-level fields of the request; the query or the body gives the others. A verb follows
//! the last colon. Behind a parameter, as in `{call_id}:cancel`, only a POST has one, and then every POST of that path
//! does: `table` gives a path with a verb to POST alone. Not here: which RPCs are routes, and how one is answered.

use http::Method;

use toolwire_transport::rules::{Messages, Pool, Rule};

/// An RPC as a route.
#[derive(Clone, Copy, Debug)]
pub struct RpcRoute {
    pub method: Verb,
    /// As the router reads it, with the verb that may follow a parameter.
    pub path: &'static str,
    /// The service's full name and the method's.
    pub rpc: (&'static str, &'static str),
    pub form: ResponseForm,
}

/// The methods of these routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseForm {
    /// The message as JSON.
    Message,
    /// The same with an `ETag`; 304 if it matches.
    Tagged,
    /// The message of an RPC that must never be shed, since it frees resources.
    Free,
    /// Each message as an event.
    Events,
    /// The same for `WatchTools`, whose definitions are serialised once for all readers.
    Tools,
    /// The bytes of a document.
    Document,
    /// The message, after the body was stored as a document.
    Upload,
}

impl RpcRoute {
    pub const fn new(
        method: Verb,
        path: &'static str,
        rpc: (&'static str, &'static str),
        form: ResponseForm,
    ) -> Self {
        Self { method, path, rpc, form }
    }

    /// The path as the router reads it, and the verb behind its last parameter.
    pub fn split(&self) -> (&'static str, Option<&'static str>) {
        match self.path.rsplit_once("}:") {
            // With the brace that the separator took.
            Some((path, verb)) => (&self.path[..=path.len()], Some(verb)),
            None => (self.path, None),
        }
    }

    /// Every caller is a user; what it may send and take at once goes by the form of the response.
    pub fn rule(&self) -> Rule {
        match self.form {
            ResponseForm::Message | ResponseForm::Tagged => Rule::USER,
            ResponseForm::Free => Rule { pool: Pool::Free, ..Rule::USER },
            ResponseForm::Events | ResponseForm::Tools => Rule::WATCH,
            ResponseForm::Document => Rule::TRANSFER,
            ResponseForm::Upload => Rule { messages: Messages::Many, ..Rule::TRANSFER },
        }
    }

    /// Whether the query gives the fields that the path does not; else the body does. The body of a PUT is a document.
    pub fn is_queried(&self) -> bool {
        matches!(self.method, Verb::Get | Verb::Delete | Verb::Put)
    }
}

impl Verb {
    pub const fn http(self) -> Method {
        match self {
            Self::Get => Method::GET,
            Self::Post => Method::POST,
            Self::Put => Method::PUT,
            Self::Patch => Method::PATCH,
            Self::Delete => Method::DELETE,
        }
    }
}
