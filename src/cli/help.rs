//! The commands in `toolwire --help`, by what they are for. Those of a domain stand under its name.

use std::fmt::Write as _;

use super::table::{Table, wrap};
use toolwire_server::{console, domain::Domain};

/// The program's own commands.
const GROUPS: [(&str, &[&str]); 5] = [
    (
        "Tools",
        &[
            "list", "describe", "call", "cancel", "calls", "watch", "limits", "quotas", "stats", "guidance",
            "export", "generate",
        ],
    ),
    ("Conversations and tasks", &["chat", "jobs", "tasks", "timeline", "workspace"]),
    ("Approval", &["confirmations", "approve", "deny", "audit", "explain"]),
    ("Server", &["serve", "dev", "mcp", "login", "health", "state", "token", "providers", "host-check"]),
    ("Manifests and shells", &["lint", "docs", "manifest-schema", "completions"]),
];

/// The command line with this help.
pub(super) fn group(program: clap::Command, domains: &[Domain]) -> clap::Command {
    let own = GROUPS.iter().map(|(title, names)| ((*title).to_owned(), names.to_vec()));
    let of_domains = domains.iter().filter(|domain| !domain.commands.is_empty()).map(|domain| {
        let names = domain.commands.iter().map(|command| command.clap.get_name()).collect();
        (format!("Of the domain {}", domain.name), names)
    });
    let header = *program.get_styles().get_header();
    let mut text = String::new();
    for (title, names) in own.chain(of_domains) {
        let _ = writeln!(text, "{header}{title}:{header:#}");
        let commands = names.into_iter().filter_map(|name| program.find_subcommand(name));
        let rows = commands.map(|command| row(&program, command));
        let _ = writeln!(text, "{}", Table::new(rows).render("  ", console::width()));
    }
    let about = program.get_about().map(ToString::to_string).unwrap_or_default();
    let about = wrap(&about, console::width().unwrap_or(usize::MAX)).join("\n");
    let template = format!(
        "{about}\n\n{{usage-heading}} {{usage}}\n\n{text}{header}Options:{header:#}\n{{options}}\n\n\
         `toolwire COMMAND --help` says more of a command."
    );
    program.help_template(template)
}

/// The name, as wide as the longest of all, and what the command does.
fn row(program: &clap::Command, command: &clap::Command) -> [String; 2] {
    let width = program.get_subcommands().map(|it| it.get_name().len()).max().unwrap_or_default();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    [format!("{:<width$}", command.get_name()), about]
}

#[cfg(test)]
mod tests {
    use toolwire_server::domain::{Command, Run};
    use toolwire_tool::context::Services;

    use super::*;
    use crate::program;

    #[test]
    fn every_command_stands_in_one_group() {
        let program = program(&[]).expect("consistent");
        let names = program.get_subcommands().filter(|it| !it.is_hide_set()).map(clap::Command::get_name);
        let mut names: Vec<_> = names.collect();
        let mut grouped: Vec<_> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        names.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(names, grouped);
    }

    #[test]
    fn the_commands_of_a_domain_stand_under_its_name() {
        let spin = Command {
            clap: clap::Command::new("spin").about("Spins"),
            run: Run::Alone(Box::new(|_| Ok(()))),
            parts: Services::default(),
        };
        let toys = Domain { commands: vec![spin], ..Domain::new("toys") };
        let help = program(&[toys]).expect("consistent").render_help().to_string();
        assert!(help.contains("\nTools:\n  list             Lists the tools: "), "{help}");
        assert!(help.contains("\nOf the domain toys:\n  spin             Spins\n\nOptions:\n"), "{help}");
    }
}
