//! Records as events of the Open Cybersecurity Schema Framework (<https://schema.ocsf.io/1.6.0>).
//!
//! What has no attribute there is in `unmapped`, under our names.

use serde_json::{Map, Value, json};

use toolwire_contract::proto::v1::{AuditKind, AuditRecord, AuditVerdict, RefusalRecord};

const VERSION: &str = "1.6.0";
const PRODUCT: &str = "Toolwire";

/// A class of events, in its category.
#[derive(Clone, Copy)]
enum Class {
    Authentication,
    ApiActivity,
}

/// A write, or a decision, as API Activity.
pub(super) fn record(record: &AuditRecord) -> Value {
    let is_decision = record.kind() == AuditKind::Decision;
    let status = match (is_decision, record.code.as_str()) {
        (true, _) | (false, "OK") => (1, "Success"),
        (false, "") => (0, "Unknown"),
        (false, _) => (2, "Failure"),
    };
    let activity = if is_decision { decision(record.verdict()) } else { "Write" };
    let mut event = event(Class::ApiActivity, 99, activity);
    event.insert("severity_id".to_owned(), json!(1));
    add_times(&mut event, record.time, record.ended_at, 1);
    add_status(&mut event, status, &record.code);
    event.insert("actor".to_owned(), json!({"user": user(&record.user_id)}));
    let mut api = json!({"operation": record.tool, "service": {"name": PRODUCT}});
    if !record.call_id.is_empty() {
        api["request"] = json!({"uid": record.call_id});
    }
    event.insert("api".to_owned(), api);
    event.insert("src_endpoint".to_owned(), endpoint(&record.peer, &record.face));
    if !record.trace_id.is_empty() {
        event["metadata"]["correlation_uid"] = json!(record.trace_id);
    }
    let unmapped: [(&str, &str); 12] = [
        ("verdict", verdict(record.verdict())),
        ("known_by", &record.known_by),
        ("workload", &record.workload),
        ("face", &record.face),
        ("caller", &record.caller),
        ("request_id", &record.request_id),
        ("task_id", &record.task_id),
        ("definition_digest", &record.definition_digest),
        ("arguments_digest", &record.arguments_digest),
        ("confirmation_id", &record.confirmation_id),
        ("approver", &record.approver),
        ("on_behalf_of", &record.on_behalf_of),
    ];
    add_unmapped(&mut event, &unmapped);
    Value::Object(event)
}

/// A refusal: of somebody who was not identified as Authentication, of a user as API Activity.
pub(super) fn refusal(refusal: &RefusalRecord) -> Value {
    let is_identified = !refusal.user_id.is_empty();
    let mut event = if is_identified {
        let mut event = event(Class::ApiActivity, 99, "Denied");
        event.insert("actor".to_owned(), json!({"user": user(&refusal.user_id)}));
        event.insert("api".to_owned(), json!({"operation": refusal.target, "service": {"name": PRODUCT}}));
        event
    } else {
        let mut event = event(Class::Authentication, 1, "Logon");
        event.insert("user".to_owned(), json!({"name": "unknown", "type_id": 0}));
        event.insert("service".to_owned(), json!({"name": PRODUCT}));
        event
    };
    event.insert("severity_id".to_owned(), json!(2));
    add_times(&mut event, refusal.time, refusal.last_time, refusal.count);
    add_status(&mut event, (2, "Failure"), &refusal.reason);
    event.insert("src_endpoint".to_owned(), endpoint(&refusal.peer, &refusal.face));
    let target = if is_identified { "" } else { &refusal.target };
    add_unmapped(
        &mut event,
        &[("known_by", refusal.known_by.as_str()), ("face", refusal.face.as_str()), ("target", target)],
    );
    Value::Object(event)
}

fn event(class: Class, activity: u32, name: &str) -> Map<String, Value> {
    let (category, class) = match class {
        Class::Authentication => (3, 3002),
        Class::ApiActivity => (6, 6003),
    };
    let product = json!({"name": PRODUCT, "vendor_name": PRODUCT, "version": env!("CARGO_PKG_VERSION")});
    let event = json!({
        "category_uid": category,
        "class_uid": class,
        "activity_id": activity,
        "activity_name": name,
        "type_uid": class * 100 + activity,
        "metadata": {"version": VERSION, "product": product, "log_name": "audit"},
    });
    let Value::Object(event) = event else { unreachable!("it is an object") };
    event
}

/// When it was, in milliseconds; the first and the last of several.
fn add_times(
    event: &mut Map<String, Value>,
    from: Option<prost_types::Timestamp>,
    to: Option<prost_types::Timestamp>,
    count: u64,
) {
    let (from, to) = (milliseconds(from), milliseconds(to));
    event.insert("time".to_owned(), json!(from.unwrap_or_default()));
    event.insert("count".to_owned(), json!(count));
    for (name, at) in [("start_time", from), ("end_time", to)] {
        if let Some(at) = at {
            event.insert(name.to_owned(), json!(at));
        }
    }
}

