//! The types generated from the platform's package, and the descriptors they came from. Not here: those of domains.

use std::sync::LazyLock;

use prost_reflect::DescriptorPool;

/// The encoded `FileDescriptorSet` of the platform's package and what it imports, comments included.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/toolwire.binpb"));

/// What the generated types take their descriptors from.
static POOL: LazyLock<DescriptorPool> =
    LazyLock::new(|| DescriptorPool::decode(DESCRIPTORS).expect("build.rs wrote a valid descriptor set"));

/// The envelope: tools, calls, results (`toolwire.v1`).
#[allow(clippy::pedantic, missing_docs, unreachable_pub, reason = "generated")]
pub mod v1 {
    tonic::include_proto!("toolwire.v1");
}
