//! A domain: tools and everything that only they need, as one value.
//!
//! The platform serves domains and knows none by name. The bundled ones are listed in `toolwire::domains`; a team's own
//! crate makes its own the same way and hands it to the same function. Each part has the type of the crate that uses
//! it, so this file only gathers.

mod attach;
mod command;

use std::{error::Error, fmt, sync::Arc};

use crate::faces::{
    grpc,
    http::{route::Route, rpc_route::RpcRoute},
    rest,
};
use toolwire_base::files::{Embedded, Problem, Tree};
use toolwire_config::{Config, Section};
use toolwire_db::Migrations;
use toolwire_engine::registry::{Choice, DataSource, DisabledTool};
use toolwire_sources::upstream::{source::SourceSpec, source_status::Hold, sources::Sources};
use toolwire_state::Store;
use toolwire_tool::{
    Executor,
    context::{Services, SourceStates},
};

pub use attach::{Attach, Attached, Attaching, Cancel, SettingPattern};
pub use command::{Alone, Command, Run, StartWork, WithServer};

/// A domain, before it is opened.
pub struct Domain {
    /// Its name, such as `toys`: that of its folders and of its package.
    pub name: &'static str,
    /// When it is offered.
    pub offer: Offer,
    /// The executors of its tools.
    pub tools: Vec<Arc<dyn Executor>>,
    /// The sources that its tools ask over HTTP. Each has its table of settings.
    pub sources: Vec<SourceSpec>,
    /// Its other settings.
    pub settings: Vec<Section>,
    /// The encoded `FileDescriptorSet` of its messages and services and of what they import, comments included. Empty
    /// for a domain whose tools declare their schemas themselves.
    pub descriptors: &'static [u8],
    /// Its embedded files: the manifests of its tools, the files that its sources read, and the templates of answers,
    /// `<name>/answers/<tool>.md`.
    pub data: Embedded,
    /// What other domains read of it: one value a type.
    pub parts: Services,
    /// Its tables in the state file.
    pub migrations: Option<Migrations>,
    /// Its routes over HTTP beside those of its tools.
    pub routes: fn() -> Vec<Route>,
    /// The RPCs of its services that are routes too. The contract of the platform has them.
    pub rpc_routes: &'static [RpcRoute],
    pub commands: Vec<Command>,
    /// The parameters that intents pass to whichever tool they route to: where the tool does not take one of these, it
    /// is dropped rather than refused.
    pub intent_parameters: &'static [&'static str],
    /// The values of its tools' parameters that the configuration permits.
    pub choices: Choices,
    /// Those of its tools that cannot be called with the configuration.
    pub disabled: DisabledTools,
    /// Makes its sources and services from the configuration.
    pub open: Open,
    /// Every problem of its data, for the linter.
    pub check: Check,
}

/// Returns the values of parameters that the configuration permits.
pub type Choices = Box<dyn Fn(&Config) -> Vec<Choice> + Send + Sync>;

/// Returns the tools that cannot be called with the configuration.
pub type DisabledTools = Box<dyn Fn(&Config) -> Vec<DisabledTool> + Send + Sync>;

/// Makes a domain's sources and services.
pub type Open = Box<dyn Fn(&Opening<'_>) -> Result<Opened, OpenError> + Send + Sync>;

/// Returns the problems of a domain's data.
pub type Check = Box<dyn Fn(&Opening<'_>) -> Vec<Problem> + Send + Sync>;

/// Why a domain cannot be opened, in words for the operator. [`Problems`](toolwire_base::files::Problems) are reported
/// with those of manifests.
pub type OpenError = Box<dyn Error + Send + Sync>;

/// When a domain is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    Always,
    /// Unless `--no-samples` says otherwise: it shows what tools are like.
    Sample,
    /// Only with `--diagnostics`: it is about the service itself, so its manifests never come from `--data`.
    WithDiagnostics,
}

#[derive(Debug)]
pub struct Opening<'a> {
    pub config: &'a Config,
    /// The data tree: a directory on disk, or what all domains embed.
    pub tree: &'a Tree,
    /// The state, which outlives the process.
    pub state: &'a Arc<Store>,
    /// The sources of all domains: clients, addresses, clocks.
    pub upstream: &'a Sources,
    /// The domains that are offered; for the linter, all domains.
    pub domains: &'a [&'a Domain],
}

#[derive(Default)]
pub struct Opened {
    /// The services in the context of its tools.
    pub services: Services,
    /// For each source whose data changes at run time: how to pin its state for a call.
    pub states: SourceStates,
    /// The sources whose digest and problems the registry reports.
    pub data: Vec<Arc<dyn DataSource>>,
    pub grpc: Vec<grpc::Service>,
    /// Conditions, beside limits and cool-downs, under which its sources must not be requested.
    pub holds: Vec<Arc<dyn Hold>>,
    /// Attaches it to the tools of all domains, if it calls them by itself.
    pub attach: Vec<Attach>,
}

impl Domain {
    /// A domain of nothing but a name.
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            offer: Offer::Always,
            tools: Vec::new(),
            sources: Vec::new(),
            settings: Vec::new(),
            descriptors: &[],
            data: Embedded::default(),
            parts: Services::default(),
            migrations: None,
            routes: Vec::new,
            rpc_routes: &[],
            commands: Vec::new(),
            intent_parameters: &[],
            choices: Box::new(|_| Vec::new()),
            disabled: Box::new(|_| Vec::new()),
            open: Box::new(|_| Ok(Opened::default())),
            check: Box::new(|_| Vec::new()),
        }
    }

    /// Its routes, those of its RPCs included.
    pub fn all_routes(&self) -> Vec<Route> {
        (self.routes)().into_iter().chain(rest::rpc_routes(self.rpc_routes)).collect()
    }
}

impl Opened {
    /// The parts of both domains, those of the other one last.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            services: self.services.and(other.services),
            states: self.states.and(other.states),
            data: self.data.into_iter().chain(other.data).collect(),
            grpc: self.grpc.into_iter().chain(other.grpc).collect(),
            holds: self.holds.into_iter().chain(other.holds).collect(),
            attach: self.attach.into_iter().chain(other.attach).collect(),
        }
    }
}

impl fmt::Debug for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Domain")
            .field("name", &self.name)
            .field("tools", &self.tools.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened").field("services", &self.services).finish_non_exhaustive()
    }
}
