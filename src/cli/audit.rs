//! `toolwire audit`: who did what, and who was refused.

mod export;
mod ocsf;
mod pages;

use std::{cmp::Reverse, time::Duration};

use clap::{Args, Subcommand};

use self::{export::Export, pages::since};
use super::{
    backend::Backend,
    connection::{Connection, Seen},
    ids, json,
    table::Table,
};
use toolwire_base::{duration, words::visible};
use toolwire_contract::proto::v1::{self, AuditKind, AuditVerdict};
use toolwire_server::{
    console::{self, Failure},
    domain::Domain,
};

/// Lists who did what: writes, and decisions on calls. Yours, or all users' if you may observe
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Audit {
    #[command(subcommand)]
    action: Option<Action>,
    /// Lists refusals instead: of credentials, and of tools that a user may not call
    #[arg(long, conflicts_with_all = ["tool", "call"])]
    refused: bool,
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

#[derive(Debug, Subcommand)]
enum Action {
    /// Prints all records and refusals that you may see for another system, the newest of each first
    Export(Export),
}

impl Audit {
    pub(super) async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        if let Some(Action::Export(export)) = self.action {
            return export.run(domains).await;
        }
        let backend = self.connection.open_with_state(domains).await?;
        if self.refused {
            return self.list_refusals(&backend, domains).await;
        }
        let mut filter = self.filter();
        if let Some(call) = &self.call {
            filter.call_id = ids::call(&backend, call, &filter.user_id).await?;
        }
        let mut found = Vec::new();
        pages::records(&backend, &filter, |page| {
            found.extend(page);
            Ok(found.len() < self.limit)
        })
        .await?;
        found.truncate(self.limit);
        self.print(&found, domains)
    }

    async fn list_refusals(&self, backend: &Backend, domains: &[Domain]) -> Result<(), Failure> {
        let request = v1::ListRefusalsRequest {
            user_id: self.of.clone().unwrap_or_default(),
            since: since(self.since),
            ..v1::ListRefusalsRequest::default()
        };
        let mut found = Vec::new();
        pages::refusals(backend, request, |page| {
            found.extend(page);
            Ok(found.len() < self.limit)
        })
        .await?;
        found.truncate(self.limit);
        // A record of refusals that are alike begins with the first of them.
        found.sort_by_key(last_first);
        if self.json {
            return console::json_lines(found.iter().map(json::plain));
        }
        if found.is_empty() {
            console::say(&self.nothing("nothing was refused", domains)?);
            return Ok(());
        }
        Table::new(found.iter().map(refusal_row))
            .with_heading(["TIME", "TIMES", "WHO", "FROM", "WHY", "TARGET"])
            .with_short(&[0])
            .with_dispensable(&[1, 0])
            .print()
    }

    fn filter(&self) -> v1::AuditFilter {
        v1::AuditFilter {
            tools: self.tool.clone(),
            user_id: self.of.clone().unwrap_or_default(),
            since: since(self.since),
            ..v1::AuditFilter::default()
        }
    }

    /// What is said of an empty list, which is not empty for everybody.
    fn nothing(&self, what: &str, domains: &[Domain]) -> Result<String, Failure> {
        Ok(match self.connection.seen(domains)? {
            Seen::All => what.to_owned(),
            Seen::Own(user) => {
                format!("{what} of {user}; --user NAME of one who may observe shows that of all users")
            }
            Seen::Unknown => format!("{what} that you may see"),
        })
    }

    fn print(&self, found: &[v1::AuditRecord], domains: &[Domain]) -> Result<(), Failure> {
        if self.json {
            return console::json_lines(found.iter().map(json::plain));
        }
        if found.is_empty() {
            console::say(&self.nothing("nothing is recorded", domains)?);
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

fn last_first(it: &v1::RefusalRecord) -> Reverse<Option<(i64, i32)>> {
    Reverse(it.last_time.map(|at| (at.seconds, at.nanos)))
}

fn from(face: &str, peer: &str) -> String {
    if peer.is_empty() { face.to_owned() } else { format!("{face} {peer}") }
}

fn refusal_row(it: &v1::RefusalRecord) -> [String; 6] {
    let time = it.last_time.as_ref().map(ToString::to_string).unwrap_or_default();
    let who = if it.user_id.is_empty() { "(nobody)".to_owned() } else { visible(&it.user_id) };
    let from = from(&it.face, &it.peer);
    [time, it.count.to_string(), who, from, it.reason.clone(), visible(&it.target)]
}

fn row(it: &v1::AuditRecord) -> [String; 7] {
    let time = it.time.as_ref().map(ToString::to_string).unwrap_or_default();
    let from = from(&it.face, &it.peer);
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

#[cfg(test)]
mod tests {
    use prost_types::Timestamp;

    use super::*;

    #[test]
    fn refusals_are_in_the_order_of_the_times_that_are_shown() {
        let at = |first: i64, last: i64| {
            let time = |seconds| Some(Timestamp { seconds, nanos: 0 });
            v1::RefusalRecord { time: time(first), last_time: time(last), ..v1::RefusalRecord::default() }
        };
        let mut found = [at(30, 31), at(20, 50), at(10, 40)];
        found.sort_by_key(last_first);
        let times: Vec<_> = found.iter().map(|it| it.last_time.unwrap().seconds).collect();
        assert_eq!(times, [50, 40, 31]);
    }
}
