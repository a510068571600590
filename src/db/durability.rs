//! What a commit survives.

/// The failures that a commit survives. Neither level can leave a damaged file or a partial transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// A power failure: the commit is synced to the disk.
    Power,
    /// A killed process, but perhaps not a power failure. The commit does not wait for the disk.
    Process,
}
