//! `toolwire.v1.AuditService`: who did what. How is in `audit`.

use tonic::{Request, Response, Status};

use super::{audit, face::Face, service::Service};
use crate::faces::incoming;
use toolwire_contract::proto::v1::{
    ListRecordsRequest, ListRecordsResponse,
    audit_service_server::{AuditService, AuditServiceServer},
};

pub(super) fn service() -> Service {
    super::service!(AuditServiceServer, |face| face.clone())
}

#[tonic::async_trait]
impl AuditService for Face {
    async fn list_records(
        &self,
        request: Request<ListRecordsRequest>,
    ) -> Result<Response<ListRecordsResponse>, Status> {
        let user = incoming::user(request.extensions());
        Ok(Response::new(audit::list(&self.tools, &user, request.into_inner()).await?))
    }
}
