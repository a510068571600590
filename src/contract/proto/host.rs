//! The package `toolwire.host.v1`: the protocol of processes that execute tools elsewhere.

use std::sync::LazyLock;

use prost_reflect::DescriptorPool;

use crate::descriptor_set;

/// The encoded `FileDescriptorSet` of the package and what it imports, comments included.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/toolwire.host.binpb"));

/// What the generated types take their descriptors from.
static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| descriptor_set::of_types(DESCRIPTORS));

/// Version 1.
#[allow(clippy::large_enum_variant, clippy::pedantic, unreachable_pub, reason = "generated")]
pub mod v1 {
    tonic::include_proto!("toolwire.host.v1");
}
