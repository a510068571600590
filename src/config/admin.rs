//! Settings of the admin endpoint.

use std::net::SocketAddr;

use serde::{Deserialize, Deserializer, Serialize};

use super::{server, setting::Setting};

/// The admin endpoint, plain HTTP for operators: `[admin]`.
///
/// It asks for no credentials. What it tells holds no data of users, so an address that other machines reach is allowed;
/// it has to be named to be taken.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Admin {
    /// Where to listen; port 0 takes a free one. `--admin`, `TOOLWIRE_ADMIN`, default none: no endpoint and no metrics
    /// for Prometheus.
    #[serde(deserialize_with = "address")]
    pub listen: Option<SocketAddr>,
}

pub(super) const SETTINGS: &[Setting] = &[Setting::new("admin.listen", "TOOLWIRE_ADMIN").flag("--admin")];

fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SocketAddr>, D::Error> {
    server::address(deserializer).map(Some)
}
