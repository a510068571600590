//! `toolwire.v1.AuditService`: the records of writes, decisions and refusals.

use tonic::{Request, Response};

use super::{Answered, face::Face, service::Service, split};
use crate::service::{audit::Filter, request};
use toolwire_contract::{
    Refusal,
    convert::timestamp,
    proto::v1::{
        self, AuditKind, AuditVerdict,
        audit_service_server::{AuditService, AuditServiceServer},
    },
};
use toolwire_state::{
    audit::{Kind, Record, Verdict},
    refusals::{self, RefusalRecord},
};

pub(super) fn service() -> Service {
    super::service!(AuditServiceServer, |face| face.clone())
}

#[tonic::async_trait]
impl AuditService for Face {
    async fn list_records(
        &self,
        request: Request<v1::ListRecordsRequest>,
    ) -> Answered<v1::ListRecordsResponse> {
        let (user, _, v1::ListRecordsRequest { filter, page_size, page_token }) = split(request);
        let filter = read_filter(filter.unwrap_or_default())?;
        let page = self.tools.audit().list(&user, filter, page_size, &page_token).await?;
        let records = page.records.into_iter().map(render).collect();
        Ok(Response::new(v1::ListRecordsResponse { records, next_page_token: page.next }))
    }

    async fn list_refusals(
        &self,
        request: Request<v1::ListRefusalsRequest>,
    ) -> Answered<v1::ListRefusalsResponse> {
        let (user, _, message) = split(request);
        let filter = refusals::Filter {
            user: request::user_id("user_id", &message.user_id)?,
            reasons: message.reasons,
            since: request::instant("since", message.since)?,
            until: request::instant("until", message.until)?,
        };
        let audit = self.tools.audit();
        let page = audit.list_refusals(&user, filter, message.page_size, &message.page_token).await?;
        let refusals = page.refusals.into_iter().map(render_refusal).collect();
        Ok(Response::new(v1::ListRefusalsResponse { refusals, next_page_token: page.next }))
    }
}

fn render_refusal(record: RefusalRecord) -> v1::RefusalRecord {
    v1::RefusalRecord {
        time: Some(timestamp(record.first_at)),
        last_time: Some(timestamp(record.last_at)),
        count: record.count,
        reason: record.reason,
        user_id: record.user,
        known_by: record.known_by,
        peer: record.peer.unwrap_or_default(),
        face: record.face,
        target: record.target,
    }
}

fn read_filter(wire: v1::AuditFilter) -> Result<Filter, Refusal> {
    let kind = |wire| match AuditKind::try_from(wire) {
        Ok(AuditKind::Write) => Ok(Kind::Write),
        Ok(AuditKind::Decision) => Ok(Kind::Decision),
        _ => Err(request::refuse("filter.kinds", "enum", "must be kinds of AuditKind")),
    };
    Ok(Filter {
        tools: wire.tools,
        user: request::user_id("filter.user_id", &wire.user_id)?,
        kinds: wire.kinds.into_iter().map(kind).collect::<Result<_, _>>()?,
        since: request::instant("filter.since", wire.since)?,
        until: request::instant("filter.until", wire.until)?,
        call_id: wire.call_id,
        confirmation_id: wire.confirmation_id,
    })
}

fn render(record: Record) -> v1::AuditRecord {
    let kind = match record.kind {
        Kind::Write => AuditKind::Write,
        Kind::Decision => AuditKind::Decision,
    };
    let verdict = match record.verdict {
        Verdict::Allowed => AuditVerdict::Allowed,
        Verdict::Approved => AuditVerdict::Approved,
        Verdict::Denied => AuditVerdict::Denied,
        Verdict::Expired => AuditVerdict::Expired,
        Verdict::Withdrawn => AuditVerdict::Withdrawn,
        Verdict::Voided => AuditVerdict::Voided,
    };
    v1::AuditRecord {
        sequence: record.sequence,
        kind: kind.into(),
        time: Some(timestamp(record.at)),
        ended_at: record.ended_at.map(timestamp),
        user_id: record.user,
        known_by: record.known_by,
        peer: record.peer.unwrap_or_default(),
        face: record.face,
        tool: record.tool,
        definition_digest: record.definition_digest.map(|it| it.to_string()).unwrap_or_default(),
        arguments_digest: record.arguments_digest.to_string(),
        verdict: verdict.into(),
        code: record.code,
        call_id: record.call_id,
        trace_id: record.trace_id,
        confirmation_id: record.confirmation_id,
        approver: record.approver,
        caller: record.caller,
        request_id: record.request_id,
        on_behalf_of: record.on_behalf_of,
        task_id: record.task_id,
        workload: record.workload,
    }
}
