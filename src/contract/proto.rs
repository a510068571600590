//! The types generated from `proto/`, and the descriptors they came from.

use std::{fmt, sync::LazyLock};

use prost_reflect::{DescriptorPool, MessageDescriptor};

/// The encoded `FileDescriptorSet` of every file in `proto/` and what they import, comments included.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/toolwire.binpb"));

/// The envelope: tools, calls, results (`toolwire.v1`).
#[allow(clippy::pedantic, missing_docs, unreachable_pub, reason = "generated")]
pub mod v1 {
    tonic::include_proto!("toolwire.v1");
}

/// The typed brokerage service and its payloads (`toolwire.brokerage.v1`).
pub mod brokerage {
    /// Version 1.
    #[allow(clippy::pedantic, missing_docs, unreachable_pub, reason = "generated")]
    pub mod v1 {
        tonic::include_proto!("toolwire.brokerage.v1");
    }
}

/// The payloads of the diagnostics tools (`toolwire.diagnostics.v1`).
pub mod diagnostics {
    /// Version 1.
    #[allow(clippy::pedantic, missing_docs, unreachable_pub, reason = "generated")]
    pub mod v1 {
        tonic::include_proto!("toolwire.diagnostics.v1");
    }
}

/// The typed research service and its payloads (`toolwire.research.v1`).
pub mod research {
    /// Version 1.
    #[allow(clippy::pedantic, missing_docs, unreachable_pub, reason = "generated")]
    pub mod v1 {
        tonic::include_proto!("toolwire.research.v1");
    }
}

impl fmt::Debug for research::v1::SetScreenerCredentialsRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SetScreenerCredentialsRequest([redacted])")
    }
}

/// The descriptors of [`FILE_DESCRIPTOR_SET`].
pub fn descriptors() -> &'static DescriptorPool {
    static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| {
        DescriptorPool::decode(FILE_DESCRIPTOR_SET).expect("build.rs wrote a valid descriptor set")
    });
    &POOL
}

/// The descriptor of a compiled message.
pub fn descriptor_of<M: prost::Name>() -> MessageDescriptor {
    descriptors()
        .get_message_by_name(&M::full_name())
        .expect("every compiled message is in the descriptor set")
}
