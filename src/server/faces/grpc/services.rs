//! All gRPC services as one: their rules, derived from the descriptors, and the errors in them.

use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
    future::pending,
};

use prost_reflect::{DescriptorPool, MethodDescriptor};
use prost_types::method_options::IdempotencyLevel;
use tokio::sync::watch;

use super::{
    audit, confirmation,
    face::Face,
    health::{self, Health},
    host, provider, reflection,
    routes::Routes,
    service::Service,
    task, tool_service, workspace,
};
use crate::faces::readiness::Readiness;
use toolwire_transport::rules::{Messages, Rule, Rules};

/// The name under which the services of the platform are registered.
const PLATFORM: &str = "the platform";

/// All services that are served, checked.
#[derive(Clone, Debug)]
pub struct GrpcServices {
    all: Vec<Service>,
    /// The names of those that have a method with side effects.
    writing: BTreeSet<&'static str>,
    rules: Rules,
    health: Health,
}

/// A service cannot be served.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServiceError {
    /// Two owners offer a service of one name.
    #[error("both {first} and {second} offer the gRPC service {service}; rename one of the two")]
    Twice {
        /// The service's full name.
        service: &'static str,
        first: String,
        /// The other owner.
        second: String,
    },
    /// No descriptor set has the service.
    #[error(
        "{owner} offers the gRPC service {service}, but its descriptor set does not have it; add the service's .proto file to the set"
    )]
    Undescribed {
        /// The service's full name.
        service: &'static str,
        owner: String,
    },
    /// A rule is for a method that the service does not have.
    #[error(
        "{owner} gives a rule for {service}/{method}, but there is no such method; write one of {methods}"
    )]
    UnknownMethod {
        /// The service's full name.
        service: &'static str,
        method: &'static str,
        owner: String,
        methods: String,
    },
}

impl GrpcServices {
    /// The services of the platform, and those of domains with the names of their owners. `descriptors` describe all of
    /// them. Returns every error, not only the first.
    pub fn new<'a>(
        descriptors: &DescriptorPool,
        offered: impl IntoIterator<Item = (&'a str, Service)>,
        with_reflection: bool,
    ) -> Result<Self, Vec<ServiceError>> {
        let health = Health::new();
        let platform = [
            tool_service::service(),
            audit::service(),
            confirmation::service(),
            host::service(),
            provider::service(),
            task::service(),
            workspace::service(),
            health.service(),
        ]
        .map(|service| (PLATFORM, service));
        let mut all: Vec<_> = platform.into_iter().chain(offered).collect();
        if with_reflection {
            let names = all.iter().map(|(_, service)| service.name());
            let reflection = reflection::services(descriptors, &names.collect::<Vec<_>>());
            all.extend(reflection.map(|service| (PLATFORM, service)));
        }
        let rules = rules(&[descriptors, &standard()], &all)?;
        let all: Vec<_> = all.into_iter().map(|(_, service)| service).collect();
        let writing = all.iter().map(Service::name).filter(|name| writes(descriptors, name)).collect();
        Ok(Self { all, writing, rules, health })
    }

    /// Every service, in the order in which it was registered.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.all.iter().map(Service::name)
    }

    /// The rules of every method.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The services behind one dispatcher, to be served or called within the process.
    pub fn routes(&self, face: &Face) -> Routes {
        self.all.iter().map(|service| (service.name(), service.route(face))).collect()
    }

    /// Reports the server and each service as no longer serving.
    pub(super) async fn drain(&self) {
        self.health.update(self.writers(), |reasons| reasons.draining = true).await;
    }

    /// Every service, and whether it writes.
    fn writers(&self) -> impl Iterator<Item = (&'static str, bool)> {
        self.names().map(|name| (name, self.writing.contains(name)))
    }

    /// Reports the server and each service as serving by what `ready` says, for as long as it is polled.
    pub(super) async fn follow(&self, mut ready: watch::Receiver<Readiness>) -> Infallible {
        loop {
            let state = *ready.borrow_and_update();
            self.health.update(self.writers(), |reasons| reasons.state = state).await;
            if ready.changed().await.is_err() {
                return pending().await;
            }
        }
    }
}

/// Whether a service has a method that is not free of side effects.
fn writes(descriptors: &DescriptorPool, service: &str) -> bool {
    let service = descriptors.get_service_by_name(service);
    let has_effects = |method: MethodDescriptor| {
        let options = method.method_descriptor_proto().options.as_ref();
        options.is_none_or(|it| it.idempotency_level() != IdempotencyLevel::NoSideEffects)
    };
    service.is_some_and(|service| service.methods().any(has_effects))
}

/// Health and reflection. Not added to the others, which would be copied for it.
fn standard() -> DescriptorPool {
    let mut pool = DescriptorPool::new();
    for set in reflection::DESCRIPTORS.into_iter().chain([health::DESCRIPTORS]) {
        pool.decode_file_descriptor_set(set).expect("the crate's descriptor set is valid");
    }
    pool
}

fn rules(descriptors: &[&DescriptorPool], all: &[(&str, Service)]) -> Result<Rules, Vec<ServiceError>> {
    let (mut rules, mut errors) = (Vec::new(), twice(all));
    for (owner, service) in all {
        match rules_of(descriptors, owner, service) {
            Ok(of_service) => rules.extend(of_service),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(rules.into_iter().collect()) } else { Err(errors) }
}

fn twice(all: &[(&str, Service)]) -> Vec<ServiceError> {
    let mut owners = BTreeMap::new();
    let again = |(owner, service): &(&str, Service)| {
        let (service, second) = (service.name(), (*owner).to_owned());
        let first = owners.insert(service, second.clone())?;
        Some(ServiceError::Twice { service, first, second })
    };
    all.iter().filter_map(again).collect()
}

/// A rule for each method of a service, by the method's full name.
fn rules_of(
    descriptors: &[&DescriptorPool],
    owner: &str,
    service: &Service,
) -> Result<Vec<(String, Rule)>, ServiceError> {
    let (name, owner) = (service.name(), owner.to_owned());
    let Some(described) = descriptors.iter().find_map(|pool| pool.get_service_by_name(name)) else {
        return Err(ServiceError::Undescribed { service: name, owner });
    };
    let methods: BTreeSet<_> = described.methods().map(|method| method.name().to_owned()).collect();
    let exceptions: BTreeMap<_, _> = service.exceptions().iter().copied().collect();
    if let Some(method) = exceptions.keys().find(|method| !methods.contains(**method)) {
        let methods = Vec::from_iter(methods).join(", ");
        return Err(ServiceError::UnknownMethod { service: name, method, owner, methods });
    }
    let rule = |method: MethodDescriptor| {
        let rule = exceptions.get(method.name()).copied().unwrap_or(Rule::USER);
        let messages = if method.is_client_streaming() { Messages::Many } else { Messages::One };
        (format!("{name}/{}", method.name()), Rule { messages, ..rule })
    };
    Ok(described.methods().map(rule).collect())
}

#[cfg(test)]
mod tests;
