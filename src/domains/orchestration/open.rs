//! Wires the external services of the tools: the search of the web, by the configured engine or its embedded twin, and
//! the configured models.

use std::{convert::Infallible, sync::Arc};

use super::sources::{
    advisers::{Adviser, Advisers},
    embedded,
    search::{ENDPOINT, NOWHERE, PROFILE, SPEC, Search},
};
use toolwire_config::Config;
use toolwire_engine::registry::{DataSource, DisabledTool, SourceHealth};
use toolwire_server::domain::{OpenError, Opened, Opening};
use toolwire_sources::upstream::settings::Settings;
use toolwire_tool::context::Services;

/// Why nothing is searched for.
const NO_ENGINE: &str = "no search engine is configured: set `endpoint` of [sources.search] to a SearXNG whose \
                         settings allow the format json, or the mode of the source to embedded";

/// Where results come from.
#[derive(Debug)]
struct Engine {
    digest: String,
}

impl DataSource for Engine {
    fn name(&self) -> &str {
        PROFILE.name
    }

    fn refresh(&self) -> SourceHealth {
        SourceHealth { digest: self.digest.clone(), ..SourceHealth::default() }
    }
}

/// Sets the search and the models up.
pub(super) fn open(opening: &Opening<'_>) -> Result<Opened, OpenError> {
    let mut upstream = opening.upstream.clone();
    let is_embedded = upstream.is_embedded(&SPEC);
    if is_embedded {
        upstream = upstream.with_sender(|sender| Ok::<_, Infallible>(embedded::attach(sender)))?;
    }
    let base = if is_embedded { embedded::base() } else { upstream.address(&SPEC, ENDPOINT) };
    let digest = if is_embedded { "embedded".to_owned() } else { format!("live:{base}") };
    let now = upstream.now(&SPEC, embedded::recorded_at());
    let search = Search::new(upstream.client(&SPEC, PROFILE), base, now);
    let advisers = Advisers::of(&opening.config.models, &opening.config.egress)?;
    let services = Services::default().with(Arc::new(search)).with(Arc::new(advisers));
    Ok(Opened { services, data: vec![Arc::new(Engine { digest })], ..Opened::default() })
}

/// The tools that cannot be called as things are set.
pub(super) fn disabled(config: &Config) -> Vec<DisabledTool> {
    let settings = config.part::<Settings>();
    let is_nowhere = settings.address(&SPEC, ENDPOINT).as_str() == NOWHERE;
    let search = (is_nowhere && !settings.is_embedded(SPEC.name))
        .then(|| DisabledTool { tool: "search_web", reason: NO_ENGINE.to_owned() });
    let nobody = Adviser::ALL.into_iter().filter(|adviser| adviser.configured(&config.models).is_none());
    let models = nobody.map(|adviser| DisabledTool { tool: adviser.tool(), reason: adviser.reason() });
    models.chain(search).collect()
}
