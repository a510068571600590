//! Settings of the admin endpoint.

use std::net::SocketAddr;

use super::{reader::Reader, setting::Setting};

/// The admin endpoint, plain HTTP for operators: `[admin]`.
///
/// It asks for no credentials. What it tells holds no data of users, so an address that other machines reach is
/// allowed; it has to be named to be taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Admin {
    /// Where to listen; port 0 takes a free one. `--admin`, `TOOLWIRE_ADMIN`, default none: no endpoint and no metrics
    /// for Prometheus.
    pub listen: Option<SocketAddr>,
}

impl Admin {
    pub(super) fn read(reader: &mut Reader) -> Self {
        let listen = Setting::new("admin.listen", "TOOLWIRE_ADMIN").flag("--admin");
        Self { listen: reader.optional(listen, None) }
    }
}
