//! `toolwire.v1.ToolService`: the generic service. Requests are decoded in `invoke` and `calls`.

use std::{iter, sync::Arc};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use tonic::{Request, Response};

use super::{
    Answered, Streamed, calls, explain, face::Face, invoke, limits, provider, quotas, service::Service,
    split, stats, watch,
};
use crate::{
    faces::{
        incoming,
        render::{
            call_event::Invoked,
            result::{self, ResultForm},
        },
    },
    service::{
        Filter, Guidance,
        calls::{MAX_WAIT, Watch as CallWatch},
        changes::read_ahead,
        export::ExportRequest,
        request,
    },
};
use toolwire_contract::{
    Refusal, convert,
    proto::v1::{
        self, cancel_call_request,
        tool_service_server::{ToolService, ToolServiceServer},
    },
};
use toolwire_engine::{exports::Export, pipeline::CallSelector, registry::Detail};
use toolwire_transport::{
    backlog, drain_signal,
    rules::{Pool, Rule},
};

pub(super) fn service() -> Service {
    super::service!(ToolServiceServer, |face| face.clone())
        .with_snapshot("/toolwire.v1.ToolService/WatchTools")
        .except("CancelCall", Rule { pool: Pool::Free, ..Rule::USER })
        .except("WatchCalls", Rule::WATCH)
        .except("WatchTools", Rule::WATCH)
}

#[tonic::async_trait]
impl ToolService for Face {
    type ListToolsStream = Streamed<v1::ListToolsResponse>;
    type WatchToolsStream = Streamed<v1::WatchToolsResponse>;
    type InvokeToolStream = Invoked;
    type WatchCallsStream = Streamed<v1::WatchCallsResponse>;

    /// In order of name.
    async fn list_tools(&self, request: Request<v1::ListToolsRequest>) -> Answered<Self::ListToolsStream> {
        let (user, _, message) = split(request);
        let view = message.view();
        let mut tools = self.tools.list(&user, incoming::filter(message)?);
        let listed = move || {
            let tool = tools.next_tool()?.definition.encoded(view).clone();
            Some(Ok(v1::ListToolsResponse { tool }))
        };
        Ok(Response::new(stream::iter(iter::from_fn(listed)).boxed()))
    }

    async fn get_tool(&self, request: Request<v1::GetToolRequest>) -> Answered<v1::GetToolResponse> {
        let (user, from, message) = split(request);
        let tool = self
            .tools
            .get(&user, incoming::origin(&from), &message.name)?
            .definition
            .encoded(message.view())
            .clone();
        Ok(Response::new(v1::GetToolResponse { tool }))
    }

    async fn watch_tools(&self, request: Request<v1::WatchToolsRequest>) -> Answered<Self::WatchToolsStream> {
        let (user, _, message) = split(request);
        let view = message.view();
        let (tools, watch) = self.tools.watch(user);
        let mut response = Response::new(watch::changes(watch, view));
        response.extensions_mut().insert(watch::snapshot(tools, view));
        Ok(response)
    }

    async fn invoke_tool(&self, request: Request<v1::InvokeToolRequest>) -> Answered<Self::InvokeToolStream> {
        let (_, extensions, message) = request.into_parts();
        let (mut call, form) = invoke::call(&extensions, message)?;
        call.backlog = backlog();
        let started = self.tools.start(call).await?;
        Ok(Response::new(Invoked::new(started, &self.tools, form)))
    }

    async fn call_tool(&self, request: Request<v1::CallToolRequest>) -> Answered<v1::CallToolResponse> {
        let (_, extensions, message) = request.into_parts();
        let (call, form) = invoke::call(&extensions, message)?;
        Ok(Response::new(invoke::finish(&self.tools, call, form).await?))
    }

    async fn cancel_call(&self, request: Request<v1::CancelCallRequest>) -> Answered<v1::CancelCallResponse> {
        let (user, _, message) = split(request);
        let cancelled = self.tools.cancel(&user, read_selector(message)?).await?;
        Ok(Response::new(v1::CancelCallResponse { cancelled }))
    }

    async fn get_call(&self, request: Request<v1::GetCallRequest>) -> Answered<v1::GetCallResponse> {
        let (user, from, message) = split(request);
        let form = ResultForm::read(message.result_format(), message.max_tokens)?;
        let (form, delivers) = (form.with_keep_over(message.keep_over_tokens)?, message.delivers);
        let shows_events = message.view() == v1::CallView::Events;
        let wait = request::wait_within("wait", message.wait, MAX_WAIT)?;
        let call = calls::read_ref(message.call, message.tool)?;
        let looked = self.tools.calls().get(&user, &call, wait, &drain_signal(&from)).await?;
        if delivers {
            self.tools.calls().deliver(&user, &looked).await;
        }
        let (record, mut result) = (looked.record, looked.result);
        let (mut stages, mut recording) = (Vec::new(), None);
        if shows_events {
            stages = self.tools.calls().stages(&record).await;
            let mut found = self.tools.calls().recording(&user, &record, result.is_some()).await;
            result = result.or(found.result.take());
            recording = Some(calls::render_recording(found));
        }
        let trace_url = self.trace_url.of(&record.trace_id);
        let result = match (result, form.keep_over_tokens) {
            (Some(result), Some(tokens)) => Some(self.tools.keep(&user, &record, tokens, result).await),
            (result, _) => result,
        };
        let result = match result {
            Some(result) => Some(result::render(&self.tools, result, form).await),
            None => None,
        };
        Ok(Response::new(v1::GetCallResponse {
            call: Some(calls::render(record)),
            result,
            confirmation_required: looked.required.map(|it| convert::confirmation_required(*it)),
            stages: stages.into_iter().map(calls::stage).collect(),
            recording,
            trace_url,
        }))
    }

