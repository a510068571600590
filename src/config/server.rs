//! Settings of the gRPC server.

use std::{net::SocketAddr, time::Duration};

use super::{ServerBounds, Tls, reader::Reader, setting::Setting};

/// The gRPC server: `[server]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Server {
    /// Where to listen; port 0 takes a free one. `--listen`, `TOOLWIRE_LISTEN`, default `127.0.0.1:50051`.
    pub listen: SocketAddr,
    /// Whether another process may listen on the same address, for a restart without a gap. `--reuse-port`,
    /// `TOOLWIRE_REUSE_PORT`, default `false`.
    pub reuse_port: bool,
    /// Whether reflection is served. `TOOLWIRE_REFLECTION`, default `true`.
    pub reflection: bool,
    /// Whether the diagnostics tools are offered. `--diagnostics`, `TOOLWIRE_DIAGNOSTICS`, default `false`.
    pub diagnostics: bool,
    /// No call lasts longer. `TOOLWIRE_DEADLINE_CAP`, default `2m`.
    pub deadline_cap: Duration,
    /// How the server ends.
    pub drain: Drain,
    /// TLS, or none.
    pub tls: Tls,
    /// What one client may take.
    pub limits: ServerBounds,
}

/// How the server ends: `[server.drain]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Drain {
    /// How long new calls are still served after health says `NOT_SERVING`. `TOOLWIRE_DRAIN_LAME_DUCK`, default `5s`.
    pub lame_duck: Duration,
    /// When what still runs is cut off. `TOOLWIRE_DRAIN_FORCED_END`, default `25s`.
    pub forced_end: Duration,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 50_051)),
            reuse_port: false,
            reflection: true,
            diagnostics: false,
            deadline_cap: Duration::from_mins(2),
            drain: Drain::default(),
            tls: Tls::default(),
            limits: ServerBounds::default(),
        }
    }
}

impl Default for Drain {
    fn default() -> Self {
        Self { lame_duck: Duration::from_secs(5), forced_end: Duration::from_secs(25) }
    }
}

impl Server {
    pub(super) fn read(reader: &mut Reader) -> Self {
        let default = Self::default();
        let listen = Setting::new("server.listen", "TOOLWIRE_LISTEN").flag("--listen");
        let reuse_port = Setting::new("server.reuse_port", "TOOLWIRE_REUSE_PORT").flag("--reuse-port");
        let reflection = Setting::new("server.reflection", "TOOLWIRE_REFLECTION");
        let diagnostics = Setting::new("server.diagnostics", "TOOLWIRE_DIAGNOSTICS").flag("--diagnostics");
        let deadline_cap = Setting::new("server.deadline_cap", "TOOLWIRE_DEADLINE_CAP");
        let server = Self {
            listen: reader.value(listen, default.listen),
            reuse_port: reader.value(reuse_port, default.reuse_port),
            reflection: reader.value(reflection, default.reflection),
            diagnostics: reader.value(diagnostics, default.diagnostics),
            deadline_cap: reader.value(deadline_cap, default.deadline_cap),
            drain: Drain::read(reader),
            tls: Tls::read(reader),
            limits: ServerBounds::read(reader),
        };
        if server.deadline_cap.is_zero() {
            reader.problem("server.deadline_cap", "must be longer than zero");
        }
        server
    }
}

impl Drain {
    fn read(reader: &mut Reader) -> Self {
        let default = Self::default();
        let lame_duck = Setting::new("server.drain.lame_duck", "TOOLWIRE_DRAIN_LAME_DUCK");
        let forced_end = Setting::new("server.drain.forced_end", "TOOLWIRE_DRAIN_FORCED_END");
        let drain = Self {
            lame_duck: reader.value(lame_duck, default.lame_duck),
            forced_end: reader.value(forced_end, default.forced_end),
        };
        if drain.forced_end < drain.lame_duck {
            reader.problem("server.drain.forced_end", "must not be shorter than server.drain.lame_duck");
        }
        drain
    }
}
