//! The diagnostics package: the payloads of its tools, generated, and the descriptors they came from.

use std::sync::LazyLock;

use prost_reflect::DescriptorPool;

use toolwire_contract::descriptor_set;

/// The encoded `FileDescriptorSet` of the package and what it imports, comments included.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/toolwire.diagnostics.binpb"));

/// What the generated types take their descriptors from.
static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| descriptor_set::of_types(DESCRIPTORS));

/// Version 1.
#[allow(clippy::pedantic, unreachable_pub, reason = "generated")]
pub mod v1 {
    tonic::include_proto!("toolwire.diagnostics.v1");
}
