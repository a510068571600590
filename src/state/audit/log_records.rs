//! Records of the audit, and refusals, as log records for collectors. Not here: how they are sent, and when.

use opentelemetry::logs::{AnyValue, Severity};

use super::{Kind, Record, Verdict};
use crate::refusals::Counted;
use toolwire_base::clock;
use toolwire_telemetry::audit::{self, AuditEvent};

/// Whether anybody is sent them.
pub(crate) fn are_sent() -> bool {
    audit::is_sent()
}

/// Sends a record. It never waits.
pub(crate) fn send(record: Record) {
    audit::send(event_of(record));
}

/// Sends refusals that are one record. It never waits.
pub(crate) fn send_refusal(refusals: &Counted) {
    audit::send(event_of_refusals(refusals));
}

fn event_of(record: Record) -> AuditEvent {
    let name = match (record.kind, record.ended_at) {
        (Kind::Write, None) => "toolwire.audit.write.begun",
        (Kind::Write, Some(_)) => "toolwire.audit.write",
        (Kind::Decision, _) => "toolwire.audit.decision",
    };
    let severity = match record.verdict {
        Verdict::Allowed | Verdict::Approved => Severity::Info,
        Verdict::Denied | Verdict::Expired | Verdict::Withdrawn | Verdict::Voided => Severity::Warn,
    };
    let (kind, verdict) = (record.kind.into_str(), record.verdict.into_str());
    let end = if record.code.is_empty() { String::new() } else { format!(", {}", record.code) };
    let text = format!("{kind} of {} by {}: {verdict}{end}", record.tool, record.user);
    let ended_at = record.ended_at.map(clock::rfc3339_millis).unwrap_or_default();
    let definition_digest = record.definition_digest.map(|it| it.to_string()).unwrap_or_default();
    let texts = [
        ("toolwire.audit.verdict", verdict.to_owned()),
        ("toolwire.audit.ended_at", ended_at),
        ("toolwire.audit.code", record.code),
        ("toolwire.audit.user_id", record.user),
        ("toolwire.audit.known_by", record.known_by),
        ("toolwire.audit.peer", record.peer.unwrap_or_default()),
        ("toolwire.audit.workload", record.workload),
        ("toolwire.audit.face", record.face),
        ("toolwire.audit.caller", record.caller),
        ("toolwire.audit.tool", record.tool),
        ("toolwire.audit.definition_digest", definition_digest),
        ("toolwire.audit.arguments_digest", record.arguments_digest.to_string()),
        ("toolwire.audit.call_id", record.call_id),
        ("toolwire.audit.request_id", record.request_id),
        ("toolwire.audit.task_id", record.task_id),
        ("toolwire.audit.confirmation_id", record.confirmation_id),
        ("toolwire.audit.approver", record.approver),
        ("toolwire.audit.on_behalf_of", record.on_behalf_of),
    ];
    AuditEvent { name, at: record.at, severity, text, trace_id: record.trace_id, fields: present(texts) }
}

fn event_of_refusals(refusals: &Counted) -> AuditEvent {
    let Counted { kind, first, last, count } = refusals;
    let who = if kind.user.is_empty() { "somebody unknown" } else { &kind.user };
    let texts = [
        ("toolwire.audit.reason", kind.reason.to_owned()),
        ("toolwire.audit.first_at", clock::rfc3339_millis(*first)),
        ("toolwire.audit.user_id", kind.user.clone()),
        ("toolwire.audit.known_by", kind.known_by.to_owned()),
        ("toolwire.audit.peer", kind.peer.map(|peer| peer.to_string()).unwrap_or_default()),
        ("toolwire.audit.face", kind.face.to_owned()),
        ("toolwire.audit.target", kind.target.clone()),
    ];
    let mut fields = present(texts);
    fields.push(("toolwire.audit.count", i64::try_from(*count).unwrap_or(i64::MAX).into()));
    AuditEvent {
        name: "toolwire.audit.refusal",
        at: *last,
        severity: Severity::Warn,
        text: format!("refusal of {} to {who}: {}", kind.target, kind.reason),
        trace_id: String::new(),
        fields,
    }
}

/// Those that apply.
fn present<const N: usize>(texts: [(&'static str, String); N]) -> Vec<(&'static str, AnyValue)> {
    let present = texts.into_iter().filter(|(_, text)| !text.is_empty());
    present.map(|(name, text)| (name, text.into())).collect()
}
