//! What a tool is linked to beyond its manifest: its typed RPC, and the domain or the provider that executes it.

use std::sync::Arc;

#[derive(Clone, Debug, Default)]
pub(in crate::registry) struct Linkage {
    /// The typed RPC that calls the same tool, as `package.Service/Method`, if there is one.
    pub(in crate::registry) typed_method: Option<String>,
    /// The provider that executes the tool in another process, if one does.
    pub(in crate::registry) provider: Option<Arc<str>>,
    /// The domain that it is of, if no provider executes it.
    pub(in crate::registry) domain: Option<OfDomain>,
}

/// The domain of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfDomain {
    pub name: &'static str,
    /// Whether its tools are bundled to show what tools are like.
    pub is_sample: bool,
}
