//! Providers: their offers of names that they may own become tools of the registry, and late outcomes of their writes
//! replace the unknown ones that were recorded.

mod late;
mod owned;

use std::{sync::Arc, time::Duration};

use futures_util::future::{BoxFuture, FutureExt};
use tokio::{task::spawn_blocking, time::sleep};

use self::{late::LateOutcomes, owned::refuse_name};
use toolwire_base::files;
use toolwire_config::{Config, ProviderFloor, Providers};
use toolwire_contract::proto::host::v1 as wire;
use toolwire_engine::registry::{CacheScope, Category, Definition, ProvidedTool, Provision, Registry};
use toolwire_hosts::{
    Effect, HostTool, HostToolParts, Hub, Registrar, Verdicts,
    ids::{CatalogueId, ProviderName},
    offer::{self, Budget, CheckedOffer, Problem, Strictness},
};
use toolwire_store::Store;
use toolwire_tool::Executor;

/// Changes that come within this time become one snapshot.
const JOINED: Duration = Duration::from_millis(50);

/// The hosts of the configured providers, or of this machine.
pub(super) fn hub(config: &Config, registry: &Arc<Registry>, state: &Arc<Store>) -> Hub {
    // Without users only this machine is served, as a developer's.
    let strictness = if config.auth.users.is_empty() { Strictness::Lenient } else { Strictness::Strict };
    let registry = Arc::clone(registry);
    let offers = Offers { registry, providers: config.providers.clone(), strictness };
    Hub::new(Arc::new(offers), Arc::new(LateOutcomes::new(Arc::clone(state))))
}

/// Takes offers into the registry.
struct Offers {
    registry: Arc<Registry>,
    providers: Providers,
    strictness: Strictness,
}

impl Registrar for Offers {
    fn serve<'a>(
        &'a self,
        hub: &'a Hub,
        provider: &'a ProviderName,
        catalogue: &'a CatalogueId,
        offers: &'a [wire::Offer],
    ) -> BoxFuture<'a, Verdicts> {
        let work = Work {
            registry: Arc::clone(&self.registry),
            hub: hub.clone(),
            provider: provider.clone(),
            catalogue: catalogue.clone(),
            floor: self.providers.floor(provider.as_str()),
            strictness: self.strictness,
        };
        let offers = offers.to_vec();
        async move {
            // A thousand schemas take long.
            let verdicts = spawn_blocking(move || work.take_over(&offers)).await.unwrap_or_else(|error| {
                tracing::error!(%provider, %error, "offers cannot be checked");
                Verdicts::default()
            });
            sleep(JOINED).await;
            self.registry.publish_pending();
            verdicts
        }
        .boxed()
    }

    fn set_degraded(&self, provider: &ProviderName, reason: Option<String>) {
        self.registry.set_provider_degraded(provider.as_str(), reason);
    }

    fn withdraw(&self, provider: &ProviderName) {
        self.registry.withdraw(provider.as_str());
    }
}

/// A catalogue on its way into the registry.
struct Work {
    registry: Arc<Registry>,
    hub: Hub,
    provider: ProviderName,
    catalogue: CatalogueId,
    floor: ProviderFloor,
    strictness: Strictness,
}

/// An offer that passed so far: its name, and what should be fixed.
struct Candidate {
    name: String,
    warnings: Vec<Problem>,
}

impl Work {
    fn take_over(&self, offers: &[wire::Offer]) -> Verdicts {
        self.warn_of_unmatched_conditions(offers);
        let (mut candidates, mut tools, mut verdicts) = (Vec::new(), Vec::new(), Verdicts::default());
        let mut budget = Budget::default();
        for offer in offers {
            match self.candidate(offer, &mut budget) {
                Ok((candidate, tool)) => {
                    candidates.push(candidate);
                    tools.push(tool);
                }
                Err(problems) => verdicts.refuse(&offer.name, &problems),
            }
        }
        let provisions = self.registry.provide(self.provider.as_str(), tools);
        for (candidate, provision) in candidates.into_iter().zip(provisions) {
            candidate.conclude(provision, &mut verdicts);
        }
        verdicts.verdicts.sort_by(|one, other| one.tool.cmp(&other.tool));
        verdicts
    }

    /// A misspelt name in the configuration would leave a tool without its conditions.
    fn warn_of_unmatched_conditions(&self, offers: &[wire::Offer]) {
        let is_offered = |name: &String| offers.iter().any(|offer| offer.name == *name);
        for name in self.floor.conditions.keys().filter(|name| !is_offered(name)) {
            tracing::warn!(provider = %self.provider, tool = name, "conditions on a tool that is not offered");
        }
    }

    fn candidate(
        &self,
        offer: &wire::Offer,
        budget: &mut Budget,
    ) -> Result<(Candidate, ProvidedTool), Vec<Problem>> {
        let checked = offer::check(offer, self.strictness, budget)?;
        let CheckedOffer { name, manifest, input, output, warnings } = checked;
        refuse_name(&self.floor.tools, &name).map_err(|problem| vec![problem])?;
        // Not the hub, which has the registry, which keeps this.
        let (pool, source) = (self.hub.pool().clone(), (self.provider.clone(), self.catalogue.clone()));
        let make = move |definition: &Definition| {
            HostTool::new(pool.clone(), parts(source.clone(), definition))
                .map(|tool| Arc::new(tool) as Arc<dyn Executor>)
        };
        let candidate = Candidate { name: name.to_string(), warnings };
        Ok((candidate, ProvidedTool { name, manifest, input, output, make: Arc::new(make) }))
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

/// A tool as it is served: a file may say something else than the offer.
fn parts((provider, catalogue): (ProviderName, CatalogueId), definition: &Definition) -> HostToolParts {
    HostToolParts {
        provider,
        catalogue,
        tool: definition.name.clone(),
        digest: definition.digest.to_string(),
        effect: effect(definition),
        is_shared: definition.cache.is_some_and(|it| it.scope == CacheScope::Shared),
        timeout: definition.timeout,
        input: Arc::clone(&definition.input_schema),
        output: Arc::clone(&definition.output_schema),
    }
}

fn effect(definition: &Definition) -> Effect {
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
