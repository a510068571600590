//! `toolwire audit`: who did what.

use std::time::Duration;

use clap::Args;

use super::{backend::into_answer, connection::Connection, ids, json, table::Table};
use toolwire_base::{clock, duration, words::visible};
use toolwire_contract::{
    convert::timestamp,
    proto::v1::{self, AuditKind, AuditVerdict},
};
use toolwire_server::{
    console::{self, Failure},
    domain::Domain,
};

/// Page size of requests.
const PAGE: i32 = 1_000;

/// Lists who did what: writes, and decisions on calls. Yours, or all users' if you may observe
#[derive(Debug, Args)]
pub(super) struct Audit {
    /// Lists only records of this tool; may be repeated
    #[arg(long, value_name = "NAME")]
    tool: Vec<String>,
    // Not `user`, which is who asks.
    /// Lists only what this user did
    #[arg(long = "of", value_name = "USER")]
    of: Option<String>,
    /// Lists only records of the last TIME, such as 1h
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    since: Option<Duration>,
    /// Lists only records of this call, by its call_id or the beginning of it
    #[arg(long, value_name = "CALL_ID")]
    call: Option<String>,
    /// Maximum number of records
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000)]
    limit: usize,
    /// Prints each as one JSON line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: Connection,
}

impl Audit {
    pub(super) async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        let backend = self.connection.open_with_state(domains).await?;
        let mut filter = self.filter();
        if let Some(call) = &self.call {
            filter.call_id = ids::call(&backend, call, &filter.user_id).await?;
        }
        let (mut found, mut page_token) = (Vec::new(), String::new());
        loop {
            let request =
                v1::ListRecordsRequest { filter: Some(filter.clone()), page_size: PAGE, page_token };
            let page = into_answer(backend.audit().list_records(request)).await?;
            found.extend(page.records);
            page_token = page.next_page_token;
            if page_token.is_empty() || found.len() >= self.limit {
                break;
            }
        }
        found.truncate(self.limit);
        self.print(&found)
    }

    fn filter(&self) -> v1::AuditFilter {
        let since = self.since.and_then(|since| clock::wall().checked_sub(since));
        v1::AuditFilter {
            tools: self.tool.clone(),
            user_id: self.of.clone().unwrap_or_default(),
            since: since.map(timestamp),
            ..v1::AuditFilter::default()
        }
    }

    fn print(&self, found: &[v1::AuditRecord]) -> Result<(), Failure> {
        if self.json {
            return console::json_lines(found.iter().map(json::plain));
        }
        if found.is_empty() {
            console::say("nothing is recorded");
            return Ok(());
        }
        Table::new(found.iter().map(row))
            .with_heading(["TIME", "WHO", "FROM", "DID", "TOOL", "CODE", "CALL"])
            .with_ids(6)
            .with_short(&[0])
            .with_dispensable(&[2, 1, 5, 0])
            .print()
    }
}

fn row(it: &v1::AuditRecord) -> [String; 7] {
    let time = it.time.as_ref().map(ToString::to_string).unwrap_or_default();
    let from = if it.peer.is_empty() { it.face.clone() } else { format!("{} {}", it.face, it.peer) };
    let did = match (it.kind(), it.verdict()) {
        (AuditKind::Decision, AuditVerdict::Denied) => "denied a call of ".to_owned() + &visible(&it.caller),
        (_, AuditVerdict::Expired) => {
            "the confirmation expired of a call of ".to_owned() + &visible(&it.caller)
        }
        (_, AuditVerdict::Withdrawn) => {
            "the confirmation was withdrawn of a call of ".to_owned() + &visible(&it.caller)
        }
        (_, AuditVerdict::Voided) => {
            "the confirmation is void of a call of ".to_owned() + &visible(&it.caller)
        }
        (AuditKind::Decision, _) => "approved a call of ".to_owned() + &visible(&it.caller),
        (_, AuditVerdict::Approved) => "wrote, approved by ".to_owned() + &visible(&it.approver),
        _ => "wrote".to_owned(),
    };
    let code = match (it.kind(), it.code.as_str()) {
        (AuditKind::Decision, _) => String::new(),
        (_, "") => "(no end)".to_owned(),
        (_, code) => code.to_owned(),
    };
    let is_by_nobody =
        matches!(it.verdict(), AuditVerdict::Expired | AuditVerdict::Withdrawn | AuditVerdict::Voided);
    let who = if is_by_nobody { "(nobody)".to_owned() } else { visible(&it.user_id) };
    [time, who, from, did, it.tool.clone(), code, it.call_id.clone()]
}
