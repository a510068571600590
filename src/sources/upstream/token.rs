//! Tokens of sources, such as cookies and crumbs: fetched once and shared by all calls until the source refuses them.
//!
//! Not here: what a token is, how long it lasts, and what a refusal looks like, which each connector knows.

use std::sync::Arc;

use tokio::sync::Mutex;

use super::http::Failure;

/// The token of a source. While it is fetched, all callers wait for the one fetch.
#[derive(Debug)]
pub struct SharedToken<T>(Mutex<Option<Arc<T>>>);

impl<T> Default for SharedToken<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> SharedToken<T> {
    /// The present token, or else a new one.
    pub async fn get(&self, fetch: impl Future<Output = Result<T, Failure>>) -> Result<Arc<T>, Failure> {
        let mut present = self.0.lock().await;
        if let Some(token) = &*present {
            return Ok(Arc::clone(token));
        }
        let token = Arc::new(fetch.await?);
        *present = Some(Arc::clone(&token));
        Ok(token)
    }

    /// Another token than the one that was refused. Another call may have fetched it meanwhile.
    pub async fn renew(
        &self,
        refused: &Arc<T>,
        fetch: impl Future<Output = Result<T, Failure>>,
    ) -> Result<Arc<T>, Failure> {
        let mut present = self.0.lock().await;
        if present.as_ref().is_some_and(|token| Arc::ptr_eq(token, refused)) {
            *present = None;
        }
        drop(present);
        self.get(fetch).await
    }
}
