//! Settings of the gRPC server.

use std::{net::SocketAddr, time::Duration};

use super::{
    ServerBounds, Tls,
    settings::{check, longer_than_zero, settings},
};

settings! {
    /// The gRPC server: `[server]`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Server in "server" {
        /// Where to listen; port 0 takes a free one.
        listen: SocketAddr = SocketAddr::from(([127, 0, 0, 1], 50_051)), "TOOLWIRE_LISTEN", "--listen";
        /// Whether another process may listen on the same address, for a restart without a gap.
        reuse_port: bool = false, "TOOLWIRE_REUSE_PORT", "--reuse-port";
        /// Whether reflection is served.
        reflection: bool = true, "TOOLWIRE_REFLECTION";
        /// Whether the diagnostics tools are offered.
        diagnostics: bool = false, "TOOLWIRE_DIAGNOSTICS", "--diagnostics";
        /// Whether the bundled sample tools are offered.
        samples: bool = true, "TOOLWIRE_SAMPLES";
        /// No call lasts longer.
        deadline_cap: Duration = Duration::from_mins(2), "TOOLWIRE_DEADLINE_CAP", as longer_than_zero;
    }
    and {
        /// How the server ends.
        drain: Drain = Drain::read;
        /// TLS, or none.
        tls: Tls = Tls::read;
        /// What one client may take.
        limits: ServerBounds = ServerBounds::read;
    }
}

settings! {
    /// How the server ends: `[server.drain]`. Both lengths are counted from the signal.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Drain in "server.drain" {
        /// How long new calls are still served after health says `NOT_SERVING`. A port without connections skips it.
        lame_duck: Duration = Duration::from_secs(5), "TOOLWIRE_DRAIN_LAME_DUCK";
        /// When what still runs is cut off.
        forced_end: Duration = Duration::from_secs(25), "TOOLWIRE_DRAIN_FORCED_END",
            as check(|it: &Duration| *it >= lame_duck, "must not be shorter than server.drain.lame_duck");
    }
}
