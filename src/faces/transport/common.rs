//! What all listeners have in common.

use std::sync::Arc;

use super::{Admission, Config, authenticate::Authenticator, descriptors};
use crate::config;

/// Who may call, the room that there is for all callers, and the numbers. Cheap to clone.
#[derive(Clone)]
pub struct Common {
    /// Who is calling.
    pub authenticator: Arc<dyn Authenticator>,
    /// The room for requests: what a user has on one listener counts on the others.
    pub admission: Admission,
    /// The numbers.
    pub config: Arc<Config>,
}

impl Common {
    /// By the configuration, and no more than the limit of open files allows.
    pub fn new(authenticator: Arc<dyn Authenticator>, server: &config::Server) -> Self {
        Self::of(authenticator, Config::from(server).within(descriptors::raise()))
    }

    /// By these numbers.
    pub fn of(authenticator: Arc<dyn Authenticator>, config: Config) -> Self {
        Self { authenticator, admission: Admission::new(&config), config: Arc::new(config) }
    }
}

impl std::fmt::Debug for Common {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Common").field("config", &self.config).finish_non_exhaustive()
    }
}
