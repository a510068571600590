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
    /// Prints each tool with its parameters first, for a model that is given no tools but this text
    #[arg(long)]
    with_parameters: bool,
    #[command(flatten)]
    connection: Connection,
}

impl Guidance {
    pub(super) async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        let backend = self.connection.open(domains).await?;
        let request = DescribeForPlannerRequest { tags: self.tag, with_parameters: self.with_parameters };
        let described = into_answer(backend.tools().describe_for_planner(request)).await?;
        let no_text = |_| client::refusal(&Status::internal("the server answered with no text"));
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).map_err(no_text);
        let guidance = text(described.guidance.into())?;
        if self.with_parameters {
            let tools = text(described.tools.into())?;
            return console::exact(format!("{}\n\n{guidance}", tools.trim_end()).trim_end());
        }
        if guidance.is_empty() {
            console::say("no guidance: no tool of yours is limited or says how to use it");
            return Ok(());
        }
        console::exact(&guidance)
    }
}
