//! Why a document was not written.

/// Why nothing was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// There is no such document.
    Unknown,
    /// It is deleted, by this version.
    Deleted(u32),
    /// A document must be there, and none is.
    Absent,
    /// It must not be there, and is, with this etag.
    Exists(String),
    /// Another etag is present: this one.
    Stale(String),
    /// A quota is used up.
    Full(Quota),
    /// The request's name was used for another one.
    Reused,
    /// Its bytes are not kept any more, so they must come again.
    BytesGone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quota {
    Documents,
    TreeBytes,
    UserBytes,
    Versions,
}
