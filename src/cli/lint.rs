//! `toolwire lint`: checks manifests and data as start-up does, and their descriptions as a reader would.

use clap::Args;

use super::{settings::Settings, table::Table, wiring, wiring::Linted};
use toolwire_contract::proto::v1::DefinitionProblem;
use toolwire_server::{
    console::{self, Failure},
    domain::Domain,
};

/// Checks manifests and data
///
/// Exit code 1 means that there are problems, 2 that the service would refuse to start with them.
#[derive(Debug, Args)]
pub(super) struct Lint {
    #[command(flatten)]
    settings: Settings,
}

impl Lint {
    pub(super) fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        let linted = wiring::lint(&self.settings.load(domains)?, domains)?;
        console::print(&render(&linted.problems, console::width()))?;
        verdict(&linted)
    }
}

fn verdict(linted: &Linted) -> Result<(), Failure> {
    match (linted.is_refused, linted.problems.is_empty()) {
        (true, _) => Err(Failure::ReportedRefusal),
        (false, false) => Err(Failure::Reported),
        (false, true) => Ok(()),
    }
}

fn render(problems: &[DefinitionProblem], width: Option<usize>) -> String {
    let count = match problems.len() {
        1 => "1 problem".to_owned(),
        count => format!("{count} problems"),
    };
    format!("{}{count}", Table::new(problems.iter().map(row)).render("", width))
}

fn row(problem: &DefinitionProblem) -> [String; 3] {
    let at = format!("{}:{}", problem.file, problem.pointer);
    [at.trim_end_matches(':').to_owned(), problem.rule.clone(), problem.description.clone()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linted(pointers: &[&str], is_refused: bool) -> Linted {
        let problem = |pointer: &&str| DefinitionProblem {
            file: "tools/x.json".to_owned(),
            pointer: (*pointer).to_owned(),
            rule: "unknown-key".to_owned(),
            description: "remove it".to_owned(),
        };
        Linted { problems: pointers.iter().map(problem).collect(), is_refused }
    }

    #[test]
    fn a_problem_is_a_line_and_the_last_one_counts_them() {
        let expected = "tools/x.json:/a  unknown-key  remove it\n\
                        tools/x.json     unknown-key  remove it\n2 problems";
        assert_eq!(render(&linted(&["/a", ""], false).problems, None), expected);
        assert_eq!(render(&[], None), "0 problems");
    }

    #[test]
    fn the_exit_code_tells_a_blemish_from_a_refusal() {
        let code = |linted: &Linted| verdict(linted).map_or_else(|failure| failure.code(), |()| 0);
        assert_eq!(code(&linted(&[], false)), 0);
        assert_eq!(code(&linted(&["/a"], false)), 1);
        assert_eq!(code(&linted(&["/a"], true)), 2);
    }
}
