//! The users' watch-lists, as tools reach them. State of the service, not a source over HTTP.

use std::sync::Arc;

use crate::store::watchlist::Watchlists;

/// Every user's watch-list; each call sees its own user's only.
#[derive(Clone, Debug)]
pub struct UserWatchlists(pub Arc<dyn Watchlists>);
