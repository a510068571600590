//! Guidance for a planner's system prompt. The text over all tools is cached for as long as it holds.

use std::sync::{Arc, Weak};

use arc_swap::ArcSwapOption;

use toolwire_config::Toolset;
use toolwire_engine::registry::{self, Detail, RegisteredTool, Snapshot};
use toolwire_sources::upstream::source_status::SourceBudget;

/// Text for a planner's system prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guidance {
    /// Which tools there are.
    pub tools: String,
    /// How to use them well. Empty if there is nothing to say.
    pub guidance: String,
    /// What people call the toolset that the request names. Empty if there is nothing to say.
    pub toolset_title: String,
}

impl Guidance {
    pub(super) fn new(tools: &[Arc<RegisteredTool>], detail: Detail, budgets: &[SourceBudget]) -> Self {
        Self {
            tools: registry::describe_for_planner(tools, detail),
            guidance: registry::guidance_for_planner(tools, budgets),
            toolset_title: String::new(),
        }
    }

    /// The same, after the instructions of a toolset.
    pub(super) fn of_toolset(mut self, toolset: Option<&Toolset>) -> Self {
        let Some(Toolset { title, instructions, .. }) = toolset else { return self };
        let parts = [instructions.clone().unwrap_or_default(), self.guidance];
        self.guidance = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n");
        self.toolset_title = title.clone().unwrap_or_default();
        self
    }
}

/// The guidance on all tools, as last made in each detail.
#[derive(Debug, Default)]
pub(super) struct CachedGuidance {
    lines: ArcSwapOption<Whole>,
    with_parameters: ArcSwapOption<Whole>,
}

#[derive(Debug)]
struct Whole {
    /// Weak, so that it keeps no tools alive. While it exists, no other snapshot has the same address.
    snapshot: Weak<Snapshot>,
    budgets: Vec<SourceBudget>,
    guidance: Arc<Guidance>,
}

impl CachedGuidance {
    /// The guidance on all tools of a snapshot.
    pub(super) fn of(
        &self,
        snapshot: &Arc<Snapshot>,
        detail: Detail,
        budgets: Vec<SourceBudget>,
    ) -> Arc<Guidance> {
        let cached = match detail {
            Detail::Line => &self.lines,
            Detail::Parameters => &self.with_parameters,
        };
        if let Some(whole) = &*cached.load()
            && whole.snapshot.as_ptr() == Arc::as_ptr(snapshot)
            && whole.budgets == budgets
        {
            return Arc::clone(&whole.guidance);
        }
        let guidance = Arc::new(Guidance::new(snapshot.tools().as_slice(), detail, &budgets));
        let (snapshot, kept) = (Arc::downgrade(snapshot), Arc::clone(&guidance));
        cached.store(Some(Arc::new(Whole { snapshot, budgets, guidance: kept })));
        guidance
    }
}
