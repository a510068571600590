//! The watch-list as tools reach it: state, not HTTP, so there is no connector.

use std::sync::Arc;

use crate::store::tables::Tables;
use toolwire_sources::upstream::now::Now;

/// Every user's watch-list, as a service of the context.
#[derive(Clone, Debug)]
pub struct UserWatchlists {
    pub lists: Arc<Tables>,
    /// The clock of the source that the prices in them are from.
    pub prices: Now,
}
