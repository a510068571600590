//! The package `toolwire.tasks.v1`: trees of tasks, their timelines, and what a model is shown of them.

// What the generated types take their descriptors from.
use super::POOL;

/// The encoded `FileDescriptorSet` of the package and what it imports, comments included.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/toolwire.tasks.binpb"));

/// Version 1.
#[allow(clippy::large_enum_variant, clippy::pedantic, unreachable_pub, reason = "generated")]
pub mod v1 {
    tonic::include_proto!("toolwire.tasks.v1");
}
