//! The messages of the toys, as a team's own code generation would write them, and the descriptors they came from.

use std::{path::Path, sync::LazyLock};

use prost_reflect::{DescriptorPool, ReflectMessage};
use toolwire::contract::proto::v1::Provenance;

/// The encoded `FileDescriptorSet` of the toys' proto and what it imports.
pub(crate) static DESCRIPTORS: LazyLock<Vec<u8>> = LazyLock::new(|| compiled("toy/v1/toy.proto"));

static POOL: LazyLock<DescriptorPool> =
    LazyLock::new(|| DescriptorPool::decode(DESCRIPTORS.as_slice()).expect("protox wrote it"));

/// The encoded set of a file of the test and what it imports, with comments.
pub(crate) fn compiled(file: &str) -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let includes = [root.join("tests/foreign_domain/proto"), root.join("proto")];
    let mut compiler = protox::Compiler::new(includes).expect("there are the folders");
    compiler.include_imports(true).include_source_info(true).open_file(file).expect("it compiles");
    compiler.encode_file_descriptor_set()
}

#[derive(Clone, PartialEq, prost::Message, ReflectMessage)]
#[prost_reflect(descriptor_pool = "POOL", message_name = "toy.v1.StackBlocksRequest")]
pub(crate) struct StackBlocksRequest {
    #[prost(int32, optional, tag = "1")]
    pub(crate) count: Option<i32>,
}

#[derive(Clone, PartialEq, prost::Message, ReflectMessage)]
#[prost_reflect(descriptor_pool = "POOL", message_name = "toy.v1.StackBlocksOutput")]
pub(crate) struct StackBlocksOutput {
    #[prost(int32, tag = "1")]
    pub(crate) height_cm: i32,
}

#[derive(Clone, PartialEq, prost::Message, ReflectMessage)]
#[prost_reflect(descriptor_pool = "POOL", message_name = "toy.v1.StackBlocksResponse")]
pub(crate) struct StackBlocksResponse {
    #[prost(message, optional, tag = "1")]
    pub(crate) data: Option<StackBlocksOutput>,
    #[prost(message, optional, tag = "2")]
    pub(crate) provenance: Option<Provenance>,
}

#[derive(Clone, PartialEq, prost::Message, ReflectMessage)]
#[prost_reflect(descriptor_pool = "POOL", message_name = "toy.v1.ListToysRequest")]
pub(crate) struct ListToysRequest {}

#[derive(Clone, PartialEq, prost::Message, ReflectMessage)]
#[prost_reflect(descriptor_pool = "POOL", message_name = "toy.v1.ListToysOutput")]
pub(crate) struct ListToysOutput {
    #[prost(string, repeated, tag = "1")]
    pub(crate) toys: Vec<String>,
}

#[derive(Clone, PartialEq, prost::Message, ReflectMessage)]
#[prost_reflect(descriptor_pool = "POOL", message_name = "toy.v1.ListToysResponse")]
pub(crate) struct ListToysResponse {
    #[prost(message, optional, tag = "1")]
    pub(crate) data: Option<ListToysOutput>,
    #[prost(message, optional, tag = "2")]
    pub(crate) provenance: Option<Provenance>,
}
