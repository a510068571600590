//! `Late` of a write that this process did not start: it is taken once the process that did has ended.

use std::collections::HashMap;

use tokio::{sync::mpsc, time::sleep};

use super::{Hub, lock};
use crate::{
    bounds::{LATE_KEPT, MAX_LATE_BYTES, MAX_LATE_WAITING, OTHER_PROCESS_INTERVAL},
    pool::Command,
    start::Write,
    started_writes::Key,
    wire::outcome::Outcome,
};
use toolwire_base::clock;

/// What the record says of a write that this process did not start.
#[derive(Debug)]
pub enum WriteRecord {
    /// No such write of the provider is recorded.
    Unknown,
    /// The process that started it lives.
    Open,
    /// Its outcome is recorded.
    Settled,
    /// Its outcome is unknown, and the process that started it has ended.
    Unresolved(Write),
}

/// The writes whose `Late` waits for the end of the process that started them, and its bytes.
#[derive(Debug, Default)]
pub(super) struct PendingOutcomes(HashMap<Key, usize>);

impl PendingOutcomes {
    /// Adds a write, unless it waits already or its provider has too many.
    fn add(&mut self, key: &Key, bytes: usize) -> bool {
        let (mut count, mut sum) = (0, 0);
        for (of_provider, bytes) in self.0.iter().filter(|(it, _)| it.provider == key.provider) {
            if of_provider == key {
                return false;
            }
            count += 1;
            sum += bytes;
        }
        if count > 0 && (count >= MAX_LATE_WAITING || sum + bytes > MAX_LATE_BYTES) {
            return false;
        }
        self.0.insert(key.clone(), bytes);
        true
    }
}

impl Hub {
    /// Takes `Late` of a write that this process did not start, and answers it once it is recorded.
    pub(super) fn take_of_other_process(
        &self,
        key: Key,
        outcome: Outcome,
        answer: &mpsc::UnboundedSender<Command>,
    ) {
        if !lock(&self.0.waiting).add(&key, outcome.encoded_len()) {
            return;
        }
        let (hub, answer) = (self.clone(), answer.clone());
        tokio::spawn(async move {
            let is_recorded = hub.record_of_other_process(&key, outcome).await;
            lock(&hub.0.waiting).0.remove(&key);
            if is_recorded {
                let _ = answer.send(Command::LateTaken(key.call));
            }
        });
    }

    /// Whether the outcome is recorded, or was.
    async fn record_of_other_process(&self, key: &Key, outcome: Outcome) -> bool {
        let until = clock::now() + LATE_KEPT;
        while clock::now() < until {
            match self.0.settle.find(&key.provider, key.call).await {
                WriteRecord::Unknown => return false,
                WriteRecord::Settled => return true,
                WriteRecord::Unresolved(write) => {
                    let result = write.read(outcome).await;
                    return self.0.settle.settle(&write, result).await;
                }
                WriteRecord::Open => sleep(OTHER_PROCESS_INTERVAL).await,
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use toolwire_tool::context::CallId;

    use super::*;

    fn key(provider: &str) -> Key {
        Key { provider: provider.into(), instance: "a".into(), call: CallId::generate() }
    }

    #[test]
    fn a_provider_with_too_many_or_too_large_leaves_room_to_others() {
        let mut waiting = PendingOutcomes::default();
        let (first, large) = (key("shop"), MAX_LATE_BYTES + 1);
        assert!(waiting.add(&first, large) && !waiting.add(&first, 1) && !waiting.add(&key("shop"), 1));
        assert!(waiting.add(&key("other"), large));
        let mut waiting = PendingOutcomes::default();
        assert_eq!(
            (0..MAX_LATE_WAITING + 10).filter(|_| waiting.add(&key("shop"), 1)).count(),
            MAX_LATE_WAITING
        );
        assert!(waiting.add(&key("other"), 1));
    }
}
