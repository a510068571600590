//! What all listeners have in common.

use std::sync::Arc;

use super::{Admission, Config, authenticate::Authenticator, descriptors};
use crate::config;

/// Connections of the HTTP listener at once.
const HTTP_CONNECTIONS: usize = 1_000;

/// Who may call, the room that there is for all callers, and the numbers. Cheap to clone.
#[derive(Clone)]
pub struct Common {
    /// Who is calling.
    pub authenticator: Arc<dyn Authenticator>,
    /// The room for requests: what a user has on one listener counts on the others.
    pub admission: Admission,
    /// The numbers.
    pub config: Arc<Config>,
    http_connections: usize,
}

impl Common {
    /// By the configuration, and no more than the limit of open files allows: a quarter of them is for the HTTP
    /// listener, if there is one.
    pub fn new(authenticator: Arc<dyn Authenticator>, server: &config::Server, has_http: bool) -> Self {
        let files = descriptors::raise();
        let http = if has_http {
            files.map_or(HTTP_CONNECTIONS, |it| HTTP_CONNECTIONS.min(it / 4)).max(1)
        } else {
            0
        };
        let config = Config::from(server).within(files.map(|it| it.saturating_sub(http)));
        Self { http_connections: http, ..Self::of(authenticator, config) }
    }

    /// The numbers of the HTTP listener.
    pub(in crate::faces) fn http_config(&self) -> Config {
        Config::clone(&self.config).for_http(self.http_connections)
    }

    /// By these numbers.
    pub fn of(authenticator: Arc<dyn Authenticator>, config: Config) -> Self {
        Self {
            http_connections: HTTP_CONNECTIONS,
            authenticator,
            admission: Admission::new(&config),
            config: Arc::new(config),
        }
    }
}

impl std::fmt::Debug for Common {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Common").field("config", &self.config).finish_non_exhaustive()
    }
}
