//! The watch-list as tools reach it: state, not HTTP, so there is no connector.

use std::sync::Arc;

use crate::domains::research::store::watchlist::Watchlists;

/// Every user's watch-list, as a service of the context.
#[derive(Clone, Debug)]
pub struct UserWatchlists(pub Arc<dyn Watchlists>);
