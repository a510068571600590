//! What tools are made from. Not here: making them (`load`).

use std::{collections::BTreeSet, fmt, sync::Arc};

use prost_reflect::DescriptorPool;

use super::{choice::Choice, disabled::Disabled, manifests::Manifests};
use toolwire_tool::Executor;

/// What tools are made from.
pub struct Offered {
    /// What is said of them.
    pub manifests: Manifests,
    /// What carries them out. One without a manifest is not offered.
    pub executors: Vec<Arc<dyn Executor>>,
    /// Every message and service that a manifest may name.
    pub descriptors: DescriptorPool,
    /// What parameters may be by the configuration.
    pub choices: Vec<Choice>,
    /// The tools that cannot be called as things are set.
    pub disabled: Vec<Disabled>,
    /// The parameters that intents pass on even where their tool does not take them.
    pub intent_parameters: BTreeSet<&'static str>,
}

impl fmt::Debug for Offered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Offered").field("executors", &self.executors.len()).finish_non_exhaustive()
    }
}
