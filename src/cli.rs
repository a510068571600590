//! The command line: one file a subcommand, one module that prints (`output`), one that meets the service (`wiring`).
//!
//! Exit codes: 0 done; 1 the tool or the command failed; 2 the command line, the configuration or a definition is wrong;
//! 130 interrupted.

#![allow(clippy::doc_markdown, reason = "doc comments of flags are help texts, shown as they stand")]

mod backend;
mod call;
mod cancel;
mod completions;
mod connection;
mod describe;
mod docs;
mod explain;
mod failure;
mod files;
mod guidance;
mod health;
mod import;
mod json;
mod limits;
mod lint;
mod list;
mod manifest_schema;
mod output;
mod schema;
mod screener_login;
mod serve;
mod server_url;
mod settings;
mod signals;
mod table;
mod watch;
mod wiring;
mod words;

use std::{ffi::OsString, process::ExitCode};

use clap::{Parser, Subcommand};
use tokio::runtime::Runtime;

use failure::Failure;

use crate::domain::Domain;

/// The typed tool plane for agent backends: discover and invoke tools over gRPC.
#[derive(Debug, Parser)]
#[command(name = "toolwire", version, disable_help_subcommand = true, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::Serve),
    List(list::List),
    Describe(describe::Describe),
    Guidance(guidance::Guidance),
    Limits(limits::Limits),
    Call(call::Call),
    Cancel(cancel::Cancel),
    Watch(watch::Watch),
    Health(health::Health),
    Lint(lint::Lint),
    Docs(docs::Docs),
    ManifestSchema(manifest_schema::ManifestSchema),
    Import(import::Import),
    ScreenerLogin(screener_login::ScreenerLogin),
    Completions(completions::Completions),
}

/// Runs the command line and returns the program's exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>, domains: &[Domain]) -> ExitCode {
    let done = match Cli::try_parse_from(arguments) {
        Ok(cli) => carry_out(cli.command, domains),
        Err(error) => output::usage(&error),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::failure(&failure);
            ExitCode::from(failure.code())
        }
    }
}

fn carry_out(command: Command, domains: &[Domain]) -> Result<(), Failure> {
    let runtime = Runtime::new().map_err(|error| Failure::Failed(format!("cannot start: {error}")))?;
    let done = runtime.block_on(dispatch(command, domains));
    // What still reads a terminal or a file must not hold the end up.
    runtime.shutdown_background();
    done
}

async fn dispatch(command: Command, domains: &[Domain]) -> Result<(), Failure> {
    match command {
        Command::Serve(serve) => serve.run(domains).await,
        Command::List(list) => list.run(domains).await,
        Command::Describe(describe) => describe.run(domains).await,
        Command::Guidance(guidance) => guidance.run(domains).await,
        Command::Limits(limits) => limits.run(domains).await,
        Command::Call(call) => call.run(domains).await,
        Command::Cancel(cancel) => cancel.run().await,
        Command::Watch(watch) => watch.run().await,
        Command::Health(health) => health.run().await,
        Command::Lint(lint) => lint.run(domains),
        Command::Docs(docs) => docs.run(domains),
        Command::ManifestSchema(schema) => schema.run(),
        Command::Import(import) => import.run(),
        Command::ScreenerLogin(login) => login.run().await,
        Command::Completions(completions) => completions.run(domains).await,
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[track_caller]
    fn refused(line: &str) -> String {
        Cli::try_parse_from(line.split(' ')).unwrap_err().to_string()
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_mistyped_command_is_met_with_the_near_one() {
        assert!(refused("toolwire serv").contains("serve"));
        assert!(refused("toolwire serve --lisen x").contains("--listen"));
    }

    #[test]
    fn usage_errors_say_what_was_expected() {
        assert!(refused("toolwire call get_quotes --deadline 5").contains("such as 500ms, 5s, 2m or 1h"));
        assert!(refused("toolwire call get_quotes --request-id 42").contains("must be a UUID"));
        assert!(refused("toolwire list --server ftp://x").contains("http://"));
        assert!(refused(&format!("toolwire call t --session {}", "x".repeat(129))).contains("1 to 128"));
        assert!(refused("toolwire list --server http://x --data d").contains("--data"));
        assert!(refused("toolwire call get_quotes --json {} symbol=AAPL").contains("cannot be used with"));
        assert!(refused("toolwire call").contains("TOOL"));
        assert!(refused("toolwire serve --log xml").contains("auto, json, text"));
    }

    #[test]
    fn a_call_by_intent_takes_no_tool() {
        assert!(Cli::try_parse_from("toolwire call --intent performance period=YTD".split(' ')).is_ok());
    }
}
