//! What became of the offers of a provider: accepted, refused, or served with warnings.

use crate::{
    bounds::MAX_REFUSALS,
    cut,
    offer::{Problem, verdict},
    wire,
};

/// The result of a catalogue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdicts {
    pub accepted: u32,
    /// Of the offers that were refused or have warnings, in order of name.
    pub verdicts: Vec<wire::Verdict>,
}

impl Verdicts {
    /// The offer is served.
    pub fn accept(&mut self, tool: &str, warnings: &[Problem]) {
        self.accepted += 1;
        self.verdicts.extend(verdict(tool, warnings, wire::VerdictState::Warned));
    }

    pub fn refuse(&mut self, tool: &str, problems: &[Problem]) {
        self.verdicts.extend(verdict(tool, problems, wire::VerdictState::Refused));
    }

    /// What was refused and why, in a line that fits into a status.
    pub fn refusals(&self) -> String {
        let refused = self.verdicts.iter().filter(|it| it.state() == wire::VerdictState::Refused);
        let lines = refused.map(|verdict| {
            let problem = |it: &wire::Problem| format!("{} {}", it.pointer, it.description);
            let problems: Vec<_> = verdict.problems.iter().map(problem).collect();
            format!("{}: {}", verdict.tool, problems.join(", "))
        });
        cut(&lines.collect::<Vec<_>>().join("; "), MAX_REFUSALS)
    }
}
