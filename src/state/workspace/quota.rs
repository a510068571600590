//! Refusals by quotas: whose quota it is, and how to free some.

use crate::documents::{
    MAX_DOCUMENT_BYTES, MAX_DOCUMENTS, MAX_TREE_BYTES, MAX_USER_BYTES, MAX_VERSIONS, Quota, Tree,
};
use toolwire_contract::DocumentRefusal;

pub(super) fn exceeded(full: Quota, tree: &Tree, path: &str) -> DocumentRefusal {
    let workspace = format!("workspace:{}", tree.root);
    let mib = |bytes: u64| bytes >> 20;
    let (subject, what) = match full {
        Quota::Documents => (
            workspace,
            format!(
                "a workspace has at most {MAX_DOCUMENTS} documents, deleted ones among them; begin another tree"
            ),
        ),
        Quota::TreeBytes => (
            workspace,
            format!(
                "a workspace has at most {} MiB, all versions together; begin another tree",
                mib(MAX_TREE_BYTES)
            ),
        ),
        Quota::UserBytes => (
            format!("user:{}", tree.user),
            format!(
                "the workspaces of a user have at most {} MiB together; delete trees that are over",
                mib(MAX_USER_BYTES)
            ),
        ),
        Quota::Versions => (
            format!("document:{path}"),
            format!("a document has at most {MAX_VERSIONS} versions; write to another path"),
        ),
    };
    DocumentRefusal::QuotaExceeded { subject, what }
}

pub(super) fn too_large(path: &str) -> DocumentRefusal {
    let what = format!("a document has at most {} MiB; write it in parts", MAX_DOCUMENT_BYTES >> 20);
    DocumentRefusal::QuotaExceeded { subject: format!("document:{path}"), what }
}
