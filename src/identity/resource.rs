//! This server as tokens name it, by audiences and scopes: whole, or a toolset of it. Not here: which tools a toolset
//! has.

use std::sync::Arc;

use toolwire_tool::context::{InvalidToolsetName, ToolsetName};

/// A scope that begins so binds its token to the toolset that it names.
const SCOPE: &str = "tools:";

/// What the tokens of issuers are for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resource {
    /// The URL of the whole; below it each toolset has one. `None` if clients know the server by no URL.
    url: Option<String>,
    /// The toolsets that there are.
    toolsets: Vec<ToolsetName>,
}

impl Resource {
    pub fn new(url: Option<String>, toolsets: impl IntoIterator<Item = ToolsetName>) -> Self {
        Self { url, toolsets: toolsets.into_iter().collect() }
    }

    /// The toolset to which a scope binds a token; what cannot be the name of one binds to nothing. `None` of other
    /// scopes.
    pub fn toolset_of_scope(scope: &str) -> Option<Result<ToolsetName, InvalidToolsetName>> {
        scope.strip_prefix(SCOPE).map(str::parse)
    }

    /// The toolset whose URL an audience is, whether or not there is such a one.
    pub fn toolset_of_audience(&self, audience: &str) -> Option<ToolsetName> {
        audience.strip_prefix(self.url.as_deref()?)?.strip_prefix('/')?.parse().ok()
    }

    /// The audience that is the whole, if clients know the server by a URL.
    pub(crate) fn url(&self) -> Option<&str> {
        self.url.as_deref()
    }

    /// Whether an audience is the whole, or a toolset that there is.
    pub(crate) fn is_audience(&self, audience: &str) -> bool {
        self.is_whole(audience) || self.toolset_of_audience(audience).is_some_and(|name| self.has(&name))
    }

    /// Whether there is a toolset of this name.
    pub(crate) fn has(&self, toolset: &ToolsetName) -> bool {
        self.toolsets.contains(toolset)
    }

    /// The toolsets to which a token is bound: those of its audiences, unless one of them is the whole, and of these
    /// those of its scopes. `None` if it is not bound.
    pub(crate) fn bound_to(&self, audiences: &[String], scopes: &[String]) -> Option<Arc<[ToolsetName]>> {
        let of_audiences: Vec<_> = audiences.iter().filter_map(|it| self.toolset_of_audience(it)).collect();
        let is_whole = of_audiences.is_empty() || audiences.iter().any(|it| self.is_whole(it));
        let of_scopes: Vec<_> = scopes.iter().filter_map(|it| Self::toolset_of_scope(it)).collect();
        let is_of_scopes = |name: &ToolsetName| of_scopes.iter().flatten().any(|it| it == name);
        match (is_whole, of_scopes.is_empty()) {
            (true, true) => None,
            (false, true) => Some(of_audiences.into()),
            (true, false) => Some(of_scopes.into_iter().flatten().collect()),
            (false, false) => Some(of_audiences.into_iter().filter(is_of_scopes).collect()),
        }
    }

    fn is_whole(&self, audience: &str) -> bool {
        self.url.as_deref() == Some(audience)
    }
}
