//! The sources of all domains together: connections, limits, hold-offs and cool-downs, set up once.
//!
//! A domain gets a handle of this and asks it for the client of each of its sources. An embedded source and a live one
//! differ in their address, their clock and their spacing, and in nothing else.

use std::{sync::Arc, time::SystemTime};

use http::HeaderValue;
use url::Url;

use super::{
    http::{Client, Profile, Sender, TlsError},
    limiter::SharedLimiter,
    now::Now,
    settings::Settings,
    source::SourceSpec,
    source_status::{Limits, SourceBudget},
};
use toolwire_store::{RememberedCoolDowns, RememberedHoldOffs, Store, cool_downs::CoolDowns};

#[derive(Clone, Debug)]
pub struct Sources {
    settings: Arc<Settings>,
    specs: Arc<[SourceSpec]>,
    sender: Sender,
    limiter: Arc<SharedLimiter>,
    cool_downs: Arc<RememberedCoolDowns>,
    hold_offs: Arc<RememberedHoldOffs>,
}

impl Sources {
    /// The given sources as they are set. Cool-downs, hold-offs and requests of the live ones outlive the process in
    /// what is kept.
    pub fn new(settings: Arc<Settings>, specs: Vec<SourceSpec>, kept: &Arc<Store>) -> Result<Self, TlsError> {
        let user_agent = HeaderValue::from_str(&settings.user_agent).expect("checked when it was read");
        let live: Vec<_> =
            specs.iter().map(|spec| spec.name).filter(|name| !settings.is_embedded(name)).collect();
        let cool_downs = Arc::new(RememberedCoolDowns::new(Arc::clone(kept) as _, live.iter().copied()));
        let hold_offs = Arc::new(RememberedHoldOffs::new(Arc::clone(kept) as _, live.iter().copied()));
        let budgets = specs.iter().map(|spec| (spec.name, settings.budgets(spec)));
        let limiter = Arc::new(SharedLimiter::new(budgets, Arc::clone(kept), live));
        let sender = Sender::new()?.with_user_agent(user_agent);
        Ok(Self { settings, specs: specs.into(), sender, limiter, cool_downs, hold_offs })
    }

    /// The same sources over other connections, such as those to what answers within the process.
    pub fn sending_over<E>(self, other: impl FnOnce(Sender) -> Result<Sender, E>) -> Result<Self, E> {
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
            .cooling_down_for(self.settings.cool_down)
            .holding_off_in(Arc::clone(&self.hold_offs) as _)
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
        let mut budgets: Vec<_> = self.specs.iter().map(of_source).collect();
        budgets.sort_by(|one, other| one.name.cmp(&other.name));
        Limits::new(Arc::clone(&self.limiter) as _, self.cool_downs(), budgets)
            .with_hold_offs(Arc::clone(&self.hold_offs) as _)
    }
}
