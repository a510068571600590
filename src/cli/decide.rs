//! `toolwire approve` and `toolwire deny`: a person's decision on a call.

use clap::Args;

use super::{card::card, connection::Connection, ids};
use toolwire_contract::proto::v1::{self, decide_confirmation_request::Decision};
use toolwire_server::{
    client,
    console::{self, Failure},
    domain::Domain,
};

/// Approves a call that waits for a person: it goes on, or is carried out when it is made again
#[derive(Debug, Args)]
pub(super) struct Approve {
    /// The confirmation, as `confirmations` shows it
    #[arg(value_name = "CONFIRMATION")]
    id: String,
    /// The name of its tool, which must be repeated where the consequence level is high
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    connection: Connection,
}

/// Denies a call that waits for a person
#[derive(Debug, Args)]
pub(super) struct Deny {
    /// The confirmation, as `confirmations` shows it
    #[arg(value_name = "CONFIRMATION")]
    id: String,
    /// The reason, shown to the caller
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    connection: Connection,
}

impl Approve {
    pub(super) async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        let (tool, reason) = (self.tool.unwrap_or_default(), self.reason.unwrap_or_default());
        decide(&self.connection, domains, self.id, Decision::Approve(v1::Approve { tool, reason })).await
    }
}

impl Deny {
    pub(super) async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        decide(&self.connection, domains, self.id, Decision::Deny(v1::Deny { reason: self.reason })).await
    }
}

async fn decide(
    connection: &Connection,
    domains: &[Domain],
    id: String,
    decision: Decision,
) -> Result<(), Failure> {
    let backend = connection.open_with_state(domains).await?;
    let confirmation_id = ids::confirmation(&backend, &id).await?;
    let request = v1::DecideConfirmationRequest {
        confirmation_id,
        decision: Some(decision),
        on_behalf_of: String::new(),
    };
    let decided = backend.decide(request).await.map_err(|status| client::refusal(&status))?;
    console::print(&card(&decided))
}
