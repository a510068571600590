//! How a server is greeted: first by the probe of the newest revision, and by `initialize` once that has proved to be
//! what it takes.

use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::{
    model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion},
    service::ClientLifecycleMode,
};

/// What is known of a server, for as long as it is kept connected.
#[derive(Debug, Default)]
pub(crate) struct Greeting {
    is_older: AtomicBool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Lifecycle {
    /// By the newest revision, and on the same connection by the one before if the server says that it does not know
    /// it.
    Probe,
    /// By the revision before.
    Initialize,
}

const OLDER: ProtocolVersion = ProtocolVersion::V_2025_11_25;

impl Greeting {
    /// Whether it takes the revision before, and may not take a probe.
    pub(crate) fn is_older(&self) -> bool {
        self.is_older.load(Ordering::Relaxed)
    }

    pub(crate) fn remember(&self, is_older: bool) {
        self.is_older.store(is_older, Ordering::Relaxed);
    }
}

impl Lifecycle {
    /// This client's description of itself, which offers a server nothing, and the order of its messages.
    pub(crate) fn terms(self) -> (ClientConfig, ClientLifecycleMode) {
        let mut config = ClientConfig::new(
            ClientCapabilities::default(),
            Implementation::new("toolwire", env!("CARGO_PKG_VERSION")),
        );
        let mode = match self {
            Self::Probe => ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                legacy_version: Some(OLDER),
            },
            Self::Initialize => {
                config.protocol_version = OLDER;
                ClientLifecycleMode::Initialize
            }
        };
        (config, mode)
    }
}
