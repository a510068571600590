//! What a domain does with the tools themselves, once their pipeline is there: it calls them, and has work of its own.

use std::{fmt, sync::Arc};

use crate::service::{confirmations::Confirmations, drain::Drain, tasks::Tasks, upkeep::Upkeep};
use toolwire_base::files::Problems;
use toolwire_config::{Config, ToolPattern};
use toolwire_engine::{
    pipeline::{Pipeline, Policy},
    registry::Registry,
};
use toolwire_sources::upstream::source_status::SourceLimits;
use toolwire_state::{Store, cancellations::Subject};
use toolwire_tool::context::{Services, UserId};

/// Attaches a domain to the tools.
pub type Attach = Box<dyn FnOnce(&Attaching<'_>) -> Result<Attached, Problems> + Send>;

/// Cancels what a domain does for a user here. Returns whether it did.
pub type Cancel = Arc<dyn Fn(&UserId, &Subject) -> bool + Send + Sync>;

/// What every call passes, and what it waits for.
#[derive(Clone, Copy, Debug)]
pub struct Attaching<'a> {
    pub config: &'a Config,
    pub registry: &'a Arc<Registry>,
    pub pipeline: &'a Arc<Pipeline>,
    pub policy: &'a Arc<dyn Policy>,
    pub confirmations: &'a Confirmations,
    pub tasks: &'a Tasks,
    pub state: &'a Arc<Store>,
    /// The limits of the sources of all domains.
    pub limits: &'a Arc<dyn SourceLimits>,
    /// The services of all domains.
    pub services: &'a Services,
}

/// What a domain adds to the service.
#[derive(Clone, Default)]
pub struct Attached {
    /// What its gRPC services and routes find in their face.
    pub parts: Services,
    /// Its work in the background.
    pub drain: Option<Arc<dyn Drain>>,
    /// What cancels each kind of subject that it has, by the word of the kind.
    pub cancel: Vec<(&'static str, Cancel)>,
    /// Its rows in the state.
    pub upkeep: Option<Arc<dyn Upkeep>>,
    /// The patterns of tools in its settings. Those that match nothing are reported.
    pub patterns: Vec<SettingPattern>,
}

/// A pattern of tools, as it stands in the settings.
#[derive(Clone, Debug)]
pub struct SettingPattern {
    /// The name of the setting, such as `agent.roles.analyst: tools`.
    pub setting: String,
    /// The user or the role that it is for, such as `the role analyst`.
    pub of: String,
    pub pattern: ToolPattern,
}

impl fmt::Debug for Attached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attached").field("parts", &self.parts).finish_non_exhaustive()
    }
}
