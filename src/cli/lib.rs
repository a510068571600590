//! The command line: one file a subcommand, one for the wiring (`wiring`), and the commands that domains offer
//! (`domain_commands`).
//!
//! Exit codes: 0 done; 1 the tool or the command failed; 2 the command line, the configuration or a definition is
//! wrong; 3 a person must approve the call first; 130 interrupted.

#![allow(clippy::doc_markdown, reason = "doc comments of flags are help texts, shown as they stand")]

mod audit;
mod backend;
mod call;
mod calls;
mod cancel;
mod card;
mod chat;
mod complete;
mod completions;
mod confirmations;
mod connection;
mod decide;
mod describe;
mod dev;
mod docs;
mod domain_commands;
mod explain;
mod explain_rule;
mod export;
mod generate;
mod guidance;
mod health;
mod help;
mod host_check;
mod ids;
mod job;
mod jobs;
mod json;
mod limits;
mod lint;
mod list;
mod login;
mod manifest_schema;
mod mcp;
mod observer_options;
mod orphans;
mod providers;
mod quotas;
mod reasons;
mod schema;
mod serve;
mod settings;
mod sign_in;
mod signals;
mod state;
mod stats;
mod table;
mod tasks;
mod timeline;
mod token;
mod watch;
mod wiring;
mod words;
mod workspace;

use std::{ffi::OsString, process::ExitCode};

use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use tokio::runtime::Builder;

use complete::Complete;
use completions::Completions;
use orphans::EndOrphans;

use toolwire_base::offload;
use toolwire_server::{
    console::{self, Failure},
    domain::Domain,
};

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
    Dev(dev::Dev),
    List(list::List),
    Describe(describe::Describe),
    Guidance(guidance::Guidance),
    Export(export::Export),
    Generate(generate::Generate),
    Limits(limits::Limits),
    Quotas(quotas::Quotas),
    Stats(stats::Stats),
    Providers(providers::Providers),
    Call(call::CallArgs),
    Chat(chat::Chat),
    Cancel(cancel::Cancel),
    Calls(calls::Calls),
    Jobs(jobs::Jobs),
    Audit(audit::Audit),
    Confirmations(confirmations::Confirmations),
    Approve(decide::Approve),
    Deny(decide::Deny),
    Tasks(tasks::Tasks),
    Timeline(timeline::Timeline),
    Workspace(workspace::Workspace),
    State(state::StateArgs),
    Token(token::TokenArgs),
    Login(login::Login),
    Explain(explain_rule::Explain),
    Watch(watch::Watch),
    Mcp(mcp::Mcp),
    Health(health::Health),
    HostCheck(host_check::HostCheck),
    Lint(lint::Lint),
    Docs(docs::Docs),
    /// Prints the JSON Schema of a tool's manifest, for editors
    ManifestSchema,
}

/// Runs the command line and returns the program's exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>, domains: &[Domain]) -> ExitCode {
    let read = |mut program: clap::Command| program.try_get_matches_from_mut(arguments);
    // Of the program's description nothing is left while a command runs, which may be for months.
    let done = program(domains).map(read).and_then(|matches| match matches {
        Ok(matches) => carry_out(&matches, domains),
        Err(error) => console::usage(&error),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            console::failure(&failure);
            ExitCode::from(failure.code())
        }
    }
}

/// The program's own commands, two of which know them all, and those of the domains.
fn program(domains: &[Domain]) -> Result<clap::Command, Failure> {
    let completions = Completions::augment_args(clap::Command::new(completions::NAME));
    let complete = Complete::augment_args(clap::Command::new(complete::NAME)).hide(true);
    let own = Cli::command().subcommand(completions).subcommand(complete);
    let orphans = EndOrphans::augment_args(clap::Command::new(orphans::NAME)).hide(true);
    let own = own.subcommand(orphans);
    domain_commands::check(&own, domains)?;
    Ok(help::group(own.subcommands(domain_commands::commands(domains)), domains))
}

