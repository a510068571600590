//! The dependencies of the services of a face.

use std::{
    any::{Any, type_name},
    sync::Arc,
};

use crate::{
    faces::trace_url::TraceUrl,
    service::{Tools, providers::Providers, workspace::Workspaces},
};
use toolwire_tool::context::Services;

/// The dependencies of the services of a face. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Face {
    pub tools: Tools,
    /// What services need beyond tools: one value a type.
    pub parts: Services,
    /// The documents that tasks share.
    pub workspaces: Workspaces,
    /// Providers, and the hub of their hosts.
    pub providers: Providers,
    /// Where traces are shown.
    pub trace_url: TraceUrl,
    /// The longest request message, in bytes.
    pub max_request_bytes: usize,
}

impl Face {
    /// The part of a type.
    ///
    /// # Panics
    /// If there is none: the service and its parts come from one domain.
    pub fn part<P: Any + Send + Sync>(&self) -> Arc<P> {
        self.parts.find().unwrap_or_else(|| panic!("no domain has attached {}", type_name::<P>()))
    }
}

impl AsRef<Self> for Face {
    fn as_ref(&self) -> &Self {
        self
    }
}
