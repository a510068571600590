//! `toolwire guidance`: how to use the tools well, for a system prompt.

use clap::Args;
use tonic::Status;

use super::{backend::into_answer, connection::Connection};
use toolwire_contract::proto::v1::DescribeForPlannerRequest;
use toolwire_server::{
    client,
    console::{self, Failure},
    domain::Domain,
};

/// Prints how to use the tools well, for the system prompt of an agent
#[derive(Debug, Args)]
pub(super) struct Guidance {
    /// Describes only tools with this tag; several must all match
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    #[command(flatten)]
    connection: Connection,
}

impl Guidance {
    pub(super) async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        let backend = self.connection.open(domains).await?;
        let request = DescribeForPlannerRequest { tags: self.tag, ..Default::default() };
        let guidance = into_answer(backend.tools().describe_for_planner(request)).await?.guidance;
        let no_text = |_| client::refusal(&Status::internal("the server answered with no text"));
        let guidance = String::from_utf8(guidance.into()).map_err(no_text)?;
        if guidance.is_empty() {
            console::say("no guidance: no tool of yours is limited or says how to use it");
            return Ok(());
        }
        console::exact(&guidance)
    }
}
