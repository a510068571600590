//! Bytes by their SHA-256: small ones in the database, others in files beside it, streamed in and out.
//!
//! A crash leaves at most bytes that nothing names, which the sweep takes; never a name without bytes. Not here: what
//! names them.

mod files;
mod pins;
mod sink;
mod source;

pub use self::{
    files::Files,
    pins::{Pin, Pins},
    sink::{SMALL, Sink, Stored},
    source::{CHUNK, ReadError, Source},
};

/// What a sweep deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Files of writes that never ended.
    pub unfinished: usize,
    /// Files that no row names.
    pub orphans: usize,
    /// Rows that nothing names.
    pub rows: usize,
}
