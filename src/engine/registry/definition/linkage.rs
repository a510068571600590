//! What a tool is linked to beyond its manifest: its typed RPC, and the provider that executes it.

use std::sync::Arc;

#[derive(Clone, Debug, Default)]
pub(in crate::registry) struct Linkage {
    /// The typed RPC that calls the same tool, as `package.Service/Method`, if there is one.
    pub(in crate::registry) typed_method: Option<String>,
    /// The provider that executes the tool in another process, if one does.
    pub(in crate::registry) provider: Option<Arc<str>>,
}
