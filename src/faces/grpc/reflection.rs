//! Server reflection, old and new, since clients in the field speak either: the registered services, and nothing else.

use prost_reflect::DescriptorPool;
use tonic_reflection::{pb, server::Builder};

use super::service::Service;
use crate::faces::transport::rules::{Pool, Rule};

/// The full names of the two.
const NAMES: [&str; 2] = ["grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"];

const METHOD: &str = "ServerReflectionInfo";

/// Both services, which tell of each other too. Their descriptors are added.
pub(super) fn services(descriptors: &mut DescriptorPool, served: &[&'static str]) -> [Service; 2] {
    const VALID: &str = "the pool was made of valid descriptor sets";
    for set in [pb::v1::FILE_DESCRIPTOR_SET, pb::v1alpha::FILE_DESCRIPTOR_SET] {
        descriptors.decode_file_descriptor_set(set).expect("the crate's descriptor set is valid");
    }
    let encoded = descriptors.encode_to_vec();
    let builder = || {
        let builder = Builder::configure()
            .register_encoded_file_descriptor_set(&encoded)
            // So that grpcurl can show the details of a status.
            .register_encoded_file_descriptor_set(tonic_types::pb::FILE_DESCRIPTOR_SET);
        served.iter().chain(&NAMES).fold(builder, |builder, name| builder.with_service_name(*name))
    };
    let (v1, v1alpha) = (builder().build_v1().expect(VALID), builder().build_v1alpha().expect(VALID));
    let watched = Rule { pool: Pool::Reflection, ..Rule::WATCH };
    [Service::new(move |_| v1.clone()), Service::new(move |_| v1alpha.clone())]
        .map(|service| service.except(METHOD, watched))
}