fn carry_out(matches: &ArgMatches, domains: &[Domain]) -> Result<(), Failure> {
    if let Some(matches) = matches.subcommand_matches(orphans::NAME) {
        // Without the threads of a runtime: it waits for as long as a server is there.
        return match EndOrphans::from_arg_matches(matches) {
            Ok(orphans) => {
                orphans.run();
                Ok(())
            }
            Err(error) => console::usage(&error),
        };
    }
    // A thread that has read a large message goes on as one that blocks, and is idle then.
    let runtime = Builder::new_multi_thread().enable_all().thread_keep_alive(offload::KEEP_ALIVE).build();
    let runtime = runtime.map_err(|error| Failure::Failed(format!("cannot start: {error}")))?;
    let done = runtime.block_on(dispatch(matches, domains));
    // A blocking read of a terminal or a file must not delay the exit.
    runtime.shutdown_background();
    done
}

async fn dispatch(matches: &ArgMatches, domains: &[Domain]) -> Result<(), Failure> {
    if let Some((name, matches)) = matches.subcommand() {
        if let Some(command) = domain_commands::find(domains, name) {
            return domain_commands::run(command, matches, domains).await;
        }
        match name {
            completions::NAME => {
                return match Completions::from_arg_matches(matches) {
                    Ok(completions) => completions.run(program(domains)?),
                    Err(error) => console::usage(&error),
                };
            }
            complete::NAME => {
                return match Complete::from_arg_matches(matches) {
                    Ok(complete) => complete.run(program(domains)?, domains).await,
                    Err(error) => console::usage(&error),
                };
            }
            _ => {}
        }
    }
    match Cli::from_arg_matches(matches) {
        // Large: it holds the whole configuration, more than once.
        Ok(cli) => Box::pin(cli.command.run(domains)).await,
        Err(error) => console::usage(&error),
    }
}

impl Command {
    async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        match self {
            Self::Serve(serve) => Box::pin(serve.run(domains)).await,
            Self::Dev(dev) => dev.run(),
            Self::List(list) => list.run(domains).await,
            Self::Describe(describe) => describe.run(domains).await,
            Self::Guidance(guidance) => guidance.run(domains).await,
            Self::Export(export) => export.run(domains).await,
            Self::Generate(generate) => generate.run(domains).await,
            Self::Limits(limits) => limits.run(domains).await,
            Self::Quotas(quotas) => quotas.run(domains).await,
            Self::Stats(stats) => stats.run(domains).await,
            Self::Providers(providers) => providers.run(domains).await,
            Self::Call(call) => call.run(domains).await,
            Self::Chat(chat) => chat.run(domains).await,
            Self::Cancel(cancel) => cancel.run().await,
            Self::Calls(calls) => calls.run(domains).await,
            Self::Jobs(jobs) => jobs.run(domains).await,
            Self::Audit(audit) => audit.run(domains).await,
            Self::Confirmations(confirmations) => confirmations.run(domains).await,
            Self::Approve(approve) => approve.run(domains).await,
            Self::Deny(deny) => deny.run(domains).await,
            Self::Tasks(tasks) => tasks.run(domains).await,
            Self::Timeline(timeline) => timeline.run(domains).await,
            Self::Workspace(workspace) => workspace.run(domains).await,
            Self::State(state) => state.run(domains).await,
            Self::Token(token) => token.run(),
            Self::Login(login) => Box::pin(login.run()).await,
            Self::Explain(explain) => explain.run(domains).await,
            Self::Watch(watch) => watch.run().await,
            Self::Mcp(mcp) => Box::pin(mcp.run(domains)).await,
            Self::Health(health) => health.run().await,
            Self::HostCheck(check) => check.run(domains).await,
            Self::Lint(lint) => lint.run(domains),
            Self::Docs(docs) => docs.run(domains),
            Self::ManifestSchema => manifest_schema::run(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(line: &str) -> String {
        Cli::try_parse_from(line.split(' ')).unwrap_err().to_string()
    }

    #[test]
    fn the_command_line_is_consistent() {
        program(&[]).unwrap().debug_assert();
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
