//! `toolwire completions`: what a shell needs to complete our command line.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::{Cli, failure::Failure, output};

/// Prints the completion script of a shell
#[derive(Debug, Args)]
pub(super) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "toolwire", &mut script);
        output::print(&String::from_utf8_lossy(&script))
    }
}
