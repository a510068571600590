//! Offers of one provider on their way into the registry, whatever kind of provider it is.

use std::sync::Arc;

use toolwire_base::files;
use toolwire_config::ProviderFloor;
use toolwire_contract::proto::host::v1 as wire;
use toolwire_engine::registry::{Category, Definition, MakeExecutor, ProviderTool, Provision, Registry};
use toolwire_providers::{
    Effect, Verdicts,
    ids::ProviderName,
    offer::{self, Author, Budget, CheckedOffer, Problem, Strictness},
};

use super::ownership::refuse_name;

/// Takes offers of a provider in.
pub(super) struct Intake {
    pub(super) registry: Arc<Registry>,
    pub(super) provider: ProviderName,
    pub(super) floor: ProviderFloor,
    pub(super) strictness: Strictness,
    pub(super) author: Author,
}

/// An offer, and what executes it.
pub(super) struct Proposal {
    pub(super) offer: wire::Offer,
    /// Why it cannot be called yet, and as what it is listed until then.
    pub(super) instead: Option<(String, wire::Offer)>,
    pub(super) make: Arc<MakeExecutor>,
}

/// An offer that passed so far: its name, and what should be fixed.
struct Candidate {
    name: String,
    warnings: Vec<Problem>,
}

impl Intake {
    pub(super) fn take_over(&self, proposals: Vec<Proposal>) -> Verdicts {
        self.warn_of_unmatched_conditions(&proposals);
        let (mut candidates, mut tools, mut verdicts) = (Vec::new(), Vec::new(), Verdicts::default());
        let mut budget = Budget::default();
        for proposal in proposals {
            let name = proposal.offer.name.clone();
            match self.candidate(proposal, &mut budget) {
                Ok((candidate, tool)) => {
                    candidates.push(candidate);
                    tools.push(tool);
                }
                Err(problems) => verdicts.refuse(&name, &problems),
            }
        }
        // Without a single tool that passed, what the provider had stays.
        let is_refused = tools.is_empty() && !verdicts.verdicts.is_empty();
        let provisions =
            if is_refused { Vec::new() } else { self.registry.provide(self.provider.as_str(), tools) };
        for (candidate, provision) in candidates.into_iter().zip(provisions) {
            candidate.conclude(provision, &mut verdicts);
        }
        verdicts.verdicts.sort_by(|one, other| one.tool.cmp(&other.tool));
        verdicts
    }

    /// A misspelt name in the configuration would leave a tool without its conditions.
    fn warn_of_unmatched_conditions(&self, proposals: &[Proposal]) {
        let is_offered = |name: &String| proposals.iter().any(|it| it.offer.name == *name);
        for name in self.floor.conditions.keys().filter(|name| !is_offered(name)) {
            tracing::warn!(provider = %self.provider, tool = name, "conditions on a tool that is not offered");
        }
    }

    fn candidate(
        &self,
        Proposal { offer, instead, make }: Proposal,
        budget: &mut Budget,
    ) -> Result<(Candidate, ProviderTool), Vec<Problem>> {
        let mut checked = offer::check(&offer, (self.strictness, self.author), budget)?;
        refuse_name(&self.floor.tools, &checked.name).map_err(|problem| vec![problem])?;
        let disabled = match instead {
            None => None,
            Some((reason, offer)) => {
                checked = offer::check(&offer, (self.strictness, self.author), budget)?;
                Some(reason)
            }
        };
        let CheckedOffer { name, manifest, input, output, warnings } = checked;
        let candidate = Candidate { name: name.to_string(), warnings };
        Ok((candidate, ProviderTool { name, manifest, input, output, disabled, make }))
    }
}

impl Candidate {
    fn conclude(self, provision: Provision, verdicts: &mut Verdicts) {
        match provision {
            Ok(_) => verdicts.accept(&self.name, &self.warnings),
            Err(problems) => {
                let problems: Vec<_> = problems.into_iter().map(of_manifest).collect();
                verdicts.refuse(&self.name, &problems);
            }
        }
    }
}

pub(super) fn effect(definition: &Definition) -> Effect {
    match (definition.category, definition.idempotent) {
        (Category::Read, _) => Effect::Read,
        (_, true) => Effect::RepeatableWrite,
        (_, false) => Effect::Write,
    }
}

/// A problem of the manifest that an offer became, at its place in the offer.
fn of_manifest(problem: files::Problem) -> Problem {
    let files::Problem { pointer, rule, description, .. } = problem;
    let renamed =
        [("/timeout_ms", "/timeout"), ("/parameters", "/bind"), ("/returns", "/output_schema_json")];
    let in_offer = renamed.iter().find_map(|(from, to)| Some(format!("{to}{}", pointer.strip_prefix(from)?)));
    Problem::new(in_offer.unwrap_or(pointer), rule, description)
}