fn milliseconds(at: Option<prost_types::Timestamp>) -> Option<i64> {
    at.map(|at| at.seconds * 1_000 + i64::from(at.nanos) / 1_000_000)
}

fn add_status(event: &mut Map<String, Value>, (id, name): (u32, &str), code: &str) {
    event.insert("status_id".to_owned(), json!(id));
    event.insert("status".to_owned(), json!(name));
    if !code.is_empty() {
        event.insert("status_code".to_owned(), json!(code));
    }
}

fn user(id: &str) -> Value {
    json!({"uid": id, "name": id})
}

/// Where it came from: an address, or else the face.
fn endpoint(peer: &str, face: &str) -> Value {
    match (peer, face) {
        ("", "") => json!({"svc_name": PRODUCT}),
        ("", face) => json!({"svc_name": face}),
        (peer, _) => json!({"ip": peer}),
    }
}

fn add_unmapped(event: &mut Map<String, Value>, fields: &[(&str, &str)]) {
    let set = fields.iter().filter(|(_, text)| !text.is_empty());
    let unmapped: Map<_, _> = set.map(|(name, text)| ((*name).to_owned(), json!(text))).collect();
    event.insert("unmapped".to_owned(), Value::Object(unmapped));
}

fn decision(verdict: AuditVerdict) -> &'static str {
    match verdict {
        AuditVerdict::Approved => "Approve",
        AuditVerdict::Denied => "Deny",
        AuditVerdict::Expired => "Expire",
        AuditVerdict::Withdrawn => "Withdraw",
        AuditVerdict::Voided => "Void",
        AuditVerdict::Allowed | AuditVerdict::Unspecified => "Other",
    }
}

fn verdict(verdict: AuditVerdict) -> &'static str {
    verdict.as_str_name().trim_start_matches("AUDIT_VERDICT_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_is_api_activity_with_what_has_no_attribute_beside_it() {
        let record = AuditRecord {
            kind: AuditKind::Write.into(),
            verdict: AuditVerdict::Approved.into(),
            time: Some(prost_types::Timestamp { seconds: 2, nanos: 5_000_000 }),
            user_id: "corp:8f2c".to_owned(),
            known_by: "issuer".to_owned(),
            workload: "spiffe://a/b".to_owned(),
            peer: "192.0.2.7".to_owned(),
            face: "grpc".to_owned(),
            tool: "add_to_watchlist".to_owned(),
            code: "NOT_FOUND".to_owned(),
            call_id: "c".to_owned(),
            trace_id: "t".to_owned(),
            approver: "alex".to_owned(),
            ..AuditRecord::default()
        };
        let event = super::record(&record);
        assert_eq!(
            (&event["class_uid"], &event["type_uid"], &event["category_uid"]),
            (&json!(6003), &json!(600_399), &json!(6))
        );
        assert_eq!(
            (&event["time"], &event["status_id"], &event["status_code"]),
            (&json!(2_005), &json!(2), &json!("NOT_FOUND"))
        );
        assert_eq!(event["actor"]["user"]["uid"], "corp:8f2c");
        assert_eq!(
            (&event["api"]["operation"], &event["api"]["request"]["uid"]),
            (&json!("add_to_watchlist"), &json!("c"))
        );
        assert_eq!(
            (&event["src_endpoint"], &event["metadata"]["correlation_uid"]),
            (&json!({"ip": "192.0.2.7"}), &json!("t"))
        );
        let unmapped = json!({
            "verdict": "APPROVED", "known_by": "issuer", "workload": "spiffe://a/b", "face": "grpc",
            "approver": "alex",
        });
        assert_eq!(event["unmapped"], unmapped);
        assert_eq!(event.get("end_time"), None);
    }

    #[test]
    fn a_refusal_is_authentication_unless_the_user_is_known() {
        let unknown = RefusalRecord { reason: "expired".to_owned(), count: 7, ..RefusalRecord::default() };
        let event = refusal(&unknown);
        assert_eq!(
            (&event["class_uid"], &event["type_uid"], &event["count"]),
            (&json!(3002), &json!(300_201), &json!(7))
        );
        assert_eq!((&event["status_code"], &event["user"]["name"]), (&json!("expired"), &json!("unknown")));
        let known = RefusalRecord { user_id: "riley".to_owned(), target: "a_tool".to_owned(), ..unknown };
        let event = refusal(&known);
        assert_eq!((&event["class_uid"], &event["api"]["operation"]), (&json!(6003), &json!("a_tool")));
        assert_eq!(
            (&event["actor"]["user"]["uid"], &event["activity_name"]),
            (&json!("riley"), &json!("Denied"))
        );
    }
}
