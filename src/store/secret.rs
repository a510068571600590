//! What only this service and the others over the same state know.

use futures_util::future::BoxFuture;

use super::StoreError;
use toolwire_base::digest::Digest;

/// Keeps a secret, the same each time, which nobody outside the store can foresee.
pub trait Secret {
    /// The one that tokens of pages are sealed with.
    fn page_secret(&self) -> BoxFuture<'_, Result<Digest, StoreError>>;
}
