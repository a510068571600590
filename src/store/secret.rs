//! Secrets of a state, known only to the processes that share it.

use futures_util::future::BoxFuture;

use super::StoreError;
use toolwire_base::digest::Digest;

/// A source of stable secrets that cannot be predicted outside of the store.
pub trait Secret {
    /// The key with which page tokens are sealed.
    fn page_secret(&self) -> BoxFuture<'_, Result<Digest, StoreError>>;
}
