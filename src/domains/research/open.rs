//! The research sources, wired: connectors over the platform's clients, and what answers for embedded ones.
//!
//! Not here: limits, cool-downs and connections, which the platform sets up for the sources of all domains.

mod connectors;

use std::{io, sync::Arc};

use self::connectors::Parts;
use crate::{
    data,
    discovery::Stocks,
    service,
    settings::Settings,
    sources::{
        embedded, screener,
        specs::{self, NSE, SCREENER},
        universe::{BadUniverse, Universe},
    },
    store::tables::Tables,
    tools::Profiles,
};
use toolwire_base::files::{ReadError, Tree};
use toolwire_engine::registry::{DataSource, SourceHealth};
use toolwire_server::domain::{self, Opened, Opening};
use toolwire_sources::upstream::sources::Sources;
use toolwire_state::Partition;
use toolwire_tool::context::Services;

const UNIVERSE: &str = "research/universe.json";

/// The data of an embedded or live source, whose digest does not change while serving.
#[derive(Debug)]
struct Recorded {
    name: &'static str,
    digest: String,
}

impl DataSource for Recorded {
    fn name(&self) -> &str {
        self.name
    }

    fn refresh(&self) -> SourceHealth {
        SourceHealth { digest: self.digest.clone(), ..SourceHealth::default() }
    }
}

/// The research sources cannot be set up.
#[derive(Debug, thiserror::Error)]
enum OpenError {
    /// The data of the embedded sources cannot be read.
    #[error("the embedded sources cannot answer: {0}")]
    Embedded(#[from] io::Error),
    /// The list of stocks cannot be read.
    #[error(transparent)]
    Unreadable(#[from] ReadError),
    /// The list of stocks is wrong.
    #[error(transparent)]
    Universe(#[from] BadUniverse),
}

/// Sets the sources up.
pub(super) fn open(opening: &Opening<'_>) -> Result<Opened, domain::OpenError> {
    Ok(set_up(opening)?)
}

fn set_up(opening: &Opening<'_>) -> Result<Opened, OpenError> {
    let Opening { config, tree, state, upstream, .. } = opening;
    let settings = config.part::<Settings>();
    let is_any_embedded = specs::ALL.iter().any(|source| upstream.is_embedded(source));
    // Copies made from invented data are never shown as real.
    let partition = if upstream.is_embedded(&SCREENER) { Partition::Embedded } else { Partition::Live };
    let tables = Arc::new(Tables::new(Arc::clone(state), partition));
    // Before any connector is made: each keeps the sender it is made with.
    let mut upstream = (*upstream).clone();
    if is_any_embedded {
        upstream = upstream.with_sender(|sender| embedded::attach(sender, (*tree).clone()))?;
    }
    let first_deal = upstream.is_embedded(&NSE).then(|| embedded::first_deal((*tree).clone())).transpose()?;
    let universe = Arc::new(universe(tree)?);
    let parts = Parts {
        upstream: &upstream,
        settings: &settings,
        universe,
        tables,
        first_deal: first_deal.flatten(),
    };
    let credentials = Arc::new(screener::Credentials::default());
    let stocks = Arc::new(Stocks::of(Arc::clone(&parts.universe)));
    let services = services(&parts, &credentials).with(Arc::clone(&stocks));
    let profiles = services.get::<Profiles>();
    let holds = vec![Arc::new(services.get::<screener::Screener>().hold()) as _];
    let recorded = |(name, digest)| Arc::new(Recorded { name, digest }) as _;
    let data = digests(&upstream, tree).map(recorded).collect();
    Ok(Opened {
        services,
        data,
        grpc: vec![service::service(credentials), service::discovery::service(stocks, profiles)],
        holds,
        ..Opened::default()
    })
}

fn services(parts: &Parts<'_>, credentials: &Arc<screener::Credentials>) -> Services {
    let watchlists = parts.watchlists();
    Services::default()
        .with(Arc::new(parts.yahoo()))
        .with(Arc::new(parts.nse()))
        .with(Arc::new(parts.valuepickr()))
        .with(Arc::new(parts.reddit()))
        .with(Arc::new(parts.news()))
        .with(Arc::new(parts.screener(Arc::clone(credentials))))
        .with(Arc::new(parts.symbols()))
        .with(Arc::clone(&parts.universe))
        .with(Arc::new(Profiles::from(&parts.settings.profiles)))
        .with(Arc::new(watchlists))
        .with(Arc::clone(credentials))
}

/// What each source answers from. A live source at another address counts as other data.
fn digests(upstream: &Sources, tree: &Tree) -> impl Iterator<Item = (&'static str, String)> {
    // What the embedded sources answer from: a tree without research has the built-in one.
    let built_in = Tree::Embedded(data::files());
    let tree = if tree.has_directory("research") { tree } else { &built_in };
    let embedded = format!("embedded:{}", tree.digest("research"));
    specs::ALL.into_iter().map(move |source| {
        let live = || format!("live:{}", upstream.addresses(&source));
        (source.name, if upstream.is_embedded(&source) { embedded.clone() } else { live() })
    })
}

/// The known stocks of a tree, or else those that are built in.
fn universe(tree: &Tree) -> Result<Universe, OpenError> {
    let text = match tree.read(UNIVERSE)? {
        Some(text) => text,
        None => Tree::Embedded(data::files()).read(UNIVERSE)?.expect("it is built in"),
    };
    Ok(Universe::parse(&text)?)
}
