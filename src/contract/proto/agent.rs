//! The package `toolwire.agent.v1`: conversations, the events of their turns, and what answers are made from.

// What the generated types take their descriptors from.
use super::POOL;

/// The encoded `FileDescriptorSet` of the package and what it imports, comments included.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/toolwire.agent.binpb"));

/// Version 1.
#[allow(clippy::large_enum_variant, clippy::pedantic, unreachable_pub, reason = "generated")]
pub mod v1 {
    tonic::include_proto!("toolwire.agent.v1");
}
