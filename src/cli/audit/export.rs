//! `toolwire audit export`: the records as other systems read them, a line each.

use std::time::Duration;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::{
    ocsf,
    pages::{self, since},
};
use crate::{connection::Connection, json};
use toolwire_base::duration;
use toolwire_contract::proto::v1;
use toolwire_server::{
    console::{self, Failure},
    domain::Domain,
};

#[derive(Debug, Args)]
pub(super) struct Export {
    /// The form of a line
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Format,
    /// Only what was recorded in the last TIME, such as 1h
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    since: Option<Duration>,
    #[command(flatten)]
    connection: Connection,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// The fields as `toolwire audit --json` has them, with a `type`: `record` or `refusal`
    Jsonl,
    /// Events of the Open Cybersecurity Schema Framework, 1.6: API Activity, and Authentication of what was refused
    Ocsf,
}

impl Export {
    pub(super) async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        let backend = self.connection.open_with_state(domains).await?;
        let (format, since) = (self.format, since(self.since));
        let filter = v1::AuditFilter { since, ..v1::AuditFilter::default() };
        // A page at a time: there may be millions.
        pages::records(&backend, &filter, |page| {
            console::json_lines(page.iter().map(|it| format.record(it)))?;
            Ok(true)
        })
        .await?;
        let request = v1::ListRefusalsRequest { since, ..v1::ListRefusalsRequest::default() };
        pages::refusals(&backend, request, |page| {
            console::json_lines(page.iter().map(|it| format.refusal(it)))?;
            Ok(true)
        })
        .await
    }
}

impl Format {
    fn record(self, record: &v1::AuditRecord) -> Value {
        match self {
            Self::Jsonl => typed("record", json::plain(record)),
            Self::Ocsf => ocsf::record(record),
        }
    }

    fn refusal(self, refusal: &v1::RefusalRecord) -> Value {
        match self {
            Self::Jsonl => typed("refusal", json::plain(refusal)),
            Self::Ocsf => ocsf::refusal(refusal),
        }
    }
}

/// An object with its type before its other fields.
fn typed(name: &str, fields: Value) -> Value {
    let mut object = json!({"type": name});
    if let (Value::Object(object), Value::Object(fields)) = (&mut object, fields) {
        object.extend(fields);
    }
    object
}
