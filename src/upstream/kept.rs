//! Something fetched once and shared by all calls until the source refuses it: a cookie, a crumb.
//!
//! Not here: what it is, and how a refusal looks.

use std::sync::Arc;

use tokio::sync::Mutex;

use super::http::Failure;

/// The kept thing. Whoever comes while it is being fetched waits for it.
#[derive(Debug)]
pub struct Kept<T>(Mutex<Option<Arc<T>>>);

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Kept<T> {
    /// The kept thing, or else a new one.
    pub async fn get(&self, fetch: impl Future<Output = Result<T, Failure>>) -> Result<Arc<T>, Failure> {
        let mut kept = self.0.lock().await;
        if let Some(thing) = &*kept {
            return Ok(Arc::clone(thing));
        }
        let fresh = Arc::new(fetch.await?);
        *kept = Some(Arc::clone(&fresh));
        Ok(fresh)
    }

    /// Another than the one that was refused. Somebody else may have fetched it meanwhile.
    pub async fn renew(
        &self,
        refused: &Arc<T>,
        fetch: impl Future<Output = Result<T, Failure>>,
    ) -> Result<Arc<T>, Failure> {
        let mut kept = self.0.lock().await;
        if kept.as_ref().is_some_and(|thing| Arc::ptr_eq(thing, refused)) {
            *kept = None;
        }
        drop(kept);
        self.get(fetch).await
    }
}
