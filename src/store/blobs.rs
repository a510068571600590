//! Bytes by their SHA-256: small ones in the database, others in files beside it, streamed in and out.
//!
//! A crash leaves at most bytes that nothing names, which the sweep takes; never a name without bytes. Not here: what
//! names them.

mod files;
mod pins;
mod sink;
mod source;

use std::time::SystemTime;

use futures_util::future::BoxFuture;

pub use self::{
    files::Files,
    pins::{Pin, Pins},
    sink::{SMALL, Sink, Stored},
    source::{CHUNK, ReadError, Source},
};
use super::StoreError;
use toolwire_base::digest::Digest;

/// What a sweep took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Files of writes that never ended.
    pub unfinished: usize,
    /// Files that no row names.
    pub orphans: usize,
    /// Rows that nothing names.
    pub rows: usize,
}

/// Keeps bytes.
pub trait Blobs: Send + Sync + std::fmt::Debug {
    /// Takes bytes in. Nothing is kept before a row names them.
    fn begin(&self) -> BoxFuture<'_, Result<Sink, StoreError>>;

    /// Bytes from an offset on; `None` if there are none of this digest.
    fn open<'a>(&'a self, digest: &'a Digest, from: u64) -> BoxFuture<'a, Result<Option<Source>, ReadError>>;

    /// Bytes that came, though nothing names them yet.
    fn reopen<'a>(&'a self, stored: &'a Stored) -> BoxFuture<'a, Result<Source, ReadError>>;

    /// Takes away bytes that came and are not named after all, unless something else names or keeps them.
    fn discard(&self, stored: Stored) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Takes away what nothing names any more.
    fn sweep(&self, now: SystemTime) -> BoxFuture<'_, Result<Swept, StoreError>>;
}
