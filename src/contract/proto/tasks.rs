//! The package `toolwire.tasks.v1`: trees of tasks, their timelines, and what a model is shown of them.

use std::sync::LazyLock;

use prost_reflect::DescriptorPool;

use crate::descriptor_set;

/// The encoded `FileDescriptorSet` of the package and what it imports, comments included.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/toolwire.tasks.binpb"));

/// What the generated types take their descriptors from.
static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| descriptor_set::of_types(DESCRIPTORS));

/// Version 1.
#[allow(clippy::large_enum_variant, clippy::pedantic, unreachable_pub, reason = "generated")]
pub mod v1 {
    tonic::include_proto!("toolwire.tasks.v1");
}
