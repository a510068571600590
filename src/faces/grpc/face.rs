//! What a gRPC service is given when it is served.

use std::sync::Arc;

use crate::{
    pipeline::{Pipeline, Policy},
    registry::Registry,
    upstream::limits::SourceLimits,
};

/// What the services need of the house below. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Face {
    /// Carries out calls.
    pub pipeline: Arc<Pipeline>,
    /// The tools.
    pub registry: Arc<Registry>,
    /// Who may call what.
    pub policy: Arc<dyn Policy>,
    /// What sources would do with requests.
    pub limits: Arc<dyn SourceLimits>,
    /// The longest request message, in bytes.
    pub max_request_bytes: usize,
}

impl AsRef<Self> for Face {
    fn as_ref(&self) -> &Self {
        self
    }
}
