//! `grpc.health.v1.Health`: whether the server and each of its services take calls. Public: load balancers and
//! orchestrators have no credentials.

use std::{fmt, sync::Arc};

use tokio::sync::Mutex;
use tonic_health::{
    pb,
    server::{HealthReporter, HealthService},
};

use super::service::{COMPRESSION, Service};
use crate::faces::transport::rules::{Access, Lifetime, Pool, Rule};

/// What describes the service.
pub(super) const DESCRIPTORS: &[u8] = pb::FILE_DESCRIPTOR_SET;

/// Stands for the server as a whole.
const SERVER: &str = "";

/// What is said of the services.
#[derive(Clone)]
pub(super) struct Health {
    reporter: HealthReporter,
    standing: Arc<Mutex<Readiness>>,
}

/// What keeps the server from taking calls.
#[derive(Debug, Default)]
pub(super) struct Readiness {
    pub(super) draining: bool,
    /// Something that calls need is missing, for now.
    pub(super) impaired: bool,
}

impl Health {
    /// Nothing is said yet.
    pub(super) fn new() -> Self {
        Self { reporter: HealthReporter::new(), standing: Arc::default() }
    }

    pub(super) fn service(&self) -> Service {
        let reporter = self.reporter.clone();
        let public = Rule { access: Access::Public, pool: Pool::Free, ..Rule::USER };
        Service::new(move |_| {
            pb::health_server::HealthServer::new(HealthService::from_health_reporter(reporter.clone()))
                .accept_compressed(COMPRESSION)
                .send_compressed(COMPRESSION)
        })
        .except("Check", public)
        .except("Watch", Rule { lifetime: Lifetime::Uncapped, pool: Pool::Health, ..public })
    }

    /// Says of the server and of each service whether it takes calls after a change.
    pub(super) async fn tell(
        &self,
        services: impl Iterator<Item = &'static str>,
        change: impl FnOnce(&mut Readiness),
    ) {
        use tonic_health::ServingStatus::{NotServing, Serving};
        // Held until every watcher is notified, so that of two changes the later one arrives last.
        let mut standing = self.standing.lock().await;
        change(&mut standing);
        let status = if standing.draining || standing.impaired { NotServing } else { Serving };
        for service in services.chain([SERVER]) {
            self.reporter.set_service_status(service, status).await;
        }
    }
}

impl fmt::Debug for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Health").finish_non_exhaustive()
    }
}
