//! `Late` of a write that this process did not start: it is taken once the process that did has ended.

use std::collections::HashSet;

use tokio::{sync::mpsc, time::sleep};

use super::{Hub, lock};
use crate::{
    bounds::{ELSEWHERE_INTERVAL, LATE_KEPT, MAX_ELSEWHERE},
    late::Key,
    pool::Command,
    start::Write,
    wire::outcome::Outcome,
};
use toolwire_base::clock;

/// What the record says of a write that this process did not start.
#[derive(Debug)]
pub enum Elsewhere {
    /// No such write of the provider is recorded.
    Unknown,
    /// The process that started it lives.
    Open,
    /// Its outcome is recorded.
    Known,
    /// Its outcome is unknown, and the process that started it has ended.
    Lost(Write),
}

/// The writes whose `Late` waits for the end of the process that started them.
#[derive(Debug, Default)]
pub(super) struct Waiting(HashSet<Key>);

impl Hub {
    /// Takes `Late` of a write that this process did not start, and answers it once it is recorded.
    pub(super) fn take_elsewhere(&self, key: Key, outcome: Outcome, answer: &mpsc::UnboundedSender<Command>) {
        {
            let mut waiting = lock(&self.0.waiting);
            if waiting.0.len() >= MAX_ELSEWHERE || !waiting.0.insert(key.clone()) {
                return;
            }
        }
        let (hub, answer) = (self.clone(), answer.clone());
        tokio::spawn(async move {
            let is_recorded = hub.record_elsewhere(&key, outcome).await;
            lock(&hub.0.waiting).0.remove(&key);
            if is_recorded {
                let _ = answer.send(Command::LateTaken(key.call));
            }
        });
    }

    /// Whether the outcome is recorded, or was.
    async fn record_elsewhere(&self, key: &Key, outcome: Outcome) -> bool {
        let until = clock::now() + LATE_KEPT;
        while clock::now() < until {
            match self.0.settle.find(&key.provider, key.call).await {
                Elsewhere::Unknown => return false,
                Elsewhere::Known => return true,
                Elsewhere::Lost(write) => {
                    let result = write.read(outcome).await;
                    return self.0.settle.settle(&write, result).await;
                }
                Elsewhere::Open => sleep(ELSEWHERE_INTERVAL).await,
            }
        }
        false
    }
}
