//! The commands that domains offer beside the program's own.

use std::collections::BTreeMap;

use clap::{ArgMatches, Args, FromArgMatches, builder::Resettable};

use super::{connection::Connection, job::Follow};
use toolwire_server::{
    console::{self, Failure},
    domain::{Command, Domain, Run},
};

/// A command of a domain, if it is one.
pub(super) fn find<'a>(domains: &'a [Domain], name: &str) -> Option<&'a Command> {
    domains.iter().flat_map(|domain| &domain.commands).find(|command| command.clap.get_name() == name)
}

/// The commands of all domains as the command line reads them.
pub(super) fn commands(domains: &[Domain]) -> impl Iterator<Item = clap::Command> {
    domains.iter().flat_map(|domain| &domain.commands).map(with_flags)
}

/// The flags of a connection come after the command's own, whose help stays.
fn with_flags(command: &Command) -> clap::Command {
    let clap = command.clap.clone();
    // Flags that are added replace the words on the command by their own.
    let about = Resettable::from(clap.get_about().cloned());
    let long_about = Resettable::from(clap.get_long_about().cloned());
    let clap = match command.run {
        Run::Alone(_) => return clap,
        Run::WithServer(_) => clap,
        Run::Starts(_) => Follow::augment_args(clap),
    };
    Connection::augment_args(clap).about(about).long_about(long_about)
}

/// Runs a command, with a connection if it needs one.
pub(super) async fn run(command: &Command, matches: &ArgMatches, domains: &[Domain]) -> Result<(), Failure> {
    match &command.run {
        Run::Alone(run) => run(matches),
        Run::Starts(start) => {
            match (Connection::from_arg_matches(matches), Follow::from_arg_matches(matches)) {
                (Ok(connection), Ok(follow)) => {
                    follow.run((command, start), matches, &connection, domains).await
                }
                (Err(error), _) | (_, Err(error)) => console::usage(&error),
            }
        }
        Run::WithServer(run) => match Connection::from_arg_matches(matches) {
            Ok(connection) => run(matches, connection.server().await?).await,
            Err(error) => console::usage(&error),
        },
    }
}

/// Refuses names that two have: a domain and the program, or two domains. All of them are reported, each with both
/// owners.
pub(super) fn check(program: &clap::Command, domains: &[Domain]) -> Result<(), Failure> {
    let own = program.get_subcommands().map(clap::Command::get_name);
    let mut owners: BTreeMap<_, _> = own.map(|name| (name, "toolwire itself".to_owned())).collect();
    let mut problems = Vec::new();
    for domain in domains {
        for name in domain.commands.iter().flat_map(Command::names) {
            let owner = format!("domain {}", domain.name);
            if let Some(other) = owners.insert(name, owner.clone()) {
                problems.push(format!("{owner} offers the command {name}, which {other} offers too"));
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Failure::Start(problems.join("\n"))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolwire_tool::context::Services;

    fn domain(name: &'static str, commands: &[&'static str]) -> Domain {
        let command = |name: &&'static str| Command {
            clap: clap::Command::new(*name),
            run: Run::Alone(Box::new(|_| Ok(()))),
            parts: Services::default(),
        };
        Domain { commands: commands.iter().map(command).collect(), ..Domain::new(name) }
    }

    fn checked(domains: &[Domain]) -> Result<(), Failure> {
        check(&clap::Command::new("toolwire").subcommand(clap::Command::new("list")), domains)
    }

    #[test]
    fn commands_of_different_names_are_offered_side_by_side() {
        let domains = [domain("tops", &["spin", "stop"]), domain("kites", &["fold"])];
        assert!(checked(&domains).is_ok());
        assert!(find(&domains, "fold").is_some() && find(&domains, "list").is_none());
    }

    #[test]
    fn a_name_that_two_have_is_refused_with_both() {
        let refused = checked(&[domain("tops", &["spin", "list"]), domain("kites", &["spin"])]).unwrap_err();
        let expected = "domain tops offers the command list, which toolwire itself offers too\n\
                        domain kites offers the command spin, which domain tops offers too";
        assert_eq!((refused.to_string().as_str(), refused.code()), (expected, 2));
    }
}
