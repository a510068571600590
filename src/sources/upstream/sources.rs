//! The sources of all domains together: connections, limits, hold-offs and cool-downs, set up once.
//!
//! A domain gets a handle of this and asks it for the client of each of its sources. An embedded source and a live one
//! differ in their address, their clock and their spacing, and in nothing else.

use std::{sync::Arc, time::SystemTime};

use http::HeaderValue;
use url::Url;

use super::{
    http::{Client, CredentialsOf, Profile, Sender, TlsError},
    limiter::{Budget, SharedLimiter},
    now::Now,
    provider::{COOL_DOWN, ProviderSpec},
    settings::Settings,
    source::SourceSpec,
    source_status::{Limits, SourceBudget},
    stack::{Gate, HoldOff, Limit, Scope, Subject},
};
use toolwire_config::LOCAL_PROVIDER;
use toolwire_outgoing::Egress;
use toolwire_state::{RememberedCoolDowns, RememberedHoldOffs, Store, cool_downs::CoolDowns};

#[derive(Clone, Debug)]
pub struct Sources {
    settings: Arc<Settings>,
    specs: Arc<[SourceSpec]>,
    providers: Arc<[ProviderSpec]>,
    sender: Sender,
    limiter: Arc<SharedLimiter>,
    cool_downs: Arc<RememberedCoolDowns>,
    hold_offs: Arc<RememberedHoldOffs>,
}

impl Sources {
    /// The given sources as they are set. Cool-downs, hold-offs and requests of the live ones outlive the process in
    /// what is kept, as those of providers do.
    pub fn new(
        settings: Arc<Settings>,
        specs: Vec<SourceSpec>,
        providers: Vec<ProviderSpec>,
        egress: &Egress,
        kept: &Arc<Store>,
    ) -> Result<Self, TlsError> {
        let user_agent = HeaderValue::from_str(&settings.user_agent).expect("checked when it was read");
        let live = specs.iter().map(|spec| spec.name).filter(|name| !settings.is_embedded(name));
        // The hosts of a developer's machine are of one process.
        let kept_providers = providers.iter().map(|it| it.name.as_str()).filter(|it| *it != LOCAL_PROVIDER);
        let live: Vec<&str> = live.chain(kept_providers).collect();
        let cool_downs = Arc::new(RememberedCoolDowns::new(Arc::clone(kept) as _, live.iter().copied()));
        let hold_offs = Arc::new(RememberedHoldOffs::new(Arc::clone(kept) as _, live.iter().copied()));
        let of_providers = providers.iter().filter_map(|it| Some((it.name.as_str(), it.budgets()?)));
        let budgets = specs.iter().map(|spec| (spec.name, settings.budgets(spec))).chain(of_providers);
        let limiter = Arc::new(SharedLimiter::new(budgets, Arc::clone(kept), live));
        let sender = Sender::new(egress)?.with_user_agent(user_agent);
        let (specs, providers) = (specs.into(), providers.into());
        Ok(Self { settings, specs, providers, sender, limiter, cool_downs, hold_offs })
    }

    /// The same sources over other connections, such as those to what answers within the process.
    pub fn with_sender<E>(self, other: impl FnOnce(Sender) -> Result<Sender, E>) -> Result<Self, E> {
        Ok(Self { sender: other(self.sender.clone())?, ..self })
    }

    /// Whether the source's embedded twin is to answer in its place.
    pub fn is_embedded(&self, source: &SourceSpec) -> bool {
        self.settings.is_embedded(source.name)
    }

    /// What a connector of the source asks through.
    pub fn client(&self, source: &SourceSpec, profile: Profile) -> Client {
        let timeout = self.settings.of(source).timeout.unwrap_or(source.timeout);
        let profile = Profile { timeout, ..profile };
        let (limiter, cool_downs) = (Arc::clone(&self.limiter) as _, Arc::clone(&self.cool_downs) as _);
        Client::new(profile, self.sender.clone(), limiter, cool_downs)
            .with_cool_down(self.settings.cool_down)
            .with_hold_offs(Arc::clone(&self.hold_offs) as _)
    }

    /// Whether it is the name of a source that domains ask.
    pub fn is_of_domain(&self, name: &str) -> bool {
        self.specs.iter().any(|spec| spec.name == name)
    }

    /// What calls to a provider pass. One without limits is kept back by its pauses and cool-downs alone.
    pub fn gate(&self, provider: &str) -> Gate {
        let subject = Subject {
            source: provider.to_owned().into(),
            name: provider.to_owned().into(),
            title: format!("`{provider}`").into(),
            credentials: CredentialsOf::Service,
        };
        let hold_off = HoldOff::new(subject.clone(), Arc::clone(&self.hold_offs) as _);
        let limit = Limit::new(subject.clone(), Arc::clone(&self.limiter) as _, hold_off);
        Gate::new(Scope::new(subject, self.cool_downs(), COOL_DOWN), limit)
    }

    /// Where one of the live source's addresses is; ends in `/`.
    pub fn address(&self, source: &SourceSpec, key: &str) -> Url {
        self.settings.address(source, key)
    }

    /// All addresses of the live source in one text, which distinguishes its data from that of other addresses.
    pub fn addresses(&self, source: &SourceSpec) -> String {
        let addresses = source.addresses.iter().map(|it| self.address(source, it.key).to_string());
        addresses.collect::<Vec<_>>().join(" ")
    }

    /// The source's clock. While it is embedded, it always shows the given instant.
    pub fn now(&self, source: &SourceSpec, recorded_at: SystemTime) -> Now {
        if self.is_embedded(source) { Now::Recorded(recorded_at) } else { Now::Wall }
    }

    /// Which sources are left alone, and until when.
    pub fn cool_downs(&self) -> Arc<dyn CoolDowns> {
        Arc::clone(&self.cool_downs) as _
    }

    /// The state of limits, hold-offs and cool-downs.
    pub fn limits(&self) -> Limits {
        let of_source = |spec: &SourceSpec| SourceBudget {
            name: spec.name.to_owned(),
            title: spec.title.to_owned(),
            budget: self.settings.live_budgets(spec).per_user,
        };
        let of_provider = |provider: &ProviderSpec| SourceBudget {
            name: provider.name.clone(),
            title: provider.name.clone(),
            budget: provider.budgets().map_or(Budget::UNLIMITED, |budgets| budgets.per_user),
        };
        let of_providers = self.providers.iter().map(of_provider);
        let mut budgets: Vec<_> = self.specs.iter().map(of_source).chain(of_providers).collect();
        budgets.sort_by(|one, other| one.name.cmp(&other.name));
        Limits::new(Arc::clone(&self.limiter) as _, self.cool_downs(), budgets)
            .with_hold_offs(Arc::clone(&self.hold_offs) as _)
    }
}
