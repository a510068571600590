//! Kept results, for the tool that reads on in them. Not here: which results are kept (`pipeline::keep`).

use std::sync::Arc;

use toolwire_db::StoreError;
use toolwire_state::{Store, kept_results::KeptResult};
use toolwire_tool::context::{CallId, UserId};

/// Finds kept results. Cheap to clone.
#[derive(Clone, Debug)]
pub struct KeptResults(Arc<Store>);

impl KeptResults {
    pub fn new(store: &Arc<Store>) -> Self {
        Self(Arc::clone(store))
    }

    /// The result of a user's call, if it is kept.
    pub async fn find(&self, user: &UserId, call_id: CallId) -> Result<Option<KeptResult>, StoreError> {
        self.0.kept_result(user, call_id).await
    }
}
