//! An export that readers share. Not here: making it (`export`).

use toolwire_base::digest::Digest;
use toolwire_engine::exports::Export;

/// An export that others may read, too.
#[derive(Debug)]
pub struct Exported {
    /// What the provider takes.
    pub export: Export,
    /// Tells it from any other.
    pub digest: Digest,
}
