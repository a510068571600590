//! `toolwire.research.v1.DiscoveryService`: discoveries are started here and watched as jobs.

use std::sync::Arc;

use tonic::{Request, Response, Status};

use crate::{
    discovery::{self, Stocks},
    proto::v1::{
        StartDiscoveryRequest, StartDiscoveryResponse,
        discovery_service_server::{DiscoveryService, DiscoveryServiceServer},
    },
    tools::Profiles,
};
use toolwire_agent_api::JobStarter;
use toolwire_server::faces::{
    grpc::{self, Face},
    incoming,
};

pub(crate) fn service(stocks: Arc<Stocks>, profiles: Arc<Profiles>) -> grpc::Service {
    grpc::service!(DiscoveryServiceServer, |face| Discoveries {
        face: face.clone(),
        stocks: Arc::clone(&stocks),
        profiles: Arc::clone(&profiles),
    })
}

struct Discoveries {
    face: Face,
    stocks: Arc<Stocks>,
    profiles: Arc<Profiles>,
}

#[tonic::async_trait]
impl DiscoveryService for Discoveries {
    async fn start_discovery(
        &self,
        request: Request<StartDiscoveryRequest>,
    ) -> Result<Response<StartDiscoveryResponse>, Status> {
        let (context, message) = incoming::split(request, |it| it.context.take())?;
        let stocks = Arc::clone(&self.stocks);
        let jobs = self.face.parts.find::<JobStarter>();
        let jobs =
            jobs.ok_or_else(|| Status::unimplemented("this server has no agent, whose job a discovery is"))?;
        let job = discovery::start(&jobs, stocks, &self.profiles, context, message).await?;
        Ok(Response::new(StartDiscoveryResponse { job_id: job.id.to_string() }))
    }
}
