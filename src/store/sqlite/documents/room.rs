//! How much room there is for a version, before its bytes come. What was said then is checked again when it is written.

use super::{quota, repeats, standing, write::check};
use crate::{
    documents::{
        Change as Changed, Free, MAX_DOCUMENT_BYTES, MAX_DOCUMENTS, MAX_TREE_BYTES, MAX_USER_BYTES,
        MAX_VERSIONS, Quota, Refused,
    },
    sqlite::{Failed, Sqlite},
};
use toolwire_tool::context::RequestId;

impl Sqlite {
    pub(super) async fn room_for(
        &self,
        change: &Changed,
        request_id: Option<RequestId>,
    ) -> Result<Result<Free, Refused>, Failed> {
        let mut reading = self.reading(&change.user).await?;
        if let Some(request_id) = request_id
            && repeats::is_known(&mut reading, &change.user, request_id, change.now).await?
        {
            return Ok(Ok(Free { tree: MAX_DOCUMENT_BYTES, user: MAX_USER_BYTES }));
        }
        let found = standing::find(&mut reading, &change.root, &change.path).await?;
        if let Err(refused) = check(found.as_ref(), &change.expected) {
            return Ok(Err(refused));
        }
        if found.as_ref().is_some_and(|it| it.document.version >= MAX_VERSIONS) {
            return Ok(Err(Refused::Full(Quota::Versions)));
        }
        let used = quota::used(&mut reading, &change.root, &change.user).await?;
        if found.is_none() && used.documents >= MAX_DOCUMENTS {
            return Ok(Err(Refused::Full(Quota::Documents)));
        }
        Ok(Ok(Free {
            tree: MAX_TREE_BYTES.saturating_sub(used.tree),
            user: MAX_USER_BYTES.saturating_sub(used.user),
        }))
    }
}
