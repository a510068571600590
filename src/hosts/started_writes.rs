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
    start::Write,
    wire::outcome::Outcome,
};
use toolwire_providers::ids::{InstanceId, ProviderName};
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
    /// The call, which may wait no more. `None` while its outcome is being recorded.
    waiter: Option<oneshot::Sender<Outcome>>,
    write: Arc<Write>,
}

/// The write that a `Late` is about.
#[derive(Debug)]
pub(crate) enum LateMatch {
    /// Another process of the server started the call.
    OtherProcess(Outcome),
    /// It was started on another instance.
    OtherInstance,
    /// It is being recorded.
    Recording,
    /// The call got it, or had it before.
    Delivered,
    /// Nothing waits for it any more: it replaces the unknown outcome, and `end_settling` says whether it did.
    Replaces(Arc<Write>, Outcome),
}

impl StartedWrites {
    pub(crate) fn start(&mut self, key: Key, write: Arc<Write>, waiter: oneshot::Sender<Outcome>) {
        self.running.insert(key, Open { waiter: Some(waiter), write });
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

    pub(crate) fn take(&mut self, key: &Key, outcome: Outcome, now: Instant) -> LateMatch {
        self.forget(now);
        let Some(open) = self.open(key) else {
            return if self.lost.contains_key(key) {
                LateMatch::Delivered
            } else if self.running.keys().chain(self.lost.keys()).any(|it| it.call == key.call) {
                LateMatch::OtherInstance
            } else {
                LateMatch::OtherProcess(outcome)
            };
        };
        let Some(waiter) = open.waiter.take() else { return LateMatch::Recording };
        if let Err(outcome) = waiter.send(outcome) {
            return LateMatch::Replaces(Arc::clone(&open.write), outcome);
        }
        self.close(key);
        LateMatch::Delivered
    }

    /// The outcome that replaces an unknown one is recorded, or cannot be: then its host may send it again.
    pub(crate) fn end_settling(&mut self, key: &Key, is_recorded: bool) {
        if is_recorded {
            self.close(key);
        } else if let Some(open) = self.open(key) {
            // Of a call that waits no more.
            open.waiter = Some(oneshot::channel().0);
        }
    }

    fn open(&mut self, key: &Key) -> Option<&mut Open> {
        match self.running.get_mut(key) {
            Some(open) => Some(open),
            None => self.lost.get_mut(key)?.as_mut(),
        }
    }

    /// It is known how the write ended.
    fn close(&mut self, key: &Key) {
        self.running.remove(key);
        if let Some(lost) = self.lost.get_mut(key) {
            *lost = None;
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
                matches!(writes.take(&key("b", call), data(), now), LateMatch::OtherInstance),
                "another instance"
            );
            assert!(matches!(writes.take(&key("a", call), data(), now), LateMatch::Delivered));
            assert_eq!(receiver.try_recv(), Ok(data()));
            writes.lose(key("a", call), now);
            assert!(
                matches!(writes.take(&key("a", call), data(), now), LateMatch::Delivered),
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
            matches!(writes.take(&key("a", call), data(), later), LateMatch::Replaces(it, _) if it.call_id == call)
        );
        assert!(matches!(writes.take(&key("a", call), data(), later), LateMatch::Recording));
        writes.end_settling(&key("a", call), true);
        assert!(matches!(writes.take(&key("a", call), data(), later), LateMatch::Delivered));
        assert!(matches!(writes.take(&key("a", call), data(), now + LATE_KEPT), LateMatch::OtherProcess(_)));
        assert!(writes.lost.is_empty() && writes.order.is_empty() && writes.running.is_empty());
    }

    #[test]
    fn an_outcome_that_is_not_recorded_may_be_said_again() {
        let (now, call) = (clock::now(), CallId::generate());
        let (mut writes, receiver) = started(call);
        drop(receiver);
        for _ in 0..2 {
            assert!(matches!(writes.take(&key("a", call), data(), now), LateMatch::Replaces(..)));
            writes.end_settling(&key("a", call), false);
        }
        assert!(matches!(writes.take(&key("a", call), data(), now), LateMatch::Replaces(..)));
        writes.lose(key("a", call), now);
        assert!(matches!(writes.take(&key("a", call), data(), now), LateMatch::Recording));
        writes.end_settling(&key("a", call), true);
        assert!(matches!(writes.take(&key("a", call), data(), now), LateMatch::Delivered));
    }

    #[test]
    fn an_outcome_that_came_is_not_waited_for_and_is_known_when_its_slot_is_lost() {
        let (now, call) = (clock::now(), CallId::generate());
        let (mut writes, _receiver) = started(call);
        writes.end(&key("a", call));
        assert!(matches!(writes.take(&key("a", call), data(), now), LateMatch::OtherProcess(_)));
        writes.lose(key("a", call), now);
        assert!(matches!(writes.take(&key("a", call), data(), now), LateMatch::Delivered));
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
