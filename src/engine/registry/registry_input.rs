//! The inputs from which tools are assembled. Not here: assembling them (`load`).

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use prost_reflect::DescriptorPool;
use serde_json::{Map, Value};

use super::{
    choice::Choice, definition::OfDomain, disabled_tool::DisabledTool, manifests::Manifests,
    requirements::Requirements,
};
use toolwire_config::ProviderFloor;
use toolwire_tool::Executor;

/// The inputs from which tools are assembled.
pub struct RegistryInput {
    pub manifests: Manifests,
    /// The code of tools. An executor without a manifest is not offered.
    pub executors: Vec<Arc<dyn Executor>>,
    /// All messages and services that a manifest may refer to.
    pub descriptors: DescriptorPool,
    /// Values of parameters that the configuration determines.
    pub choices: Vec<Choice>,
    /// Conditions on arguments in the configuration, by tool, in addition to those of the manifests.
    pub approve_unless: BTreeMap<String, Map<String, Value>>,
    /// What the configuration requires of the tools of each provider.
    pub floors: BTreeMap<String, ProviderFloor>,
    /// Tools that the configuration disables.
    pub disabled: Vec<DisabledTool>,
    /// The domain of each tool, by name.
    pub domains: BTreeMap<String, OfDomain>,
    /// The parameters that a call by intent may contain even if its tool does not declare them.
    pub intent_parameters: BTreeSet<&'static str>,
}

impl RegistryInput {
    pub(super) fn requirements(&self) -> Requirements<'_> {
        Requirements { approve_unless: &self.approve_unless, floors: &self.floors }
    }
}

impl fmt::Debug for RegistryInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegistryInput").field("executors", &self.executors.len()).finish_non_exhaustive()
    }
}
