//! How many files this process may have open, of which every connection is one, and every document on its way another.

use super::Config;

/// Kept free of connections: the admin endpoint, the state file, requests to sources, files that are read.
const RESERVED: usize = 256;

/// Raises the limit of open files as far as the system allows, and tells it; none where there is no limit, or none
/// that can be read.
#[cfg(unix)]
pub fn raise() -> Option<usize> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum && setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).is_ok() {
        return maximum.and_then(|it| it.try_into().ok());
    }
    current.and_then(|it| it.try_into().ok())
}

/// There is no such limit.
#[cfg(not(unix))]
pub fn raise() -> Option<usize> {
    None
}

impl Config {
    /// The same, with no more transfers and connections than so many files allow.
    #[must_use]
    pub fn within(self, files: Option<usize>) -> Self {
        let Some(files) = files else { return self };
        let max_transfers = self.max_transfers.min(files / 4).max(1);
        let of_user = self.max_transfers_per_user.min(max_transfers.div_ceil(2));
        let this = Self { max_transfers, max_transfers_per_user: of_user, ..self };
        // Of few files half are kept free.
        let room = files.saturating_sub(RESERVED + max_transfers).max(files / 2).max(1);
        this.with_connections(room, files)
    }

    fn with_connections(self, room: usize, files: usize) -> Self {
        if room >= self.max_connections {
            return self;
        }
        tracing::warn!(
            files,
            max_connections = room,
            configured = self.max_connections,
            "the limit of open files allows fewer connections than configured; raise it (ulimit -n, LimitNOFILE)"
        );
        let most_of_peer = self.max_connections_per_peer * room / self.max_connections;
        Self { max_connections: room, max_connections_per_peer: most_of_peer.max(1), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_some_files_free() {
        let most = |files| {
            let config =
                Config { max_connections: 10_000, max_connections_per_peer: 7_500, ..Config::default() };
            let Config { max_connections, max_connections_per_peer, .. } = config.within(files);
            (max_connections, max_connections_per_peer)
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
            let Config { max_transfers, max_transfers_per_user, max_connections, .. } =
                Config::default().within(Some(files));
            (max_transfers, max_transfers_per_user, max_connections)
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
