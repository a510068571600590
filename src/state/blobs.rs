//! Blobs, addressed by their SHA-256: small ones in their row, others in files or in chunks, streamed in and out.
//!
//! A crash leaves at most blobs without a reference, which the sweep deletes; never a reference without its blob. Not
//! here: the rows that reference blobs.

mod chunks;
mod files;
mod pins;
pub(crate) mod rows;
mod sink;
mod source;

pub use self::{
    chunks::Chunks,
    files::Files,
    pins::{Pin, Pins},
    sink::{MAX_INLINE_BYTES, Place, Sink, Stored},
    source::{CHUNK, ReadError, Source},
};

/// The number of blobs that a sweep deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Files of writes that did not finish.
    pub unfinished: usize,
    /// Files that no row references.
    pub orphans: usize,
    /// Rows that nothing references.
    pub rows: usize,
}
