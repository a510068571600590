//! What a definition has that no manifest says.

use std::sync::Arc;

#[derive(Clone, Debug, Default)]
pub(in crate::registry) struct Derived {
    /// The typed RPC that calls the same tool, as `package.Service/Method`, if there is one.
    pub(in crate::registry) typed_method: Option<String>,
    /// The provider that executes the tool in another process, if one does.
    pub(in crate::registry) provider: Option<Arc<str>>,
}
