//! `toolwire.v1.ConfirmationService`: what persons must decide, shown and decided. How is in `confirmation`.

use futures_util::stream::BoxStream;
use tonic::{Request, Response, Status};

use super::{confirmation, face::Face, service::Service};
use crate::faces::{
    incoming,
    transport::{ending, rules::Rule},
};
use toolwire_contract::proto::v1::{
    DecideConfirmationRequest, DecideConfirmationResponse, GetConfirmationRequest, GetConfirmationResponse,
    ListConfirmationsRequest, ListConfirmationsResponse, WatchConfirmationsRequest,
    WatchConfirmationsResponse,
    confirmation_service_server::{ConfirmationService, ConfirmationServiceServer},
};
use toolwire_tool::context::User;

pub(super) fn service() -> Service {
    super::service!(ConfirmationServiceServer, |face| face.clone()).except("WatchConfirmations", Rule::WATCH)
}

#[tonic::async_trait]
impl ConfirmationService for Face {
    type WatchConfirmationsStream = BoxStream<'static, Result<WatchConfirmationsResponse, Status>>;

    async fn list_confirmations(
        &self,
        request: Request<ListConfirmationsRequest>,
    ) -> Result<Response<ListConfirmationsResponse>, Status> {
        let user = user_of(&request);
        Ok(Response::new(confirmation::list(&self.tools, &user, request.into_inner()).await?))
    }

    async fn get_confirmation(
        &self,
        request: Request<GetConfirmationRequest>,
    ) -> Result<Response<GetConfirmationResponse>, Status> {
        let (user, ends) = (user_of(&request), ending(request.extensions()));
        let found = confirmation::get(&self.tools, &user, request.into_inner(), &ends).await?;
        Ok(Response::new(GetConfirmationResponse { confirmation: Some(found) }))
    }

    async fn decide_confirmation(
        &self,
        request: Request<DecideConfirmationRequest>,
    ) -> Result<Response<DecideConfirmationResponse>, Status> {
        let (user, origin) = (user_of(&request), incoming::origin(request.extensions()));
        let decided = confirmation::decide(&self.tools, &user, request.into_inner(), origin).await?;
        Ok(Response::new(DecideConfirmationResponse { confirmation: Some(decided) }))
    }

    async fn watch_confirmations(
        &self,
        request: Request<WatchConfirmationsRequest>,
    ) -> Result<Response<Self::WatchConfirmationsStream>, Status> {
        let user = user_of(&request);
        Ok(Response::new(confirmation::watch(&self.tools, user, request.into_inner()).await?))
    }
}

fn user_of<T>(request: &Request<T>) -> User {
    incoming::user(request.extensions())
}
