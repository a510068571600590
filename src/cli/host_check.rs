//! `toolwire host-check`: calls the check tools of a host, and compares the results with the protocol.
//!
//! Not here: the tools, which the author of a host writes as docs/OWN_TOOLS.md lists them.

mod observe;
mod scenarios;

use clap::Args;

use self::{observe::Caller, scenarios::SCENARIOS};
use super::connection::Connection;
use toolwire_contract::proto::v1;
use toolwire_server::{
    client,
    console::{self, Failure},
    domain::Domain,
};

/// Checks that the hosts of a provider keep the protocol
///
/// The provider offers the tools check_echo, check_stream, check_sleep, check_fail, check_write, check_large and, for
/// --crash, check_crash, each as docs/OWN_TOOLS.md says. Exit code 1 means that a scenario failed.
#[derive(Debug, Args)]
pub(super) struct HostCheck {
    /// The provider whose hosts are checked, such as local
    provider: String,
    /// Ends the process of a host too. Another host, or a supervisor that restarts it, has to take over
    #[arg(long)]
    crash: bool,
    #[command(flatten)]
    connection: Connection,
}

impl HostCheck {
    pub(super) async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        let backend = self.connection.open(domains).await?;
        let tools =
            backend.list(&[], "", v1::ToolView::Basic).await.map_err(|status| client::refusal(&status))?;
        let offers = |name: &str| tools.iter().any(|it| it.provider == self.provider && it.name == name);
        let caller = Caller::new(&backend);
        let mut failed = 0;
        for scenario in SCENARIOS.iter().filter(|it| self.crash || !it.ends_a_host) {
            let outcome = if offers(scenario.tool) {
                (scenario.run)(&caller).await
            } else {
                Err(format!("{} offers no tool {}", self.provider, scenario.tool))
            };
            match outcome {
                Ok(()) => console::print(&format!("ok      {}", scenario.name))?,
                Err(why) => {
                    failed += 1;
                    console::print(&format!("failed  {}: {why}", scenario.name))?;
                }
            }
        }
        if failed > 0 {
            return Err(Failure::Failed(format!("{failed} of the scenarios failed")));
        }
        Ok(())
    }
}
