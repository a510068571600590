//! The package `toolwire.workspace.v1`: the documents that the tasks of a tree share.

// What the generated types take their descriptors from.
use super::POOL;

/// The encoded `FileDescriptorSet` of the package and what it imports, comments included.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/toolwire.workspace.binpb"));

/// Version 1.
#[allow(clippy::large_enum_variant, clippy::pedantic, unreachable_pub, reason = "generated")]
pub mod v1 {
    tonic::include_proto!("toolwire.workspace.v1");
}
