//! `toolwire.v1.ToolService`: the generic service. Discovery is in `listing` and `watch`, calls are in `invoke`.

use futures_util::{StreamExt, stream::BoxStream};
use tonic::{Request, Response, Status};

use super::{
    calls, face::Face, invoke, invoke::Invoked, listing, result, service::Service, source_status, watch,
};
use crate::{
    faces::{
        incoming,
        transport::{
            ending,
            rules::{Pool, Rule},
        },
    },
    service::{export::Wanted, request},
};
use toolwire_contract::{
    Refusal,
    proto::v1::{
        CallToolRequest, CallToolResponse, CancelCallRequest, CancelCallResponse, DescribeForPlannerRequest,
        DescribeForPlannerResponse, ExportToolsRequest, ExportToolsResponse, GetCallRequest, GetCallResponse,
        GetLimitsRequest, GetLimitsResponse, GetToolRequest, GetToolResponse, InvokeToolRequest,
        ListCallsRequest, ListCallsResponse, ListToolsRequest, ListToolsResponse, WatchToolsRequest,
        WatchToolsResponse, cancel_call_request,
        tool_service_server::{ToolService, ToolServiceServer},
    },
};
use toolwire_engine::{exports::Export, pipeline::Which};
use toolwire_tool::context::User;

type Streamed<T> = BoxStream<'static, Result<T, Status>>;

pub(super) fn service() -> Service {
    super::service!(ToolServiceServer, |face| face.clone())
        .joined("/toolwire.v1.ToolService/WatchTools")
        .except("CancelCall", Rule { pool: Pool::Free, ..Rule::USER })
        .except("WatchTools", Rule::WATCH)
}

#[tonic::async_trait]
impl ToolService for Face {
    type ListToolsStream = Streamed<ListToolsResponse>;
    type WatchToolsStream = Streamed<WatchToolsResponse>;
    type InvokeToolStream = Invoked;

    async fn list_tools(
        &self,
        request: Request<ListToolsRequest>,
    ) -> Result<Response<Self::ListToolsStream>, Status> {
        let user = user_of(&request);
        Ok(Response::new(listing::list(self, &user, request.into_inner())?.boxed()))
    }

    async fn get_tool(&self, request: Request<GetToolRequest>) -> Result<Response<GetToolResponse>, Status> {
        let user = user_of(&request);
        let request = request.into_inner();
        let tool = listing::get(self, &user, &request.name, request.view())?;
        Ok(Response::new(GetToolResponse { tool }))
    }

    async fn watch_tools(
        &self,
        request: Request<WatchToolsRequest>,
    ) -> Result<Response<Self::WatchToolsStream>, Status> {
        let user = user_of(&request);
        let view = request.into_inner().view();
        let (tools, watch) = self.tools.watch(user);
        let mut response = Response::new(watch::news(watch, view));
        response.extensions_mut().insert(watch::there(tools, view));
        Ok(response)
    }

    async fn invoke_tool(
        &self,
        request: Request<InvokeToolRequest>,
    ) -> Result<Response<Self::InvokeToolStream>, Status> {
        let (call, form) = invoke::invoke_request(request)?;
        let started = self.tools.start(call).await?;
        Ok(Response::new(Invoked::new(started, &self.tools, form)))
    }

    async fn call_tool(
        &self,
        request: Request<CallToolRequest>,
    ) -> Result<Response<CallToolResponse>, Status> {
        let (call, form) = invoke::call_request(request)?;
        let call_id = call.context.call_id.to_string();
        let terminal = self.tools.finish(call).await?;
        let outcome = Some(result::outcome(&self.tools, terminal, form).await);
        Ok(Response::new(CallToolResponse { call_id, outcome }))
    }

    async fn cancel_call(
        &self,
        request: Request<CancelCallRequest>,
    ) -> Result<Response<CancelCallResponse>, Status> {
        let user = user_of(&request);
        let which = which(request.into_inner())?;
        let cancelled = self.tools.cancel(&user, which).await?;
        Ok(Response::new(CancelCallResponse { cancelled }))
    }

    async fn get_call(&self, request: Request<GetCallRequest>) -> Result<Response<GetCallResponse>, Status> {
        let (user, ends) = (user_of(&request), ending(request.extensions()));
        Ok(Response::new(calls::get(&self.tools, &user, request.into_inner(), &ends).await?))
    }

    async fn list_calls(
        &self,
        request: Request<ListCallsRequest>,
    ) -> Result<Response<ListCallsResponse>, Status> {
        let user = user_of(&request);
        Ok(Response::new(calls::list(&self.tools, &user, request.into_inner()).await?))
    }

    async fn get_limits(
        &self,
        request: Request<GetLimitsRequest>,
    ) -> Result<Response<GetLimitsResponse>, Status> {
        let user = user_of(&request);
        let statuses = self.tools.limits(&user, &request.into_inner().source).await?;
        Ok(Response::new(GetLimitsResponse {
            limits: statuses.into_iter().map(source_status::row).collect(),
        }))
    }

    async fn describe_for_planner(
        &self,
        request: Request<DescribeForPlannerRequest>,
    ) -> Result<Response<DescribeForPlannerResponse>, Status> {
        let user = user_of(&request);
        Ok(Response::new(listing::describe(self, &user, request.into_inner().tags)?))
    }

    async fn export_tools(
        &self,
        request: Request<ExportToolsRequest>,
    ) -> Result<Response<ExportToolsResponse>, Status> {
        let user = user_of(&request);
        let ExportToolsRequest { format, strict, tags } = request.into_inner();
        let exported = self.tools.export(&user, Wanted { format, strict, tags }).await?;
        let Export { json, notes } = exported.export.clone();
        Ok(Response::new(ExportToolsResponse { json, notes }))
    }
}

fn user_of<T>(request: &Request<T>) -> User {
    incoming::user(request.extensions())
}

fn which(message: CancelCallRequest) -> Result<Which, Refusal> {
    use cancel_call_request::Call;
    let none = || request::refuse("call", "required", "must name a call by call_id or request_id");
    match message.call.ok_or_else(none)? {
        Call::CallId(id) => Ok(Which::Call(request::call_id("call", &id)?)),
        Call::RequestId(id) => request::request_id("call", &id)?.map(Which::Request).ok_or_else(none),
    }
}
