//! The settings and state that all listeners share.

use std::sync::Arc;

use super::{
    Admission, Config,
    authenticate::{Authenticate, Authenticator, HostTokens},
    descriptors,
    protocols::HttpLimits,
    refusal_lines::RefusalLines,
    watches::{EndWatches, Withdrawals},
};
use toolwire_base::current::Current;
use toolwire_config::{self as config, Toolsets};
use toolwire_tool::context::RefusalLog;

/// Authentication, quotas and configuration. Cheap to clone.
#[derive(Clone)]
pub struct Common {
    pub authenticator: Arc<dyn Authenticator>,
    /// The hosts of providers; none by default.
    hosts: Arc<HostTokens>,
    /// What ends the watches of users who lose a right; nothing by default.
    withdrawals: Option<Arc<dyn Withdrawals>>,
    /// What takes note of refusals; nothing by default.
    refusals: Arc<dyn RefusalLog>,
    /// Those that requests may name; none by default.
    toolsets: Current<Toolsets>,
    /// How often equal refusals are logged, over all listeners.
    lines: Arc<RefusalLines>,
    /// The quotas of requests, which count over all listeners.
    pub admission: Admission,
    pub config: Arc<Config>,
    http: HttpSettings,
}

#[derive(Clone, Copy)]
struct HttpSettings {
    connections: usize,
    bounds: HttpLimits,
}

impl Common {
    /// Follows the configuration, within the limit of open files, of which the HTTP listener, if there is one, may use
    /// a quarter.
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
        let bounds = http.map_or(common.http.bounds, HttpLimits::from);
        Self { http: HttpSettings { connections, bounds }, ..common }
    }

    /// Admits hosts of providers.
    #[must_use]
    pub fn with_hosts(self, hosts: HostTokens) -> Self {
        Self { hosts: Arc::new(hosts), ..self }
    }

    /// Ends the watches of users who lose a right.
    #[must_use]
    pub fn with_withdrawals(self, withdrawals: Option<Arc<dyn Withdrawals>>) -> Self {
        Self { withdrawals, ..self }
    }

    pub(super) fn end_watches(&self) -> EndWatches {
        EndWatches { withdrawals: self.withdrawals.clone() }
    }

    /// Has note taken of refusals.
    #[must_use]
    pub fn with_refusals(self, refusals: Arc<dyn RefusalLog>) -> Self {
        Self { refusals, ..self }
    }

    /// Lets requests narrow their user's tools to these.
    #[must_use]
    pub fn with_toolsets(self, toolsets: Current<Toolsets>) -> Self {
        Self { toolsets, ..self }
    }

    pub(super) fn authenticate(&self) -> Authenticate {
        Authenticate {
            users: Arc::clone(&self.authenticator),
            hosts: Arc::clone(&self.hosts),
            refusals: Arc::clone(&self.refusals),
            toolsets: self.toolsets.clone(),
            lines: Arc::clone(&self.lines),
        }
    }

    pub fn http_config(&self) -> Config {
        Config::clone(&self.config).for_http(self.http.connections, self.http.bounds)
    }

    pub(super) fn http_bounds(&self) -> HttpLimits {
        self.http.bounds
    }

    pub fn of(authenticator: Arc<dyn Authenticator>, config: Config) -> Self {
        let usual = config::Http::default();
        Self {
            http: HttpSettings { connections: usual.max_connections, bounds: HttpLimits::from(&usual) },
            authenticator,
            hosts: Arc::default(),
            withdrawals: None,
            refusals: Arc::new(()),
            toolsets: Current::default(),
            lines: Arc::default(),
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
