//! `toolwire completions`: completion for shells, the names of tools included.
//!
//! The names are those of the moment: completion that asks while one types is not stable in the crate.

use clap::{Args, builder::PossibleValuesParser};
use clap_complete::Shell;

use super::connection::Connection;
use toolwire_contract::proto::v1;
use toolwire_server::{
    client,
    console::{self, Failure},
    domain::Domain,
};

/// The commands that take a tool, and the name of that argument.
const WITH_A_TOOL: [&str; 2] = ["call", "describe"];
const TOOL: &str = "tool";

/// The name of the command.
pub(super) const NAME: &str = "completions";

/// Prints the completion script of a shell, with the names of the tools there are now
#[derive(Debug, Args)]
pub(super) struct Completions {
    /// The shell to write completions for
    #[arg(value_name = "SHELL")]
    shell: Shell,
    #[command(flatten)]
    connection: Connection,
}

impl Completions {
    /// Prints the script for the program's command line.
    pub(super) async fn run(self, program: clap::Command, domains: &[Domain]) -> Result<(), Failure> {
        let backend = self.connection.open(domains).await?;
        let tools =
            backend.list(&[], v1::ToolView::Basic).await.map_err(|status| client::refusal(&status))?;
        // Names of values live as long as the program, which ends here.
        let names: Vec<&'static str> = tools.into_iter().map(|tool| &*tool.name.leak()).collect();
        let mut command = with_tools(program, &names);
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, "toolwire", &mut script);
        console::print(&String::from_utf8_lossy(&script))
    }
}

/// The command line, in which a tool is one of those named.
fn with_tools(program: clap::Command, tools: &[&'static str]) -> clap::Command {
    let of_tools = |command: clap::Command| {
        let tools = PossibleValuesParser::new(tools.iter().copied());
        command.mut_arg(TOOL, |argument| argument.value_parser(tools))
    };
    WITH_A_TOOL.into_iter().fold(program, |command, name| command.mut_subcommand(name, of_tools))
}
