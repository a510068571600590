//! The types generated from the platform's packages, and the descriptors they came from. Not here: those of domains.

pub mod agent;
pub mod host;
pub mod tasks;
pub mod workspace;

use std::sync::LazyLock;

use prost_reflect::DescriptorPool;

use crate::descriptor_set;

/// The encoded `FileDescriptorSet` of the package `toolwire.v1` and what it imports, comments included.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/toolwire.binpb"));

/// The descriptor sets of all the platform's packages, each complete in itself.
pub const ALL_DESCRIPTORS: [&[u8]; 5] =
    [DESCRIPTORS, agent::DESCRIPTORS, host::DESCRIPTORS, tasks::DESCRIPTORS, workspace::DESCRIPTORS];

/// The descriptors of all the platform's packages, comments included, from which the generated types take theirs.
pub static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| descriptor_set::union(&ALL_DESCRIPTORS));

/// The envelope: tools, calls, results (`toolwire.v1`). The requests of `CallTool` and `InvokeTool` are one type.
#[allow(clippy::pedantic, unreachable_pub, reason = "generated")]
pub mod v1 {
    tonic::include_proto!("toolwire.v1");

    pub use self::{InvokeToolRequest as CallToolRequest, invoke_tool_request as call_tool_request};
}
