//! A request on its way through the stack, with the count of those that went out before it.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use super::Outgoing;
use toolwire_tool::context::ToolContext;

/// A request on its way through the stack. Cheap to clone, since each attempt is one.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) outgoing: Outgoing,
    /// On behalf of which call.
    pub(super) context: ToolContext,
    /// How often the source has been asked by that call.
    pub(super) attempts: Attempts,
}

/// How many requests a call and those nested in it have made to a source. Cheap to clone; clones share state.
#[derive(Clone, Debug, Default)]
pub(super) struct Attempts(Arc<AtomicU32>);

/// How many requests a call and those nested in it have made to all sources.
pub fn requests_made(context: &ToolContext) -> u32 {
    let by_source = context.pins.get_or_pin(Arc::<BySource>::default);
    let by_source = by_source.0.lock().unwrap_or_else(PoisonError::into_inner);
    by_source.values().map(Attempts::get).sum()
}

/// The counts of one call, by source. Pinned to it, so that nested calls share them.
#[derive(Debug, Default)]
struct BySource(Mutex<HashMap<&'static str, Attempts>>);

impl Request {
    /// A request to a source on behalf of a call.
    pub(super) fn new(outgoing: Outgoing, context: &ToolContext, source: &'static str) -> Self {
        Self { outgoing, context: context.clone(), attempts: Attempts::of(context, source) }
    }
}

impl Attempts {
    /// The count of a call at a source.
    pub(super) fn of(context: &ToolContext, source: &'static str) -> Self {
        let by_source = context.pins.get_or_pin(Arc::<BySource>::default);
        let mut by_source = by_source.0.lock().unwrap_or_else(PoisonError::into_inner);
        by_source.entry(source).or_default().clone()
    }

    /// One more request goes out.
    pub(super) fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// How many went out.
    pub(super) fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}
