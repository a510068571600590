//! `grpc.health.v1.Health`: whether the server and each of its services take calls. Public: load balancers and
//! orchestrators have no credentials.

use std::{fmt, sync::Arc};

use tokio::sync::Mutex;
use tonic_health::{
    pb,
    server::{HealthReporter, HealthService},
};

use super::service::{COMPRESSION, Service};
use crate::faces::readiness::Readiness;
use toolwire_transport::rules::{Access, Lifetime, Pool, Rule};

/// The descriptor set of the service.
pub(super) const DESCRIPTORS: &[u8] = pb::FILE_DESCRIPTOR_SET;

/// Stands for the server as a whole.
const SERVER: &str = "";

/// The health of the services. Cheap to clone; clones share state.
#[derive(Clone)]
pub(super) struct Health {
    reporter: HealthReporter,
    reasons: Arc<Mutex<Reasons>>,
}

/// The reasons for which the server, or a service, takes no calls.
#[derive(Debug, Default)]
pub(super) struct Reasons {
    pub(super) draining: bool,
    pub(super) state: Readiness,
}

impl Health {
    /// Until the first change, only the server as a whole is reported, as serving.
    pub(super) fn new() -> Self {
        Self { reporter: HealthReporter::new(), reasons: Arc::default() }
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

    /// Applies a change, and reports the server and each service, with whether it writes, as serving or not.
    pub(super) async fn update(
        &self,
        services: impl Iterator<Item = (&'static str, bool)>,
        change: impl FnOnce(&mut Reasons),
    ) {
        use tonic_health::ServingStatus::{NotServing, Serving};
        // Held until every watcher is notified, so that of two changes the later one arrives last.
        let mut reasons = self.reasons.lock().await;
        change(&mut reasons);
        // The server as a whole goes on while all replicas are degraded: without them there would be no reads either.
        for (service, writes) in services.chain([(SERVER, false)]) {
            let is_serving = !reasons.draining
                && match reasons.state {
                    Readiness::Ready => true,
                    Readiness::Degraded => !writes,
                    Readiness::NotReady => false,
                };
            let status = if is_serving { Serving } else { NotServing };
            self.reporter.set_service_status(service, status).await;
        }
    }
}

impl fmt::Debug for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Health").finish_non_exhaustive()
    }
}