    async fn list_calls(&self, request: Request<v1::ListCallsRequest>) -> Answered<v1::ListCallsResponse> {
        let (user, _, v1::ListCallsRequest { filter, page_size, page_token }) = split(request);
        let page = self.tools.calls().list(&user, &calls::filter(filter)?, page_size, &page_token).await?;
        let calls = page.calls.into_iter().map(calls::render).collect();
        Ok(Response::new(v1::ListCallsResponse { calls, next_page_token: page.next }))
    }

    async fn watch_calls(&self, request: Request<v1::WatchCallsRequest>) -> Answered<Self::WatchCallsStream> {
        let (user, _, v1::WatchCallsRequest { filter, after_position }) = split(request);
        let name = user.id.clone();
        let watch = self.tools.calls().watch(user, calls::filter(filter)?, &after_position).await?;
        let next = async |mut watch: CallWatch| Some((Ok(calls::render_event(watch.next().await)), watch));
        Ok(Response::new(read_ahead(&name, stream::unfold(watch, next))))
    }

    async fn explain_call(
        &self,
        request: Request<v1::ExplainCallRequest>,
    ) -> Answered<v1::ExplainCallResponse> {
        let (_, extensions, message) = request.into_parts();
        let explained = self.tools.explain(explain::call(&extensions, message)?).await?;
        Ok(Response::new(explain::render(explained)))
    }

    async fn get_stats(&self, request: Request<v1::GetStatsRequest>) -> Answered<v1::GetStatsResponse> {
        let (user, _, message) = split(request);
        let (whose, steps) = stats::read(&message)?;
        let stats = self.tools.stats(&user, &whose, steps, self.providers.hub()).await?;
        Ok(Response::new(stats::render(stats, steps)))
    }

    async fn get_viewer(&self, request: Request<v1::GetViewerRequest>) -> Answered<v1::GetViewerResponse> {
        let (user, _, v1::GetViewerRequest {}) = split(request);
        let rights = self.tools.confirmations().rights(&user);
        Ok(Response::new(v1::GetViewerResponse {
            observes: self.tools.calls().observes(&user),
            approves: rights.approves,
            approves_own: rights.approves_own,
            user_id: user.id.to_string(),
            known_by: <&str>::from(user.known_by).to_owned(),
            user_email: user.email.unwrap_or_default(),
            user_role: user.role.unwrap_or_default(),
        }))
    }

    async fn get_limits(&self, request: Request<v1::GetLimitsRequest>) -> Answered<v1::GetLimitsResponse> {
        let (user, _, message) = split(request);
        let statuses = self.tools.limits(&user, &message.source).await?;
        Ok(Response::new(v1::GetLimitsResponse {
            limits: statuses.into_iter().map(limits::render).collect(),
        }))
    }

    async fn list_quotas(&self, request: Request<v1::ListQuotasRequest>) -> Answered<v1::ListQuotasResponse> {
        let (user, _, v1::ListQuotasRequest { user_id, page_size, page_token }) = split(request);
        let whose = calls::whose("user_id", &user_id)?;
        let page = self.tools.quotas(&user, &whose, page_size, &page_token).await?;
        let quotas = page.quotas.into_iter().map(quotas::render).collect();
        Ok(Response::new(v1::ListQuotasResponse { quotas, next_page_token: page.next }))
    }

    async fn list_providers(
        &self,
        request: Request<v1::ListProvidersRequest>,
    ) -> Answered<v1::ListProvidersResponse> {
        let (user, _, v1::ListProvidersRequest {}) = split(request);
        let providers = self.tools.providers(&user, &self.providers);
        let providers = providers.into_iter().map(provider::render).collect();
        Ok(Response::new(v1::ListProvidersResponse { providers }))
    }

    async fn describe_for_planner(
        &self,
        request: Request<v1::DescribeForPlannerRequest>,
    ) -> Answered<v1::DescribeForPlannerResponse> {
        let (user, _, message) = split(request);
        let filter = Filter::with_tags(request::tags("tags", message.tags)?);
        let detail = if message.with_parameters { Detail::Parameters } else { Detail::Line };
        let guidance = self.tools.guidance(&user, filter, detail);
        let part = |of: fn(&Guidance) -> &str| Bytes::from_owner(Part(Arc::clone(&guidance), of));
        let (tools, text) = (part(|it| &it.tools), part(|it| &it.guidance));
        let toolset_title = guidance.toolset_title.clone();
        Ok(Response::new(v1::DescribeForPlannerResponse { tools, guidance: text, toolset_title }))
    }

    async fn export_tools(
        &self,
        request: Request<v1::ExportToolsRequest>,
    ) -> Answered<v1::ExportToolsResponse> {
        let (user, _, v1::ExportToolsRequest { format, strict, tags }) = split(request);
        let exported = self.tools.export(&user, ExportRequest { format, strict, tags }).await?;
        let Export { json, notes } = exported.export.clone();
        Ok(Response::new(v1::ExportToolsResponse { json, notes }))
    }
}

/// A part of a text that others read too.
struct Part(Arc<Guidance>, fn(&Guidance) -> &str);

impl AsRef<[u8]> for Part {
    fn as_ref(&self) -> &[u8] {
        self.1(&self.0).as_bytes()
    }
}

/// Reads the call that is to be cancelled.
fn read_selector(message: v1::CancelCallRequest) -> Result<CallSelector, Refusal> {
    use cancel_call_request::Call;
    let none = || request::refuse("call", "required", "must name a call by call_id or request_id");
    match message.call.ok_or_else(none)? {
        Call::CallId(id) => Ok(CallSelector::Call(request::call_id("call", &id)?)),
        Call::RequestId(id) => request::request_id("call", &id)?.map(CallSelector::Request).ok_or_else(none),
    }
}
