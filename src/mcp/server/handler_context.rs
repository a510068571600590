//! What all requests to one handler have in common, behind one pointer: a handler is cloned for each.

use std::sync::Arc;

use tokio_util::task::TaskTracker;

use super::{
    cancellations::Cancellations,
    known_tools::KnownTools,
    listing::Listings,
    settings::{Confirmations, Settings, Transport},
    task_permits::TaskPermits,
};

#[derive(Clone, Debug)]
pub(super) struct HandlerContext {
    pub(super) settings: Settings,
    pub(super) transport: Transport,
    pub(super) known: Arc<KnownTools>,
    pub(super) listings: Arc<Listings>,
    pub(super) task_permits: Arc<TaskPermits>,
    pub(super) confirmations: Arc<Confirmations>,
    /// Those by which a command finds the same tools, each after a space.
    pub(super) flags: Arc<str>,
    pub(super) cancellations: Arc<Cancellations>,
    /// The writes that have begun and are not answered.
    pub(super) writes: TaskTracker,
}

impl HandlerContext {
    pub(super) fn new(settings: Settings, transport: Transport) -> Self {
        Self {
            settings,
            transport,
            known: Arc::default(),
            listings: Arc::default(),
            task_permits: Arc::default(),
            confirmations: Arc::default(),
            flags: Arc::default(),
            cancellations: Arc::default(),
            writes: TaskTracker::new(),
        }
    }
}
