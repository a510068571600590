//! Early checks of a write, before its bytes are received. All of them are repeated when it is written.

use super::{replay, write::check};
use crate::{
    Store,
    documents::{
        Change, MAX_DOCUMENT_BYTES, MAX_DOCUMENTS, MAX_TREE_BYTES, MAX_USER_BYTES, Quota, Refused,
        RemainingBytes,
        rows::{self as documents, workspaces},
    },
};
use toolwire_db::StoreError;
use toolwire_tool::context::RequestId;

impl Store {
    /// The remaining quota for a version, or why it will be refused. A request that may be a repeat passes.
    pub async fn precheck_document(
        &self,
        change: &Change,
        request_id: Option<RequestId>,
    ) -> Result<Result<RemainingBytes, Refused>, StoreError> {
        let precheck = async {
            let mut reader = self.reader_for(&change.user).await?;
            if let Some(request_id) = request_id
                && replay::find_answer(&change.user, request_id, self.now())
                    .optional(&mut reader)
                    .await?
                    .is_some()
            {
                return Ok(Ok(RemainingBytes { tree: MAX_DOCUMENT_BYTES, user: MAX_USER_BYTES }));
            }
            let found = documents::find(&change.root, &change.path).optional(&mut reader).await?;
            if let Err(refused) = check(found.as_ref(), &change.expected) {
                return Ok(Err(refused));
            }
            let usage = workspaces::usage(&change.root, &change.user).one(&mut reader).await?;
            if found.is_none() && usage.tree_documents >= MAX_DOCUMENTS {
                return Ok(Err(Refused::Full(Quota::Documents)));
            }
            Ok(Ok(RemainingBytes {
                tree: MAX_TREE_BYTES.saturating_sub(usage.tree_bytes),
                user: MAX_USER_BYTES.saturating_sub(usage.user_bytes),
            }))
        };
        self.explain(precheck.await)
    }
}
