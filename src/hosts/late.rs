//! Writes that were started: how they ended, should their host say so on another slot than their own.
//!
//! `Late` may overtake the loss of the slot, so a write is known here from its start.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use tokio::{sync::oneshot, time::Instant};

use crate::{
    bounds::{LATE_KEPT, MAX_LATE},
    ids::{InstanceId, ProviderName},
    start::Write,
    wire::outcome::Outcome,
};
use toolwire_tool::context::CallId;

/// Binds `Late` to its call: only the process that the call was started in may say how it ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) provider: ProviderName,
    pub(crate) instance: InstanceId,
    pub(crate) call: CallId,
}

#[derive(Debug, Default)]
pub(crate) struct StartedWrites {
    /// On a slot that is there.
    running: HashMap<Key, Open>,
    /// Those whose slot was lost in the last ten minutes; none once it is known how it ended.
    lost: HashMap<Key, Option<Open>>,
    /// The latter in order of loss.
    order: VecDeque<(Instant, Key)>,
}

#[derive(Debug)]
struct Open {
    /// The call, until it waits no more.
    waiter: oneshot::Sender<Outcome>,
    write: Arc<Write>,
}

/// What `Late` changed.
#[derive(Debug)]
pub(crate) enum LateResult {
    /// Another replica, or another instance, may know the call.
    Unknown,
    /// The call got it, or had it before.
    Taken,
    /// Nothing waits for it any more: it replaces the unknown outcome.
    Replaces(Arc<Write>, Outcome),
}

impl StartedWrites {
    pub(crate) fn start(&mut self, key: Key, write: Arc<Write>, waiter: oneshot::Sender<Outcome>) {
        self.running.insert(key, Open { waiter, write });
    }

    /// Its `Outcome` came.
    pub(crate) fn end(&mut self, key: &Key) {
        self.running.remove(key);
    }

    /// Its slot was lost. Without a running write, its `Outcome` came before, which its host may not know.
    pub(crate) fn lose(&mut self, key: Key, now: Instant) {
        self.forget(now);
        let open = self.running.remove(&key);
        self.order.push_back((now + LATE_KEPT, key.clone()));
        self.lost.insert(key, open);
    }

    pub(crate) fn take(&mut self, key: &Key, outcome: Outcome, now: Instant) -> LateResult {
        self.forget(now);
        let open = match (self.running.remove(key), self.lost.get_mut(key)) {
            (Some(open), _) => Some(open),
            (None, Some(lost)) => lost.take(),
            (None, None) => return LateResult::Unknown,
        };
        let Some(Open { waiter, write }) = open else { return LateResult::Taken };
        match waiter.send(outcome) {
            Ok(()) => LateResult::Taken,
            Err(outcome) => LateResult::Replaces(write, outcome),
        }
    }

    fn forget(&mut self, now: Instant) {
        while self.order.front().is_some_and(|(until, _)| *until <= now) || self.order.len() >= MAX_LATE {
            let Some((_, key)) = self.order.pop_front() else { return };
            self.lost.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use toolwire_base::clock;

    use super::*;
    use crate::start::testing::write;

    fn key(instance: &str, call: CallId) -> Key {
        Key { provider: "shop".into(), instance: instance.into(), call }
    }

    fn data() -> Outcome {
        Outcome::DataJson("{}".into())
    }

    fn started(call: CallId) -> (StartedWrites, oneshot::Receiver<Outcome>) {
        let (mut writes, (waiter, receiver)) = (StartedWrites::default(), oneshot::channel());
        writes.start(key("a", call), write(call), waiter);
        (writes, receiver)
    }

    #[test]
    fn a_call_that_waits_gets_it_whether_its_slot_is_known_to_be_lost_or_not() {
        for is_lost in [false, true] {
            let (now, call) = (clock::now(), CallId::generate());
            let (mut writes, mut receiver) = started(call);
            if is_lost {
                writes.lose(key("a", call), now);
            }
            assert!(
                matches!(writes.take(&key("b", call), data(), now), LateResult::Unknown),
                "another instance"
            );
            assert!(matches!(writes.take(&key("a", call), data(), now), LateResult::Taken));
            assert_eq!(receiver.try_recv(), Ok(data()));
            writes.lose(key("a", call), now);
            assert!(
                matches!(writes.take(&key("a", call), data(), now), LateResult::Taken),
                "a repeat does nothing"
            );
        }
    }

    #[test]
    fn a_call_that_waits_no_more_is_replaced_once_within_ten_minutes() {
        let (now, call) = (clock::now(), CallId::generate());
        let (mut writes, receiver) = started(call);
        drop(receiver);
        writes.lose(key("a", call), now);
        let later = now + LATE_KEPT - Duration::from_millis(1);
        assert!(
            matches!(writes.take(&key("a", call), data(), later), LateResult::Replaces(it, _) if it.call_id == call)
        );
        assert!(matches!(writes.take(&key("a", call), data(), later), LateResult::Taken));
        assert!(matches!(writes.take(&key("a", call), data(), now + LATE_KEPT), LateResult::Unknown));
        assert!(writes.lost.is_empty() && writes.order.is_empty() && writes.running.is_empty());
    }

    #[test]
    fn an_outcome_that_came_is_not_waited_for_and_is_known_when_its_slot_is_lost() {
        let (now, call) = (clock::now(), CallId::generate());
        let (mut writes, _receiver) = started(call);
        writes.end(&key("a", call));
        assert!(matches!(writes.take(&key("a", call), data(), now), LateResult::Unknown));
        writes.lose(key("a", call), now);
        assert!(matches!(writes.take(&key("a", call), data(), now), LateResult::Taken));
    }

    #[test]
    fn their_number_is_bounded() {
        let (mut writes, now) = (StartedWrites::default(), clock::now());
        for _ in 0..MAX_LATE + 10 {
            writes.lose(key("a", CallId::generate()), now);
        }
        assert!(writes.lost.len() <= MAX_LATE && writes.order.len() <= MAX_LATE);
    }
}
