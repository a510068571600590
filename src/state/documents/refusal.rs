//! Refusals of document writes.

/// Why a write was refused. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// There is no such document.
    Unknown,
    /// It was deleted by this version.
    Deleted(u32),
    /// The precondition requires a document, and there is none.
    Absent,
    /// The precondition requires that there is none; the existing one has this etag.
    Exists(String),
    /// The precondition requires another etag; the current one is this.
    Stale(String),
    /// A quota is exceeded.
    Full(Quota),
    /// The `request_id` was used for another request.
    Reused,
    /// The referenced bytes have been deleted, so they must be uploaded again.
    BytesGone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quota {
    Documents,
    TreeBytes,
    UserBytes,
    Versions,
}
