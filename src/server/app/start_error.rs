//! Errors of start-up. Not here: finding them.

use super::completeness::MissingService;
use crate::{domain::OpenError, faces::grpc::ServiceError};
use toolwire_base::files::Problems;

/// The service cannot start: everything that is wrong, at once.
#[derive(Debug, Default, thiserror::Error)]
#[error("{}", self.lines().join("\n"))]
pub struct StartError {
    /// What is wrong with the manifests, or with the descriptors they are checked against.
    pub manifests: Option<Problems>,
    /// Why domains cannot be opened, or not beside each other.
    pub domains: Vec<OpenError>,
    /// Why services cannot be served.
    pub services: Vec<ServiceError>,
    /// What tools need and do not find.
    pub missing: Vec<MissingService>,
}

impl StartError {
    pub(super) fn of(error: impl Into<OpenError>) -> Self {
        Self { domains: vec![error.into()], ..Self::default() }
    }

    fn lines(&self) -> Vec<String> {
        let manifests = self.manifests.iter().map(ToString::to_string);
        manifests.chain(self.beside_manifests()).collect()
    }

    /// What is wrong beside the manifests, one line each.
    pub fn beside_manifests(&self) -> Vec<String> {
        let domains = self.domains.iter().map(ToString::to_string);
        let services = self.services.iter().map(ToString::to_string);
        let missing = self.missing.iter().map(ToString::to_string);
        domains.chain(services).chain(missing).collect()
    }
}
