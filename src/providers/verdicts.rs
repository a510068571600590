//! What became of the offers of a provider: accepted, refused, or served with warnings.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    bounds::{MAX_LISTED_REFUSALS, MAX_REFUSALS},
    cut,
    ids::ProviderName,
    offer::{Problem, verdict},
    wire,
};

/// What became of the offers that came last of each provider. Cheap to clone; clones share state.
#[derive(Clone, Debug, Default)]
pub struct LastVerdicts(Arc<Mutex<HashMap<ProviderName, Vec<wire::Verdict>>>>);

impl LastVerdicts {
    /// Replaces those of a provider, and returns what they were.
    pub fn replace(&self, provider: &ProviderName, verdicts: &Verdicts) -> Vec<wire::Verdict> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(provider.clone(), verdicts.verdicts.clone()).unwrap_or_default()
    }

    /// The offers of a provider that are not served, of the tools that are wanted: at most [`MAX_LISTED_REFUSALS`].
    pub fn refused(&self, provider: &str, is_wanted: impl Fn(&str) -> bool) -> Vec<wire::Verdict> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let refused = all.get(provider).into_iter().flatten();
        let refused = refused.filter(|it| it.state() == wire::VerdictState::Refused);
        refused.filter(|it| is_wanted(&it.tool)).take(MAX_LISTED_REFUSALS).cloned().collect()
    }

    pub fn forget(&self, provider: &ProviderName) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(provider);
    }
}

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
