//! Rules as they follow from descriptors and exceptions, over toy services.

use prost_reflect::ServiceDescriptor;
use prost_types::{FileDescriptorProto, MethodDescriptorProto, ServiceDescriptorProto};
use tonic_health::{pb::health_server::HealthServer, server::HealthService};

use super::*;
use toolwire_transport::rules::{Access, Lifetime, Pool};

/// `toys.v1.ToyService` with the methods `Play` and `Watch`.
fn toys() -> DescriptorPool {
    let message =
        |name: &str| prost_types::DescriptorProto { name: Some(name.to_owned()), ..Default::default() };
    let method = |name: &str| MethodDescriptorProto {
        name: Some(name.to_owned()),
        input_type: Some(".toys.v1.Toy".to_owned()),
        output_type: Some(".toys.v1.Toy".to_owned()),
        ..Default::default()
    };
    let service = ServiceDescriptorProto {
        name: Some("ToyService".to_owned()),
        method: ["Play", "Watch"].map(method).into(),
        ..Default::default()
    };
    let file = FileDescriptorProto {
        name: Some("toys.proto".to_owned()),
        package: Some("toys.v1".to_owned()),
        message_type: vec![message("Toy")],
        service: vec![service],
        syntax: Some("proto3".to_owned()),
        ..Default::default()
    };
    let mut pool = toolwire_contract::descriptors::pool([]).unwrap();
    pool.add_file_descriptor_proto(file).unwrap();
    pool
}

/// A service of the given name; what answers does not matter.
fn named(name: &'static str) -> Service {
    let health = Service::new(|_| {
        HealthServer::new(HealthService::from_health_reporter(tonic_health::server::HealthReporter::new()))
    });
    health.named(name)
}

fn toy_service() -> Service {
    named("toys.v1.ToyService")
}

#[track_caller]
fn errors(offered: Vec<(&'static str, Service)>) -> Vec<String> {
    let errors = GrpcServices::new(&toys(), offered, true).unwrap_err();
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn every_method_of_every_registered_service_has_a_rule_and_no_other_method_has() {
    let services = GrpcServices::new(&toys(), [("toys", toy_service())], true).unwrap();
    let names: Vec<_> = services.names().collect();
    let methods: BTreeSet<_> = services.rules().iter().map(|(name, _)| name.to_owned()).collect();
    assert!(names.contains(&"toys.v1.ToyService") && methods.contains("grpc.health.v1.Health/Check"));
    let of = |service: &'static str| -> Vec<String> {
        let descriptor = toys().get_service_by_name(service);
        let methods = descriptor.iter().flat_map(ServiceDescriptor::methods);
        methods.map(|method| format!("{service}/{}", method.name())).collect()
    };
    let is_own = |method: &String| !method.starts_with("grpc.");
    let expected: BTreeSet<_> = names.iter().copied().flat_map(of).filter(is_own).collect();
    assert_eq!(methods.into_iter().filter(is_own).collect::<BTreeSet<_>>(), expected);
    let without = GrpcServices::new(&toys(), [], false).unwrap();
    assert_eq!(without.names().collect::<Vec<_>>(), names[..8]);
    assert!(without.rules().find("/toys.v1.ToyService/Play").is_none());
}

#[test]
fn only_health_is_public_and_only_watches_are_uncapped() {
    let watched = Rule::WATCH;
    let offered = [("toys", toy_service().except("Watch", watched))];
    let services = GrpcServices::new(&toys(), offered, true).unwrap();
    for (method, rule) in services.rules().iter() {
        assert_eq!(rule.access == Access::Public, method.starts_with("grpc.health.v1."), "{method}");
        let (_, short) = method.split_once('/').unwrap();
        let is_watch = short.starts_with("Watch") || short == "ServerReflectionInfo";
        assert_eq!(rule.lifetime == Lifetime::Uncapped, is_watch, "{method}");
        let is_transfer = matches!(short, "PutDocument" | "GetDocument");
        assert_eq!(rule.lifetime == Lifetime::Transfer, is_transfer, "{method}");
        let is_free = matches!(short, "CancelCall" | "Check");
        assert_eq!(rule.pool == Pool::Free, is_free, "{method}");
    }
}

#[test]
fn an_exception_for_a_method_that_does_not_exist_is_refused_with_those_that_do() {
    let expected = "toys gives a rule for toys.v1.ToyService/Wach, but there is no such method; write one of Play, Watch";
    assert_eq!(errors(vec![("toys", toy_service().except("Wach", Rule::USER))]), [expected]);
}

#[test]
fn a_service_that_two_domains_offer_is_refused_with_both_names() {
    let expected = "both toys and games offer the gRPC service toys.v1.ToyService; rename one of the two";
    assert_eq!(errors(vec![("toys", toy_service()), ("games", toy_service())]), [expected]);
    let expected =
        "both the platform and games offer the gRPC service toolwire.v1.ToolService; rename one of the two";
    assert_eq!(errors(vec![("games", named("toolwire.v1.ToolService"))]), [expected]);
}

#[test]
fn a_service_without_a_descriptor_is_refused() {
    let expected = "games offers the gRPC service games.v1.GameService, but its descriptor set does not have it; \
         add the service's .proto file to the set";
    assert_eq!(errors(vec![("games", named("games.v1.GameService"))]), [expected]);
}
