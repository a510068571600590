//! The package `toolwire.workspace.v1`: the documents that the tasks of a tree share.

use std::sync::LazyLock;

use prost_reflect::DescriptorPool;

use crate::descriptor_set;

/// The encoded `FileDescriptorSet` of the package and what it imports, comments included.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/toolwire.workspace.binpb"));

/// What the generated types take their descriptors from.
static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| descriptor_set::of_types(DESCRIPTORS));

/// Version 1.
#[allow(clippy::large_enum_variant, clippy::pedantic, unreachable_pub, reason = "generated")]
pub mod v1 {
    tonic::include_proto!("toolwire.workspace.v1");
}
