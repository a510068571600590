//! The dependencies of the services of a face.

use toolwire_hosts::Hub;

use crate::service::{Tools, jobs::Jobs, runs::Runs, turns::Turns, workspace::Workspaces};

/// The dependencies of the services of a face. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Face {
    pub tools: Tools,
    pub turns: Turns,
    /// Work in the background.
    pub jobs: Jobs,
    /// Tasks that the server works on itself.
    pub runs: Runs,
    /// The documents that tasks share.
    pub workspaces: Workspaces,
    /// Hosts of providers.
    pub hub: Hub,
    /// The longest request message, in bytes.
    pub max_request_bytes: usize,
}

impl AsRef<Self> for Face {
    fn as_ref(&self) -> &Self {
        self
    }
}
