//! The limit of open files, which bounds connections and transfers: each of them needs one.

use super::Config;

/// Files reserved for the admin endpoint, the state file, requests to sources, and files that are read.
const RESERVED: usize = 256;

/// Raises the limit of open files as far as the system allows, and returns it. `None` if there is no limit or it cannot
/// be read.
#[cfg(unix)]
pub fn raise() -> Option<usize> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum && setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).is_ok() {
        return maximum.and_then(|it| it.try_into().ok());
    }
    current.and_then(|it| it.try_into().ok())
}

/// This system has no such limit.
#[cfg(not(unix))]
pub fn raise() -> Option<usize> {
    None
}

impl Config {
    /// Lowers the limits on transfers and connections to what this number of open files allows.
    #[must_use]
    pub fn within(mut self, files: Option<usize>) -> Self {
        let Some(files) = files else { return self };
        let limits = &mut self.limits;
        limits.max_transfers = limits.max_transfers.min(files / 4).max(1);
        limits.max_transfers_per_user = limits.max_transfers_per_user.min(limits.max_transfers.div_ceil(2));
        // With a low limit, connections get at least half of the files.
        let most = files.saturating_sub(RESERVED + limits.max_transfers).max(files / 2).max(1);
        if most >= limits.max_connections {
            return self;
        }
        tracing::warn!(
            files,
            max_connections = most,
            configured = limits.max_connections,
            "the limit of open files allows fewer connections than configured; raise it (ulimit -n, LimitNOFILE)"
        );
        self.with_connections(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_some_files_free() {
        let most = |files| {
            let mut config = Config::default();
            (config.limits.max_connections, config.limits.max_connections_per_peer) = (10_000, 7_500);
            let limits = config.within(files).limits;
            (limits.max_connections, limits.max_connections_per_peer)
        };
        assert_eq!(most(None), (10_000, 7_500));
        assert_eq!(most(Some(1_048_576)), (10_000, 7_500));
        assert_eq!(most(Some(1_512)), (1_000, 750));
        assert_eq!(most(Some(100)), (50, 37));
        assert_eq!(most(Some(1)), (1, 1));
    }

    #[test]
    fn documents_on_their_way_leave_files_to_others() {
        let most = |files| {
            let limits = Config::default().within(Some(files)).limits;
            (limits.max_transfers, limits.max_transfers_per_user, limits.max_connections)
        };
        assert_eq!(most(1_048_576), (256, 64, 10_000));
        assert_eq!(most(600), (150, 64, 300));
        assert_eq!(most(100), (25, 13, 50));
    }

    #[cfg(unix)]
    #[test]
    fn the_limit_is_raised_once() {
        assert_eq!(raise(), raise());
    }
}
