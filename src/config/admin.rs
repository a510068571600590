//! Settings of the admin endpoint.

use std::net::SocketAddr;

use super::{reader::Reader, settings::settings};

settings! {
    /// The admin endpoint, plain HTTP for operators: `[admin]`.
    ///
    /// It asks for no credentials. What it tells holds no data of users, so an address that other machines reach is
    /// allowed; it has to be named to be taken.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Admin in "admin" {
        /// Where to listen; port 0 takes a free one. Without an address there is no endpoint, and there are no metrics
        /// for Prometheus.
        listen: Option<SocketAddr> = None, "TOOLWIRE_ADMIN", "--admin", as Reader::optional;
    }
}
