//! What a gRPC service is given when it is served.

use crate::service::{Tools, turns::Turns, workspace::Workspaces};

/// What the services need from the modules below. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Face {
    /// The tools.
    pub tools: Tools,
    /// Conversations.
    pub turns: Turns,
    /// The documents that tasks share.
    pub workspaces: Workspaces,
    /// The longest request message, in bytes.
    pub max_request_bytes: usize,
}

impl AsRef<Self> for Face {
    fn as_ref(&self) -> &Self {
        self
    }
}
