//! What all listeners have in common.

use std::sync::Arc;

use super::{Admission, Config, authenticate::Authenticator, descriptors, protocols::Either};
use toolwire_config as config;

/// Who may call, the room that there is for all callers, and the numbers. Cheap to clone.
#[derive(Clone)]
pub struct Common {
    pub authenticator: Arc<dyn Authenticator>,
    /// The room for requests: what a user has on one listener counts on the others.
    pub admission: Admission,
    pub config: Arc<Config>,
    http: OfHttp,
}

/// What the HTTP listener has of its own.
#[derive(Clone, Copy)]
struct OfHttp {
    connections: usize,
    bounds: Either,
}

impl Common {
    /// By the configuration, and no more than the limit of open files allows: a quarter of them is for the HTTP
    /// listener, if there is one.
    pub fn new(
        authenticator: Arc<dyn Authenticator>,
        server: &config::Server,
        http: Option<&config::Http>,
    ) -> Self {
        let files = descriptors::raise();
        let share =
            |http: &config::Http| files.map_or(usize::MAX, |it| it / 4).min(http.max_connections).max(1);
        let connections = http.map_or(0, share);
        let config = Config::from(server).within(files.map(|it| it.saturating_sub(connections)));
        let common = Self::of(authenticator, config);
        let bounds = http.map_or(common.http.bounds, Either::from);
        Self { http: OfHttp { connections, bounds }, ..common }
    }

    /// The numbers of the HTTP listener.
    pub(in crate::faces) fn http_config(&self) -> Config {
        Config::clone(&self.config).for_http(self.http.connections, self.http.bounds)
    }

    pub(super) fn http_bounds(&self) -> Either {
        self.http.bounds
    }

    pub fn of(authenticator: Arc<dyn Authenticator>, config: Config) -> Self {
        let usual = config::Http::default();
        Self {
            http: OfHttp { connections: usual.max_connections, bounds: Either::from(&usual) },
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
